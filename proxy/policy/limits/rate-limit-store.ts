// Token buckets of local rate limits, exact over all workers of a proxy: levels are in shared memory and change only by
// compare-and-exchange. Does not depend on requests; rate-limit.ts uses it.
import { createHash } from 'node:crypto'
import type { LocalLimit, RateLimitOrConditional } from '#api/ir/types.gen.ts'
import { LayeredMap } from '#api/incremental/layered-map.ts'
import type { BucketLimit, RateLimitBucket, RateLimitStore } from '../../chain/rate-limits.ts'

/** Data that the main thread sends to the workers with a configuration. */
export interface RateLimitBuffer {
  readonly buffer: SharedArrayBuffer
  readonly slots: LayeredMap<number>
}

/**
 * One slot: start of the first interval (float64), number of fills done (int32), level (int32), rejections (int64).
 */
const SLOT_BYTES = 24
const FILLS_AT = 2
const LEVEL_AT = 3
const REJECTED_AT_BYTES = 16
/** Address space, not memory: pages are allocated when they are written. */
const SLOTS_MAX = 65_536
/** Counters are 32 bit; a larger bucket counts as this one. */
const LEVEL_MAX = 2_147_483_647
/** Differences of fill counters beyond this are a wrap-around, not a clock that went back. */
const FILLS_WRAPPED = -1_073_741_824
/** Contention on one bucket is bounded by the number of workers; more tries mean a bug, and rejecting is safe. */
const TRIES_MAX = 10_000

export interface KeyedLimit {
  readonly key: string
  readonly limit: LocalLimit
}

export interface KeyedLimits {
  readonly condition?: string
  readonly policy: readonly KeyedLimit[]
}

/**
 * The limits of a policy with the keys of their buckets; a plain list is one entry without a condition. A key depends
 * on the policy, the condition, the limit itself, and its index among equal ones of the same policy: if entries are
 * added, removed or moved, the others keep their level.
 */
export function keyedLimits(policyKey: string, payload: RateLimitOrConditional): KeyedLimits[] {
  const entries = 'conditional' in payload ? payload.conditional : [{ policy: payload }]
  const seen = new Map<string, number>()
  return entries.map(({ policy, ...condition }) => {
    const prefix = entryKey(policyKey, condition)
    return { ...condition, policy: policy.limits.map((limit) => ({ key: limitKey(prefix, limit, seen), limit })) }
  })
}

/** Conditions may be long, and every limit below contains the key. */
function entryKey(policyKey: string, { condition }: { readonly condition?: string }): string {
  if (condition === undefined) return policyKey
  return `${policyKey}?${createHash('sha256').update(condition).digest('base64url')}`
}

function limitKey(prefix: string, limit: LocalLimit, seen: Map<string, number>): string {
  const { unit, tokensPerFill, fillIntervalMs, tokensMax } = limit
  const key = `${prefix}#${unit}:${tokensPerFill}/${fillIntervalMs}/${tokensMax}`
  const count = seen.get(key) ?? 0
  seen.set(key, count + 1)
  return count === 0 ? key : `${key}~${count}`
}

/** Full buckets for all limits. */
export function createRateLimitBuffer(limits: ReadonlyMap<string, BucketLimit>, nowMs = Date.now()): RateLimitBuffer {
  const slotsMax = Math.max(SLOTS_MAX, limits.size)
  const buffer = new SharedArrayBuffer(limits.size * SLOT_BYTES, { maxByteLength: slotsMax * SLOT_BYTES })
  const slots = new Map<string, number>()
  for (const [key, limit] of limits) {
    slots.set(key, slots.size)
    fillSlot(buffer, slots.size - 1, limit, nowMs)
  }
  return { buffer, slots: LayeredMap.of(slots) }
}

/**
 * The buckets of `limits`; those in `previous` keep their level. It is the same memory, so workers
 * that still run the previous configuration and those that run the next one count together.
 */
export function carryOver(
  previous: RateLimitBuffer,
  limits: ReadonlyMap<string, BucketLimit>,
  nowMs = Date.now(),
): RateLimitBuffer {
  const { buffer } = previous
  const inUse = new Set([...previous.slots.entries()].map(([, slot]) => slot))
  const slots = new Map<string, number>()
  let candidate = 0
  for (const [key, limit] of limits) {
    let slot = previous.slots.get(key)
    if (slot === undefined) {
      while (inUse.has(candidate)) candidate++
      slot = candidate++
      if ((slot + 1) * SLOT_BYTES > buffer.maxByteLength) return moved(previous, limits, nowMs)
      if ((slot + 1) * SLOT_BYTES > buffer.byteLength) buffer.grow((slot + 1) * SLOT_BYTES)
      fillSlot(buffer, slot, limit, nowMs)
    }
    slots.set(key, slot)
  }
  return { buffer, slots: LayeredMap.of(slots) }
}

/** More limits than the memory can hold: new memory, with the current levels. */
function moved(previous: RateLimitBuffer, limits: ReadonlyMap<string, BucketLimit>, nowMs: number): RateLimitBuffer {
  const next = createRateLimitBuffer(limits, nowMs)
  const from = new Uint8Array(previous.buffer)
  const to = new Uint8Array(next.buffer)
  for (const [key, slot] of next.slots.entries()) {
    const old = previous.slots.get(key)
    if (old !== undefined) to.set(from.subarray(old * SLOT_BYTES, (old + 1) * SLOT_BYTES), slot * SLOT_BYTES)
  }
  return next
}

