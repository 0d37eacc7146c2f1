// One of several replicas writes: the one that holds the Lease. A replica that stops gives it back at once; one that
// dies is followed when its time is over. Watching would save nothing: a look takes one small request each second.
import { Clock, Data, Duration, Effect } from 'effect'
import { KubeClient } from '../kube/client.ts'
import { describeKubeError, type KubeError } from '../kube/errors.ts'
import { type Fence, fenced } from '../kube/fence.ts'
import { LEASES } from '../kube/resources.ts'
import type { KubeObject } from '../translate/kube.ts'
import type { OperatorSettings } from './settings.ts'

export const LEASE_NAME = 'gw-gw'

export interface LeaseTimes {
  /** A holder that has not renewed for this long is dead. */
  readonly durationSeconds: number
  /** A holder that could not renew for this long writes nothing; shorter than the duration. */
  readonly renewDeadlineMs: number
  readonly intervalMs: number
}

/** Shorter than those of most controllers, so that a dead leader is followed within 5 s. */
export const LEASE_TIMES: LeaseTimes = { durationSeconds: 4, renewDeadlineMs: 3000, intervalMs: 1000 }

/** Another replica has the lease. */
export class LeadershipLost extends Data.TaggedError('LeadershipLost')<{ readonly identity: string }> {}

interface Seen {
  readonly record: string
  /** By our own clock: clocks of machines differ. */
  readonly atMs: number
}

/**
 * Waits for the lease, runs `lead` while it is held, gives it back at the end. While renewals fail, as with an API
 * server that is slow, what `lead` writes waits: to begin anew would make it slower. It ends when another replica has
 * the lease.
 */
export const withLeadership = Effect.fn('operator.leadership')(function* (
  settings: OperatorSettings,
  times: LeaseTimes,
  lead: Effect.Effect<never, never, KubeClient>,
) {
  const lease = yield* acquire(settings, times)
  yield* Effect.logInfo('leading', settings.identity)
  const fence: Fence = { untilMs: (yield* Clock.currentTimeMillis) + times.renewDeadlineMs }
  const client = yield* KubeClient
  const leading = Effect.provideService(lead, KubeClient, fenced(client, fence))
  const renewing = renewUntilLost({ settings, times, fence, lease })
  return yield* Effect.raceFirst(leading, renewing).pipe(Effect.ensuring(release(settings)))
})

const acquire = Effect.fnUntraced(function* (settings: OperatorSettings, times: LeaseTimes) {
  let seen: Seen | undefined = undefined
  for (;;) {
    const outcome: Outcome = yield* tryAcquire(settings, times, seen)
    if (outcome.held !== undefined) return outcome.held
    seen = outcome.seen
    yield* Effect.sleep(Duration.millis(times.intervalMs))
  }
})

interface Outcome {
  /** As written. */
  readonly held?: KubeObject
  readonly seen: Seen | undefined
}

const tryAcquire = Effect.fnUntraced(
  function* (settings: OperatorSettings, times: LeaseTimes, seen: Seen | undefined) {
    const client = yield* KubeClient
    const now = yield* Clock.currentTimeMillis
    const lease = yield* client
      .get(LEASES, settings.namespace, LEASE_NAME)
      .pipe(Effect.catchTag('KubeNotFound', () => Effect.succeed(undefined)))
    if (lease === undefined) {
      const state = { now, transitions: 0, lease: undefined }
      return { held: yield* client.create(leaseOf(settings, times, state), LEASES, settings.controllerName), seen }
    }
    const spec = specOf(lease)
    const record = JSON.stringify(spec)
    const since = seen?.record === record ? seen.atMs : now
    const holder = spec.holderIdentity ?? ''
    const seconds = spec.leaseDurationSeconds ?? times.durationSeconds
    const isFree = holder === '' || holder === settings.identity || now - since >= seconds * 1000
    if (!isFree) return { seen: { record, atMs: since } }
    const transitions = (spec.leaseTransitions ?? 0) + (holder === settings.identity ? 0 : 1)
    return {
      held: yield* client.replace(
        leaseOf(settings, times, { now, transitions, lease }),
        LEASES,
        settings.controllerName,
      ),
      seen,
    }
  },
  (effect, _settings, _times, seen) =>
    effect.pipe(
      Effect.catch((error: KubeError) =>
        Effect.as(Effect.logDebug('lease not acquired', describeKubeError(error)), { seen }),
      ),
    ),
)

interface Renewing {
  readonly settings: OperatorSettings
  readonly times: LeaseTimes
  readonly fence: Fence
  readonly lease: KubeObject
}

