// Configurations are written before statuses, so that the API server and processors are free for them: statuses wait
// while a configuration is written, and a moment longer until proxies have loaded it, at most a fraction of a second.
import { Duration, Effect, Latch } from 'effect'
import { elapsedMs } from '../kube/elapsed.ts'

/** While configurations are being written: after thousands of statuses the first dozen requests take seconds. */
const WRITING_MAX = '700 millis'
/** At the start of a leader: thousands of statuses are due, and proxies may have no configuration at all. */
const START_MAX = '15 seconds'
/** After that: proxies have loaded most changes by then, so a status reports what is served. */
const PROXIES_MS = 25

export class TurnOfStatuses {
  /** Gateways whose configuration is being written; the latch is open while the set is empty. */
  readonly #underWay = new Set<string>()
  readonly #latch = Latch.makeUnsafe(true)
  /** Gateways whose first configuration under this leader is being written, and the latch of this set. */
  readonly #starting = new Set<string>()
  readonly #started = Latch.makeUnsafe(true)
  #writtenMs = Number.NEGATIVE_INFINITY

  /** Called when a leader starts, with all Gateways that have a configuration. */
  start(keys: Iterable<string>): void {
    for (const key of keys) this.#starting.add(key)
    if (this.#starting.size > 0) this.#started.closeUnsafe()
  }

  /** The configuration of this Gateway is going to be written. */
  delay(key: string): void {
    this.#underWay.add(key)
    this.#latch.closeUnsafe()
  }

  /** Objects were written; proxies see them now. */
  readonly written: Effect.Effect<void> = Effect.map(elapsedMs, (nowMs) => {
    this.#writtenMs = nowMs
  })

  /** The write succeeded or failed. */
  ended(key: string): void {
    this.#underWay.delete(key)
    if (this.#underWay.size === 0) this.#latch.openUnsafe()
    this.#starting.delete(key)
    if (this.#starting.size === 0) this.#started.openUnsafe()
  }

  /** Until it has come. */
  readonly come: Effect.Effect<void> = Effect.suspend(() => opened(this.#started, START_MAX)).pipe(
    Effect.andThen(Effect.suspend(() => opened(this.#latch, WRITING_MAX))),
    Effect.andThen(elapsedMs),
    Effect.flatMap((nowMs) => {
      const restMs = this.#writtenMs + PROXIES_MS - nowMs
      return restMs > 0 ? Effect.sleep(Duration.millis(restMs)) : Effect.void
    }),
  )
}

function opened(latch: Latch.Latch, max: typeof WRITING_MAX | typeof START_MAX): Effect.Effect<void> {
  return latch.isOpen() ? Effect.void : Effect.raceFirst(latch.await, Effect.sleep(max))
}
