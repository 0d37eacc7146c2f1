// Caches decisions by the values of the policy's key expressions (data-plane supplement section 7.3).
// Bounded; near its end an entry is renewed by one request while the others still use it.
import type { CelExpression } from '#api/cel/expression.ts'
import { CelDuration, parseCelDuration } from '#api/cel/values/duration.ts'
import { CelTimestamp } from '#api/cel/values/timestamp.ts'
import { CelUint } from '#api/cel/values/uint.ts'
import type { ExtAuthCache } from '#api/ir/types.gen.ts'
import type { Exchange } from '../../../exchange/exchange.ts'
import type { ChainEnvironment } from '../../../chain/environment.ts'
import { evaluate, FAILED } from '../../../cel/evaluate.ts'
import type { Decision } from './decision.ts'

/** Specification, ExtAuth `cache.maxEntries`. */
export const ENTRIES_MAX = 10_000
/** Longer keys would let clients fill the memory; the service is called for each such request. */
const KEY_LENGTH_MAX = 4096
/** Limit of the body of a rejection. */
const BODY_BYTES_MAX = 16_384
const REFRESH_AHEAD_MS_MAX = 5000
const REFRESH_AHEAD_SHARE = 0.1

interface Entry {
  readonly decision: Decision
  readonly untilMs: number
  readonly refreshMs: number
  isRefreshing: boolean
}

export type CacheAnswer =
  | { readonly hit: Decision }
  /** This request renews the entry; if that fails, `fallback` still applies. */
  | { readonly fallback: Decision; readonly settled: () => void }
  | undefined

export class DecisionCache {
  readonly #key: readonly CelExpression[]
  readonly #ttl: CelExpression | undefined
  readonly #ttlMs: number
  readonly #entriesMax: number
  /** In the order of use, the oldest first. */
  readonly #entries = new Map<string, Entry>()

  constructor(cache: ExtAuthCache, environment: Pick<ChainEnvironment, 'expression'>) {
    this.#key = cache.key.map((source) => environment.expression(source))
    this.#ttl = cache.ttl === undefined ? undefined : environment.expression(cache.ttl)
    this.#ttlMs = cache.ttlMs ?? 0
    this.#entriesMax = cache.entriesMax ?? ENTRIES_MAX
  }

  get expressions(): readonly CelExpression[] {
    return this.#ttl === undefined ? this.#key : [...this.#key, this.#ttl]
  }

  get size(): number {
    return this.#entries.size
  }

  /** undefined: the request has no key and is not cached. */
  keyOf(exchange: Exchange): string | undefined {
    let key = ''
    for (const expression of this.#key) {
      const part = keyPart(evaluate(expression, exchange))
      if (part === undefined) return undefined
      // The length separates the parts: `a` and `bc` must differ from `ab` and `c`.
      key += `${part.length}:${part}`
      if (key.length > KEY_LENGTH_MAX) return undefined
    }
    return key
  }

  find(key: string, nowMs: number): CacheAnswer {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    if (nowMs >= entry.untilMs) return undefined
    this.#entries.set(key, entry)
    const { decision } = entry
    if (nowMs < entry.refreshMs || entry.isRefreshing) return { hit: decision }
    entry.isRefreshing = true
    return {
      fallback: decision,
      settled: () => {
        entry.isRefreshing = false
      },
    }
  }

  /** After the decision was applied: the time to live may read its results. */
  store(key: string, decision: Decision, exchange: Exchange, nowMs: number): void {
    this.#entries.delete(key)
    const ttlMs = this.#ttl === undefined ? this.#ttlMs : ttlOf(evaluate(this.#ttl, exchange))
    if (ttlMs === undefined || !(ttlMs > 0) || !isSmall(decision)) return
    if (this.#entries.size >= this.#entriesMax) this.#evict()
    const aheadMs = Math.min(ttlMs * REFRESH_AHEAD_SHARE, REFRESH_AHEAD_MS_MAX)
    const untilMs = nowMs + ttlMs
    this.#entries.set(key, { decision, untilMs, refreshMs: untilMs - aheadMs, isRefreshing: false })
  }

  /** A decision that must not be cached removes the former entry. */
  forget(key: string): void {
    this.#entries.delete(key)
  }

  #evict(): void {
    const oldest = this.#entries.keys().next()
    if (oldest.done !== true) this.#entries.delete(oldest.value)
  }
}

function isSmall(decision: Decision): boolean {
  return decision.isAllowed || decision.answer === undefined || decision.answer.body.length <= BODY_BYTES_MAX
}

/** Scalars only; the letter keeps the types apart. */
function keyPart(value: unknown): string | undefined {
  if (value === null) return 'n'
  if (typeof value === 'string') return `s${value}`
  if (typeof value === 'boolean') return `b${value}`
  if (typeof value === 'bigint') return `i${value}`
  if (typeof value === 'number') return Object.is(value, -0) ? 'd-0' : `d${value}`
  if (value instanceof CelUint) return `u${value.value}`
  return value instanceof Uint8Array ? `x${Buffer.from(value).toString('base64')}` : undefined
}

/** Milliseconds from now; a plain number is the Unix second of the end. */
function ttlOf(value: unknown): number | undefined {
  if (value === FAILED) return undefined
  if (value instanceof CelDuration) return value.toMs()
  if (value instanceof CelTimestamp) return value.epochMs() - Date.now()
  if (value instanceof CelUint) return Number(value.value) * 1000 - Date.now()
  if (typeof value === 'bigint' || typeof value === 'number') return Number(value) * 1000 - Date.now()
  return typeof value === 'string' ? parseCelDuration(value)?.toMs() : undefined
}
