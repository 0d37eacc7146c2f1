// Polls what no watch reports: the served kinds of an API server change when an administrator installs CRDs.
import { Effect } from 'effect'
import { describeKubeError, type KubeError } from '../kube/errors.ts'

const PAUSE = '1 minute'

/** `what` names the poll in the log line of a failure. */
export function lookAgainAndAgain<R>(
  what: string,
  look: Effect.Effect<void, KubeError, R>,
): Effect.Effect<never, never, R> {
  return Effect.forever(
    look.pipe(
      Effect.catch((error: KubeError) => Effect.logDebug(`cannot check ${what}, will retry`, describeKubeError(error))),
      Effect.andThen(Effect.sleep(PAUSE)),
    ),
  )
}
