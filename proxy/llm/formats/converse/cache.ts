// Cache points: each ends the beginning of a request that the provider keeps. The vendor allows four of them, counted
// over tools, system and messages in this order.
import type { TranslationNotes } from '../../canonical/format.ts'
import type { CacheMark } from '../../canonical/request.ts'
import type { JsonObject } from '../../json.ts'
import type { ModelTraits } from '../../traits/traits.ts'
import { CACHE_HINT_REASON, defined } from '../fields.ts'

export const CACHE_POINTS_MAX = 4

export function cachePoint(ttl?: unknown): JsonObject {
  return { cachePoint: defined({ type: 'default', ttl: ttl === '5m' || ttl === '1h' ? ttl : undefined }) }
}

/** The cache points of one request. */
export class CachePoints {
  readonly #notes: TranslationNotes
  readonly #isSupported: boolean
  #count = 0

  constructor({ acceptsCacheMarks }: ModelTraits, notes: TranslationNotes) {
    this.#notes = notes
    this.#isSupported = acceptsCacheMarks
  }

  /** After the block that is marked; nothing where the block has no mark, or the vendor rejects the point. */
  after({ cache, at }: { readonly cache?: CacheMark | undefined; readonly at: string }): readonly JsonObject[] {
    if (cache === undefined) return []
    if (this.#isSupported && this.#count++ < CACHE_POINTS_MAX) return [cachePoint(cache['ttl'])]
    this.#notes.dropped(`${at}.cache_control`, CACHE_HINT_REASON)
    return []
  }
}
