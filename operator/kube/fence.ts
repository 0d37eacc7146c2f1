// A client whose writes, and dry runs of writes, wait while it is not certain that they are allowed. Reads do not wait.
import { Clock, Duration, Effect } from 'effect'
import type { KubeClient } from './client.ts'
import { elapsedMs } from './elapsed.ts'

/**
 * From this time on writes wait until it is set to a later one. By both clocks: the monotonic clock stands still while
 * the machine sleeps, and the wall clock may be set back.
 */
export interface Fence {
  untilMs: number
  untilWallMs: number
}

const POLL = Duration.millis(50)

export const isClosed = Effect.fnUntraced(function* ({ untilMs, untilWallMs }: Fence) {
  return (yield* elapsedMs) >= untilMs || (yield* Clock.currentTimeMillis) >= untilWallMs
})

/** The code that gives up the right to write interrupts the waiting writes. */
export function fenced(client: KubeClient['Service'], fence: Fence): KubeClient['Service'] {
  const allowed = Effect.gen(function* () {
    while (yield* isClosed(fence)) yield* Effect.sleep(POLL)
  })
  const later = <A, E>(write: Effect.Effect<A, E>): Effect.Effect<A, E> => Effect.andThen(allowed, write)
  return {
    ...client,
    apply: (object, resource, manager) => later(client.apply(object, resource, manager)),
    tryApply: (object, resource, manager) => later(client.tryApply(object, resource, manager)),
    create: (object, resource, manager) => later(client.create(object, resource, manager)),
    replace: (object, resource, manager) => later(client.replace(object, resource, manager)),
    patch: (target, body) => later(client.patch(target, body)),
    remove: (resource, namespace, name) => later(client.remove(resource, namespace, name)),
  }
}