function fillSlot(buffer: SharedArrayBuffer, slot: number, limit: BucketLimit, nowMs: number): void {
  new Float64Array(buffer, slot * SLOT_BYTES, 1)[0] = nowMs
  const words = new Int32Array(buffer, slot * SLOT_BYTES, 4)
  Atomics.store(words, FILLS_AT, 0)
  Atomics.store(words, LEVEL_AT, Math.min(limit.tokensMax, LEVEL_MAX))
  Atomics.store(rejectionsOf(buffer, slot), 0, 0n)
}

function rejectionsOf(buffer: SharedArrayBuffer, slot: number): BigInt64Array {
  return new BigInt64Array(buffer, slot * SLOT_BYTES + REJECTED_AT_BYTES, 1)
}

/** A bucket as it is now. */
export interface BucketState {
  readonly remaining: number
  readonly nextFillMs: number
  /** Since the limit exists in the configuration of this process. */
  readonly rejected: number
}

/** Changes nothing. undefined: the buffer has no such limit. */
export function readBucket(
  { buffer, slots }: RateLimitBuffer,
  { key, limit }: Pick<KeyedLimit, 'key'> & { readonly limit: BucketLimit },
  nowMs: number,
): BucketState | undefined {
  const slot = slots.get(key)
  return slot === undefined ? undefined : new SharedBucket(buffer, slot, limit).read(nowMs)
}

export function sharedRateLimitStore({ buffer, slots }: RateLimitBuffer): RateLimitStore {
  return {
    bucket(key, limit) {
      const slot = slots.get(key)
      // Both sides read the keys from the same configuration.
      if (slot === undefined) throw new Error(`rate limit ${key} has no slot`)
      return new SharedBucket(buffer, slot, limit)
    },
  }
}

class SharedBucket implements RateLimitBucket {
  readonly #words: Int32Array
  readonly #rejections: BigInt64Array
  readonly #baseMs: number
  readonly #perFill: number
  readonly #intervalMs: number
  readonly #levelMax: number

  constructor(buffer: SharedArrayBuffer, slot: number, limit: BucketLimit) {
    this.#words = new Int32Array(buffer, slot * SLOT_BYTES, 4)
    this.#rejections = rejectionsOf(buffer, slot)
    this.#baseMs = new Float64Array(buffer, slot * SLOT_BYTES, 1)[0] ?? 0
    this.#perFill = Math.min(limit.tokensPerFill, LEVEL_MAX)
    this.#intervalMs = limit.fillIntervalMs
    this.#levelMax = Math.min(limit.tokensMax, LEVEL_MAX)
  }

  take(count: number, nowMs: number): { isAllowed: boolean; limit: number; remaining: number; resetSeconds: number } {
    const fills = Math.floor((nowMs - this.#baseMs) / this.#intervalMs)
    this.#refill(fills)
    const left = this.#subtract(count)
    if (left < 0) Atomics.add(this.#rejections, 0, 1n)
    return {
      isAllowed: left >= 0,
      limit: this.#levelMax,
      remaining: left < 0 ? Math.max(0, Atomics.load(this.#words, LEVEL_AT)) : left,
      resetSeconds: Math.max(1, Math.ceil((this.#baseMs + (fills + 1) * this.#intervalMs - nowMs) / 1000)),
    }
  }

  /** With the fills that are due. */
  read(nowMs: number): BucketState {
    const fills = Math.floor((nowMs - this.#baseMs) / this.#intervalMs)
    const level = Atomics.load(this.#words, LEVEL_AT)
    const tokens = this.#tokensDue((fills | 0) - Atomics.load(this.#words, FILLS_AT))
    return {
      remaining: Math.min(this.#levelMax, level + tokens),
      nextFillMs: this.#baseMs + (fills + 1) * this.#intervalMs,
      rejected: Number(Atomics.load(this.#rejections, 0)),
    }
  }

  charge(count: number, nowMs: number): void {
    this.#refill(Math.floor((nowMs - this.#baseMs) / this.#intervalMs))
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const level = Atomics.load(this.#words, LEVEL_AT)
      const next = Math.min(this.#levelMax, Math.max(0, level - count))
      if (Atomics.compareExchange(this.#words, LEVEL_AT, level, next) === level) return
    }
  }

  /** The new level, or -1 if there were too few tokens. */
  #subtract(count: number): number {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const level = Atomics.load(this.#words, LEVEL_AT)
      if (level <= 0 || level < count) return -1
      if (Atomics.compareExchange(this.#words, LEVEL_AT, level, level - count) === level) return level - count
    }
    return -1
  }

  /**
   * Whole intervals only. One worker claims the fills that are due and adds them; the others see them a moment later.
   */
  #refill(fills: number): void {
    const done = Atomics.load(this.#words, FILLS_AT)
    const tokens = this.#tokensDue((fills | 0) - done)
    if (tokens === 0) return
    if (Atomics.compareExchange(this.#words, FILLS_AT, done, fills | 0) !== done) return
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const level = Atomics.load(this.#words, LEVEL_AT)
      const next = Math.min(this.#levelMax, level + tokens)
      if (Atomics.compareExchange(this.#words, LEVEL_AT, level, next) === level) return
    }
  }

  /** `fills`: those since the last one; modulo 2^32, as the counter is. */
  #tokensDue(fills: number): number {
    const due = fills | 0
    if (due < 0) return due > FILLS_WRAPPED ? 0 : this.#levelMax
    return due * this.#perFill
  }
}
