// Live state of endpoints in memory that all workers share: health, latency, failures, eviction. Every change is a
// compare-and-exchange, so it is exact over workers. Does not depend on requests or policies; health.ts decides.
import { LayeredMap } from '#api/incremental/layered-map.ts'
import type { EvictionCause } from '../exchange/slots.ts'
import { packedCause, unpackedCause } from './eviction-cause.ts'

/** Data that the main thread sends to the workers with a configuration. */
export interface EndpointBuffer {
  readonly buffer: SharedArrayBuffer
  /** Key of an endpoint (endpoint-keys.ts) to its slot. */
  readonly slots: LayeredMap<number>
  /** Columns of pending requests; a worker that replaces a dead one removes the requests of its predecessor. */
  readonly workers: number
}

/** Words of a slot; behind them one word of pending requests for each worker. */
const GENERATION_AT = 0
const HEALTH_AT = 1
const LATENCY_AT = 2
const PENDING_AT = 3
const TOTAL_AT = 4
const FAILURES_AT = 5
const EJECTED_AT = 6
/** 0: not evicted; else the tick at the end of the eviction. */
const EVICTED_AT = 7
/** Health after the eviction; negative: never evicted. */
const RESTORE_AT = 8
/** All evictions; those above are counted since the last success. */
const EVICTIONS_AT = 9
/** Seconds since the epoch, modulo 2^32. */
const LAST_EVICTION_AT = 10
/** Of the last eviction; see eviction-cause.ts. */
const CAUSE_AT = 11
const OWN_PENDING_AT = 12
const WORD_BYTES = 4

/** Health is kept in fractions of this. */
const HEALTH_ONE = 0x4000_0000
const LATENCY_MICROS_MAX = 0x7fff_ffff
/** Weight of a new sample in the averages (data-plane supplement section 5.1). */
const EWMA_ALPHA = 0.3
/** Contention on one word is bounded by the number of workers; more tries mean a bug. A lost sample is harmless. */
const TRIES_MAX = 10_000
/** Ticks are 32 bit and compared modulo that, so 10 ms reach far beyond the longest eviction. */
const TICK_MS = 10

/** Milliseconds of a monotonic clock that all threads share. */
export function sharedNowMs(): number {
  const [seconds, nanos] = process.hrtime()
  return seconds * 1000 + nanos / 1e6
}

export interface EndpointStates {
  state(key: string): EndpointState
  /** The slot of its state; undefined: it has none that is shared. */
  place(key: string): number | undefined
  /** Where slots are: the same object for as long as they stay there. */
  readonly memory: object
}

/** The states of one configuration, as one worker sees them. */
export class EndpointStore implements EndpointStates {
  readonly #shared: EndpointBuffer
  readonly #workerId: number
  /** Endpoints outside of the configuration, by key: their state belongs to this worker. */
  readonly #own = new Map<string, EndpointState>()

  constructor(shared: EndpointBuffer, workerId: number) {
    this.#shared = shared
    this.#workerId = workerId
  }

  /** For tests and tools that run without other workers. */
  static local(): EndpointStore {
    return new EndpointStore({ buffer: new SharedArrayBuffer(0), slots: LayeredMap.of(), workers: 1 }, 0)
  }

