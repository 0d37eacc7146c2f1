// Token buckets by key, such as one for each namespace. Their number is bounded: the least recently used bucket is
// removed, and its key starts again with a full one.
import { TokenBucket, type TokenBucketLimit } from './token-bucket.ts'

const KEYS_MAX = 10_000

export class KeyedBuckets {
  readonly #limit: TokenBucketLimit
  readonly #keysMax: number
  /** Least recently used first. */
  readonly #buckets = new Map<string, TokenBucket>()

  constructor(limit: TokenBucketLimit, keysMax = KEYS_MAX) {
    this.#limit = limit
    this.#keysMax = keysMax
  }

  of(key: string): TokenBucket {
    const bucket = this.#buckets.get(key) ?? new TokenBucket(this.#limit)
    this.#buckets.delete(key)
    this.#buckets.set(key, bucket)
    const [oldest] = this.#buckets.keys()
    if (this.#buckets.size > this.#keysMax && oldest !== undefined) this.#buckets.delete(oldest)
    return bucket
  }
}
