// What the store of a worker reports about its fetches, to metrics, log and the dump of the configuration. Plain data
// without any secret: it crosses to the main thread.
import type { TokenError, TokenName } from './token.ts'

export interface TokenObserver {
  /** This worker fetched, or tried to. What other workers fetched is reported by them. */
  fetched(fetch: TokenFetch): void
  refused(refusal: TokenRefusal): void
}

export interface TokenFetch {
  readonly name: TokenName
  /** Of the source, hashed. */
  readonly key: string
  /** The policy, backend or route that configures it, as `namespace/name`. */
  readonly usedBy: string | undefined
  readonly durationMs: number
  /** Unix time in milliseconds. */
  readonly endMs: number
  readonly outcome: FetchOutcome
}

export type FetchOutcome =
  | { readonly expiresMs: number }
  | { readonly reason: TokenError['reason']; readonly message: string }

/** A peer refused the token. */
export interface TokenRefusal {
  readonly name: TokenName
  readonly key: string
  /** Unix time in milliseconds. */
  readonly atMs: number
}

export type CredentialMessage =
  | { readonly type: 'credentialFetched'; readonly fetch: TokenFetch }
  | { readonly type: 'credentialRefused'; readonly refusal: TokenRefusal }