  state(key: string): EndpointState {
    const { slots } = this.#shared
    const slot = slots.get(key)
    if (slot !== undefined) return new EndpointState(wordsOf(this.#shared, slot), this.#workerId)
    let own = this.#own.get(key)
    if (own === undefined) {
      own = localState()
      this.#own.set(key, own)
    }
    return own
  }

  place(key: string): number | undefined {
    return this.#shared.slots.get(key)
  }

  get memory(): object {
    return this.#shared.buffer
  }

  /** Removes the pending requests of the former worker in this place. Called before the first request. */
  forgetPending(): void {
    const { slots } = this.#shared
    for (const [, slot] of slots.entries()) {
      const words = wordsOf(this.#shared, slot)
      Atomics.sub(words, PENDING_AT, Atomics.exchange(words, OWN_PENDING_AT + this.#workerId, 0))
    }
  }
}

/** State of one thread. */
export function localState(): EndpointState {
  const words = new Int32Array(OWN_PENDING_AT + 1)
  resetWords(words)
  return new EndpointState(words, 0)
}

/** Live figures of one endpoint. */
export interface EndpointFigures {
  /** 0–1. */
  readonly health: number
  /** Moving average over successes; 0: none yet. */
  readonly latencySeconds: number
  readonly pendingRequests: number
  readonly totalRequests: number
  readonly consecutiveFailures: number
  /** Since the last success. */
  readonly timesEjected: number
  /** undefined: not evicted. */
  readonly evictedForMs: number | undefined
  /** All of them. */
  readonly evictions: number
  /** undefined: never evicted. */
  readonly lastEviction: LastEviction | undefined
}

export interface LastEviction extends EvictionCause {
  /** Milliseconds since the epoch, in whole seconds. */
  readonly atMs: number
}

/** undefined: not in the configuration. */
export function readFigures(shared: EndpointBuffer, key: string): EndpointFigures | undefined {
  const slot = shared.slots.get(key)
  return slot === undefined ? undefined : new EndpointState(wordsOf(shared, slot), 0).figures(sharedNowMs())
}

/** All requests to the endpoint of each slot, modulo 2^32, in the order of the slots. */
export function requestCounts({ buffer, workers }: EndpointBuffer): Uint32Array {
  const words = new Int32Array(buffer)
  const stride = slotBytes(workers) / WORD_BYTES
  const counts = new Uint32Array(Math.floor(words.length / stride))
  for (let slot = 0; slot < counts.length; slot++) counts[slot] = Atomics.load(words, slot * stride + TOTAL_AT)
  return counts
}

/** Whether the endpoint of a slot is not quite healthy. */
export function isAilingAt(shared: EndpointBuffer, slot: number): boolean {
  const words = wordsOf(shared, slot)
  return Atomics.load(words, HEALTH_AT) !== HEALTH_ONE || Atomics.load(words, EVICTED_AT) !== 0
}

export class EndpointState {
  readonly #words: Int32Array
  readonly #generation: number
  readonly #ownPendingAt: number

  constructor(words: Int32Array, workerId: number) {
    this.#words = words
    this.#generation = Atomics.load(words, GENERATION_AT)
    this.#ownPendingAt = OWN_PENDING_AT + workerId
  }

  get health(): number {
    return Atomics.load(this.#words, HEALTH_AT) / HEALTH_ONE
  }

  get latencySeconds(): number {
    return Atomics.load(this.#words, LATENCY_AT) / 1e6
  }

  get pendingRequests(): number {
    return Atomics.load(this.#words, PENDING_AT)
  }

  get totalRequests(): number {
    // Counts modulo 2^32.
    return Atomics.load(this.#words, TOTAL_AT) >>> 0
  }

  get consecutiveFailures(): number {
    return Atomics.load(this.#words, FAILURES_AT)
  }

  get timesEjected(): number {
    return Atomics.load(this.#words, EJECTED_AT)
  }

  get isEvicted(): boolean {
    const until = Atomics.load(this.#words, EVICTED_AT)
    return until !== 0 && !this.#isOver(until, sharedNowMs())
  }

  figures(nowMs: number): EndpointFigures {
    const until = Atomics.load(this.#words, EVICTED_AT)
    const isOver = until !== 0 && this.#isOver(until, nowMs)
    const restored = Atomics.load(this.#words, RESTORE_AT)
    const { latencySeconds, pendingRequests, totalRequests, consecutiveFailures, timesEjected } = this
    return {
      // Over, but not restored yet: the state that the next request will find.
      health: isOver && restored >= 0 ? restored / HEALTH_ONE : this.health,
      latencySeconds,
      pendingRequests,
      totalRequests,
      consecutiveFailures,
      timesEjected,
      evictedForMs: until === 0 || isOver ? undefined : ((until - ticksOf(nowMs)) | 0) * TICK_MS,
      ...this.#evictions(),
    }
  }

  #evictions(): Pick<EndpointFigures, 'evictions' | 'lastEviction'> {
    const words = this.#words
    const evictions = Atomics.load(words, EVICTIONS_AT) >>> 0
    if (evictions === 0) return { evictions, lastEviction: undefined }
    const atMs = (Atomics.load(words, LAST_EVICTION_AT) >>> 0) * 1000
    return { evictions, lastEviction: { atMs, ...unpackedCause(Atomics.load(words, CAUSE_AT)) } }
  }

  begin(): void {
    const words = this.#words
    if (Atomics.load(words, GENERATION_AT) !== this.#generation) return
    Atomics.add(words, PENDING_AT, 1)
    Atomics.add(words, this.#ownPendingAt, 1)
    Atomics.add(words, TOTAL_AT, 1)
  }

  /** The request is over, and its outcome does not affect the endpoint. */
  release(): void {
    const words = this.#words
    if (Atomics.load(words, GENERATION_AT) !== this.#generation) return
    Atomics.sub(words, PENDING_AT, 1)
    Atomics.sub(words, this.#ownPendingAt, 1)
  }

  succeeded(latencyMs: number): void {
    const words = this.#words
    this.release()
    if (Atomics.load(words, GENERATION_AT) !== this.#generation) return
    if (Atomics.load(words, HEALTH_AT) !== HEALTH_ONE) this.#average(HEALTH_AT, HEALTH_ONE)
    if (Atomics.load(words, FAILURES_AT) !== 0) Atomics.store(words, FAILURES_AT, 0)
    if (Atomics.load(words, EJECTED_AT) !== 0) Atomics.store(words, EJECTED_AT, 0)
    this.#average(LATENCY_AT, Math.min(Math.max(1, Math.round(latencyMs * 1000)), LATENCY_MICROS_MAX))
  }

  /** Failures in a row, this one included. */
  failed(): number {
    this.release()
    if (Atomics.load(this.#words, GENERATION_AT) !== this.#generation) return 0
    this.#average(HEALTH_AT, 0)
    return Atomics.add(this.#words, FAILURES_AT, 1) + 1
  }

  /**
   * Takes the endpoint out for `baseMs` times one more than the evictions since its last success. False: it is out
   * already, and stays as it is. `restoreHealth`: 0–1; undefined: it comes back with the health of this moment,
   * whatever requests say that run or are sent there meanwhile.
   */
  evict(baseMs: number, durationMsMax: number, restoreHealth: number | undefined): boolean {
    const words = this.#words
    if (Atomics.load(words, GENERATION_AT) !== this.#generation) return false
    // Read once: what decides and what is exchanged must be the same value.
    const before = Atomics.load(words, EVICTED_AT)
    if (before !== 0 && !this.#isOver(before, sharedNowMs())) return false
    const durationMs = Math.min(baseMs * (Atomics.load(words, EJECTED_AT) + 1), durationMsMax)
    const until = ticksOf(sharedNowMs() + durationMs) || 1
    const health = Atomics.load(words, HEALTH_AT)
    if (Atomics.compareExchange(words, EVICTED_AT, before, until) !== before) return false
    Atomics.store(words, RESTORE_AT, restoreHealth === undefined ? health : Math.round(restoreHealth * HEALTH_ONE))
    Atomics.add(words, EJECTED_AT, 1)
    Atomics.store(words, LAST_EVICTION_AT, Math.floor(Date.now() / 1000) | 0)
    Atomics.add(words, EVICTIONS_AT, 1)
    return true
  }

  noteEviction(cause: EvictionCause): void {
    if (Atomics.load(this.#words, GENERATION_AT) === this.#generation) {
      Atomics.store(this.#words, CAUSE_AT, packedCause(cause))
    }
  }

  /** False: evicted. The first call after the end of an eviction restores the endpoint. */
  tryRestore(): boolean {
    const words = this.#words
    const until = Atomics.load(words, EVICTED_AT)
    if (until === 0) return true
    if (!this.#isOver(until, sharedNowMs())) return false
    if (Atomics.compareExchange(words, EVICTED_AT, until, 0) === until) {
      const restore = Atomics.load(words, RESTORE_AT)
      if (restore >= 0) Atomics.store(words, HEALTH_AT, restore)
    }
    return true
  }

  #isOver(until: number, nowMs: number): boolean {
    return ((until - ticksOf(nowMs)) | 0) <= 0
  }

  /** An average of exactly 0 has no sample yet: this one replaces it. */
  #average(at: number, sample: number): void {
    const words = this.#words
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const old = Atomics.load(words, at)
      const next = old === 0 ? sample : Math.round(EWMA_ALPHA * sample + (1 - EWMA_ALPHA) * old)
      if (next === old || Atomics.compareExchange(words, at, old, next) === old) return
    }
  }
}

function ticksOf(ms: number): number {
  return Math.floor(ms / TICK_MS) | 0
}

export function slotBytes(workers: number): number {
  return (OWN_PENDING_AT + workers) * WORD_BYTES
}

function wordsOf({ buffer, workers }: EndpointBuffer, slot: number): Int32Array {
  return new Int32Array(buffer, slot * slotBytes(workers), OWN_PENDING_AT + workers)
}

/** A new endpoint, healthy and unused. */
export function resetSlot(shared: EndpointBuffer, slot: number): void {
  resetWords(wordsOf(shared, slot))
}

interface SlotOf {
  readonly shared: EndpointBuffer
  readonly slot: number
}

/** Everything except running requests, which end where they began. */
export function moveSlot(from: SlotOf, to: SlotOf): void {
  const words = wordsOf(to.shared, to.slot)
  words.set(wordsOf(from.shared, from.slot).subarray(0, OWN_PENDING_AT))
  words[PENDING_AT] = 0
}

function resetWords(words: Int32Array): void {
  const generation = Atomics.load(words, GENERATION_AT)
  for (let i = 1; i < words.length; i++) Atomics.store(words, i, 0)
  Atomics.store(words, HEALTH_AT, HEALTH_ONE)
  Atomics.store(words, RESTORE_AT, -1)
  Atomics.store(words, GENERATION_AT, generation + 1)
}