const renewUntilLost = Effect.fnUntraced(function* ({ settings, times, fence, lease }: Renewing) {
  let last = lease
  let isInDoubt = false
  for (;;) {
    yield* Effect.sleep(Duration.millis(times.intervalMs))
    const sentAt = yield* Clock.currentTimeMillis
    const renewed: KubeObject | undefined = yield* renew(settings, times, last).pipe(
      Effect.timeoutOrElse({
        duration: Duration.millis(times.renewDeadlineMs),
        orElse: () => Effect.succeed(undefined),
      }),
    )
    if (renewed !== undefined) last = renewed
    // Others count from when they see the renewal, which is not before it was sent.
    if (renewed !== undefined) fence.untilMs = sentAt + times.renewDeadlineMs
    const wasInDoubt = isInDoubt
    isInDoubt = (yield* Clock.currentTimeMillis) >= fence.untilMs
    if (isInDoubt && !wasInDoubt) yield* Effect.logWarning('lease not renewed in time, writes wait', settings.identity)
    if (wasInDoubt && !isInDoubt) yield* Effect.logInfo('lease renewed, writes go on', settings.identity)
  }
})

/** undefined when it did not work this time. @fails when somebody else holds the lease. */
const renew = Effect.fnUntraced(
  function* (settings: OperatorSettings, times: LeaseTimes, last: KubeObject) {
    const client = yield* KubeClient
    const now = yield* Clock.currentTimeMillis
    const write = (lease: KubeObject): Effect.Effect<KubeObject, KubeError> => {
      const transitions = specOf(lease).leaseTransitions ?? 0
      return client.replace(leaseOf(settings, times, { now, transitions, lease }), LEASES, settings.controllerName)
    }
    return yield* write(last).pipe(
      // Written meanwhile: by ourselves, when the answer to a renewal was late, or by somebody else.
      Effect.catchTag('KubeConflict', () =>
        client.get(LEASES, settings.namespace, LEASE_NAME).pipe(
          Effect.flatMap((lease): Effect.Effect<KubeObject, KubeError | LeadershipLost> => {
            const isOurs = specOf(lease).holderIdentity === settings.identity
            return isOurs ? write(lease) : Effect.fail(new LeadershipLost({ identity: settings.identity }))
          }),
        ),
      ),
      // Removed: whoever is first makes it again.
      Effect.catchTag('KubeNotFound', () => Effect.fail(new LeadershipLost({ identity: settings.identity }))),
    )
  },
  (effect) =>
    effect.pipe(
      Effect.catch((error: KubeError | LeadershipLost) =>
        error._tag === 'LeadershipLost'
          ? Effect.fail(error)
          : Effect.as(Effect.logWarning('lease not renewed', describeKubeError(error)), undefined),
      ),
    ),
)

const release = Effect.fnUntraced(
  function* (settings: OperatorSettings) {
    const client = yield* KubeClient
    const lease = yield* client.get(LEASES, settings.namespace, LEASE_NAME)
    const spec = specOf(lease)
    if (spec.holderIdentity !== settings.identity) return
    const free: KubeObject & { spec: LeaseSpec } = { ...lease, spec: { ...spec, holderIdentity: '' } }
    yield* client.replace(free, LEASES, settings.controllerName)
  },
  (effect) =>
    effect.pipe(
      Effect.timeout('2 seconds'),
      // Then the time of the lease has to pass.
      Effect.catch((error) => Effect.logWarning('lease not given back', error._tag)),
    ),
)

interface LeaseSpec {
  readonly holderIdentity?: string
  readonly leaseDurationSeconds?: number
  readonly acquireTime?: string
  readonly renewTime?: string
  readonly leaseTransitions?: number
}

interface LeaseState {
  readonly now: number
  readonly transitions: number
  readonly lease: KubeObject | undefined
}

function leaseOf(settings: OperatorSettings, times: LeaseTimes, { now, transitions, lease }: LeaseState): KubeObject {
  // metav1.MicroTime
  const time = new Date(now).toISOString().replace('Z', '000Z')
  const before = lease === undefined ? undefined : specOf(lease)
  const isSame = before?.holderIdentity === settings.identity
  const spec: LeaseSpec = {
    holderIdentity: settings.identity,
    leaseDurationSeconds: times.durationSeconds,
    acquireTime: (isSame ? before.acquireTime : undefined) ?? time,
    renewTime: time,
    leaseTransitions: transitions,
  }
  const metadata = lease?.metadata ?? { name: LEASE_NAME, namespace: settings.namespace }
  const object = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec }
  return object
}

function specOf(lease: KubeObject): LeaseSpec {
  // coordination.k8s.io/v1
  return (lease as { spec?: LeaseSpec }).spec ?? {}
}
