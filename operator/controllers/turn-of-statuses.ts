// Statuses let the configuration go first, so that API server and processors are free for it: they wait while it is
// being written, and a moment longer for the proxies that take it in. But no longer than a fraction of a second.
import { Duration, Effect, Latch } from 'effect'
import { elapsedMs } from '../kube/elapsed.ts'

/** While configurations are being written: behind thousands of statuses the dozen calls of a first one take seconds. */
const WRITING_MAX = '700 millis'
/** After that: proxies have most changes in force by then, and whoever waits for a status finds it served. */
const PROXIES_MS = 25

export class TurnOfStatuses {
  /** Gateways whose configuration is on its way; the latch is open while there are none. */
  readonly #underWay = new Set<string>()
  readonly #latch = Latch.makeUnsafe(true)
  #writtenMs = Number.NEGATIVE_INFINITY

  /** The configuration of this Gateway is going to be written. */
  delay(key: string): void {
    this.#underWay.add(key)
    this.#latch.closeUnsafe()
  }

  /** Objects were written; proxies see them now. */
  readonly written: Effect.Effect<void> = Effect.map(elapsedMs, (nowMs) => {
    this.#writtenMs = nowMs
  })

  /** It is written, or cannot be. */
  ended(key: string): void {
    this.#underWay.delete(key)
    if (this.#underWay.size === 0) this.#latch.openUnsafe()
  }

  /** Until it has come. */
  readonly come: Effect.Effect<void> = Effect.suspend(() =>
    this.#latch.isOpen() ? Effect.void : Effect.raceFirst(this.#latch.await, Effect.sleep(WRITING_MAX)),
  ).pipe(
    Effect.andThen(elapsedMs),
    Effect.flatMap((nowMs) => {
      const restMs = this.#writtenMs + PROXIES_MS - nowMs
      return restMs > 0 ? Effect.sleep(Duration.millis(restMs)) : Effect.void
    }),
  )
}
