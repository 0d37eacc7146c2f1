// Configurations are written before statuses, so that the API server and processors are free for them: statuses wait
// while a configuration is written, and a moment longer until proxies have loaded it, at most a fraction of a second.
// After the start of a leader they wait longer for a large configuration.
// A Gateway of another namespace delays them less: tenants must not wait for each other.
import { Duration, Effect, Latch } from 'effect'
import { elapsedMs } from '../kube/elapsed.ts'
import { namespaceOfKey } from '../kube/fair-keys.ts'

/** Of one configuration: after thousands of statuses the first dozen requests take seconds. */
const WRITING_MS_MAX = 700
/** Of all configurations of other namespaces together. With PROXIES_MS it is a tenth of a second. */
const WRITING_OF_OTHERS_MS_MAX = 75
/** At the start of a leader: thousands of statuses are due, and proxies may have no configuration at all. */
const START_MS_MAX = 15_000
/** After that: proxies have loaded most changes by then, so a status reports what is served. */
const PROXIES_MS = 25
/** A first configuration of more objects takes a proxy seconds, and three times as long while statuses are written. */
const QUICK_OBJECTS_MAX = 2
/** Until a proxy has acknowledged it. A Gateway may have no proxy. */
const LOADING_MS_MAX = 5000

/** In the place of a Gateway: the GatewayClass does not exist, so no Gateway has a configuration yet. */
const CLASS = ''

/** A status that waits. */
interface Waiter {
  readonly namespace: string
  readonly sinceMs: number
}

/** Gateways for which statuses wait, each for a limited time: one that is written slowly does not delay all others. */
class Waiting {
  readonly #msMax: number
  readonly #ofOthersMsMax: number
  /** By key the time of the first status that waited for it; undefined: none has. */
  readonly #since = new Map<string, number | undefined>()
  /** Opened for a moment whenever a key leaves the map; open while it is empty. */
  readonly #latch = Latch.makeUnsafe(true)

  constructor(msMax: number, ofOthersMsMax: number) {
    this.#msMax = msMax
    this.#ofOthersMsMax = ofOthersMsMax
  }

  has(key: string): boolean {
    return this.#since.has(key)
  }

  /** `sinceMs`: when the time begins, if not with the first status that waits. */
  add(key: string, sinceMs?: number): void {
    if (!this.#since.has(key)) this.#since.set(key, sinceMs)
    this.#latch.closeUnsafe()
  }

  ended(key: string): void {
    // Those that wait look whether they still have to.
    if (this.#since.delete(key)) this.#latch.openUnsafe()
    if (this.#since.size > 0) this.#latch.closeUnsafe()
  }

  over(waiter: Waiter): Effect.Effect<void> {
    return Effect.flatMap(elapsedMs, (nowMs) => {
      const restMs = this.#restMs(waiter, nowMs)
      if (restMs <= 0) return Effect.void
      const wait = Effect.raceFirst(this.#latch.await, Effect.sleep(Duration.millis(restMs)))
      return Effect.andThen(
        wait,
        Effect.suspend(() => this.over(waiter)),
      )
    })
  }

  #restMs({ namespace, sinceMs }: Waiter, nowMs: number): number {
    let restMs = 0
    for (const [key, since = nowMs] of this.#since) {
      this.#since.set(key, since)
      const ownMs = since + this.#msMax - nowMs
      const isOwn = namespaceOfKey(key) === namespace
      restMs = Math.max(restMs, isOwn ? ownMs : Math.min(ownMs, sinceMs + this.#ofOthersMsMax - nowMs))
    }
    return restMs
  }
}

export class TurnOfStatuses {
  /** Gateways whose configuration is being written. */
  readonly #writing = new Waiting(WRITING_MS_MAX, WRITING_OF_OTHERS_MS_MAX)
  /** Those whose first configuration under this leader is. */
  readonly #starting = new Waiting(START_MS_MAX, START_MS_MAX)
  /** Those with a large first configuration, until a proxy serves it. */
  readonly #loading = new Waiting(LOADING_MS_MAX, LOADING_MS_MAX)
  #writtenMs = Number.NEGATIVE_INFINITY

  /**
   * Called when a leader starts, with all Gateways that have a configuration. Without the GatewayClass, which the
   * leader creates, the start ends with `classFound`.
   */
  start(keys: Iterable<string>, hasClass: boolean): void {
    for (const key of keys) this.#starting.add(key)
    if (!hasClass) this.#starting.add(CLASS)
  }

  /** Called with the Gateways of each translation with the GatewayClass. */
  classFound(keys: Iterable<string>): void {
    if (!this.#starting.has(CLASS)) return
    for (const key of keys) this.#starting.add(key)
    this.#starting.ended(CLASS)
  }

  /** The configuration of this Gateway is going to be written. */
  delay(key: string): void {
    this.#writing.add(key)
  }

  /** So many objects of this Gateway were written; proxies see them now. */
  written(key: string, objects: number): Effect.Effect<void> {
    return Effect.map(elapsedMs, (nowMs) => {
      this.#writtenMs = nowMs
      if (objects > QUICK_OBJECTS_MAX && this.#starting.has(key)) this.#loading.add(key, nowMs)
    })
  }

  /** A proxy of this Gateway has acknowledged a configuration. */
  loaded(key: string): void {
    this.#loading.ended(key)
  }

  /** The write succeeded or failed. */
  ended(key: string): void {
    this.#writing.ended(key)
    this.#starting.ended(key)
  }

  /** Until it has come for the status with this key. */
  come(key: string): Effect.Effect<void> {
    return Effect.flatMap(elapsedMs, (sinceMs) => {
      const waiter = { namespace: namespaceOfKey(key), sinceMs }
      return this.#starting.over(waiter).pipe(
        Effect.andThen(Effect.suspend(() => this.#loading.over(waiter))),
        Effect.andThen(Effect.suspend(() => this.#writing.over(waiter))),
        Effect.andThen(elapsedMs),
        Effect.flatMap((nowMs) => {
          const restMs = this.#writtenMs + PROXIES_MS - nowMs
          return restMs > 0 ? Effect.sleep(Duration.millis(restMs)) : Effect.void
        }),
      )
    })
  }
}
