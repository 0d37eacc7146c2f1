// Credentials that are fetched and end: access tokens of token endpoints, keys of cloud accounts. A source fetches one;
// a store keeps them, so that sources need no cache of their own.

/** A backend that rejects every token causes one fetch of a key in this time, over all workers. */
export const INVALIDATION_MS_MIN = 10_000

/** What was fetched. `T` must survive a structured clone: workers share tokens through the main thread. */
export interface Token<T> {
  readonly value: T
  /** Unix time in milliseconds at which the issuer stops accepting it. */
  readonly expiresMs: number
}

/** Characters of a token: what it takes in a cache. */
export function sizeOf({ value }: Token<unknown>): number {
  return typeof value === 'string' ? value.length : (JSON.stringify(value)?.length ?? 0)
}

/** How one credential is fetched. */
export interface TokenSource<T> {
  /**
   * The same for everything that may share a token, different for everything else, and no secret itself: secrets,
   * subjects and parameters go in as a SHA-256 hash.
   */
  readonly key: string
  /** For config_dump, metrics and logs: the kind and the object it belongs to, without any secret. */
  readonly name: TokenName
  /** How many tokens of its owner are kept; 0: none. Unset: 8192 (data-plane supplement section 8.5). */
  readonly entriesMax?: number
  /** How long a fetch may take, in milliseconds, where that is more than 10 s. The store allows at most 60 s. */
  readonly fetchMs?: number
  /**
   * Fetches a new one, once: retries are the store's. Rejects with a TokenError.
   *
   * @param signal aborts at the deadline of the fetch, and when no request waits any more
   */
  fetch(signal: AbortSignal): Promise<Token<T>>
}

export interface TokenName {
  readonly kind: 'cloudA' | 'cloudB' | 'cloudC' | 'oauthTokenExchange' | 'crossAppAccess' | 'mesh'
  /** The policy or backend it is configured in, as `namespace/name`, and where the credential comes from. */
  readonly owner: string
}

export interface TokenStore {
  /**
   * A token that does not end soon: kept, or fetched. One fetch for all who ask for a key at the same time. Rejects
   * with a TokenError.
   *
   * @param usedBy the policy, backend or route that configures it, for reports
   */
  get<T>(source: TokenSource<T>, usedBy?: string): Token<T> | Promise<Token<T>>
  /**
   * The peer refused it (401): no worker serves it again. A newer token stays. Once in 10 s for a key: a peer that
   * refuses every token does not cause a fetch for each request.
   *
   * @returns whether `get` may give another token
   */
  invalidate<T>(source: TokenSource<T>, refused: Token<T>): boolean
}

/** Why there is no token. The message goes to the log: no secret, and of an endpoint only its error code. */
export class TokenError extends Error {
  /**
   * `Rejected`: the issuer refused this request. `SubjectRejected`: it refused the token of the client, so that the
   * failure is the client's. `Unavailable`: it could not be asked, or gave no usable answer.
   */
  readonly reason: 'Rejected' | 'SubjectRejected' | 'Unavailable'

  constructor(reason: TokenError['reason'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'TokenError'
    this.reason = reason
  }
}
