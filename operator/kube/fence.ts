// A client whose writes, and trials of writes, wait while it is not certain that they may be made. Reads are not held
// up.
import { Clock, Duration, Effect } from 'effect'
import type { KubeClient } from './client.ts'
import { elapsedMs } from './elapsed.ts'

/**
 * Writes wait from then on until it is moved on. By both clocks: the one that only runs forward stands still with a
 * machine that sleeps, and the other one may be set back.
 */
export interface Fence {
  untilMs: number
  untilWallMs: number
}

const POLL = Duration.millis(50)

export const isClosed = Effect.fnUntraced(function* ({ untilMs, untilWallMs }: Fence) {
  return (yield* elapsedMs) >= untilMs || (yield* Clock.currentTimeMillis) >= untilWallMs
})

/** Whoever gives up the right to write interrupts what waits here. */
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
