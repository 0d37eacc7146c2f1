// What policies get when they are compiled. Nothing of it is used on the path of a request except what they keep.
import type { CelExpression } from '#api/cel/expression.ts'
import type { BackendReference, SecretRef } from '#api/ir/types.gen.ts'
import type { AuthStores } from '../auth/auth-stores.ts'
import type { TokenStore } from '../credentials/token.ts'
import type { ServiceCaller } from './service.ts'
import type { CallSubtype } from '../exchange/request-span.ts'
import type { RateLimitStore } from './rate-limits.ts'

export interface OriginPlace {
  readonly host: string
  readonly port: number
  readonly isTls: boolean
}

export interface ChainEnvironment {
  /** Cached. Permissive: a text that does not compile gives an expression that always errors. */
  expression(source: string): CelExpression
  readonly rateLimits: RateLimitStore
  /** Keys, users and remembered credentials, shared by policies that name the same ones. */
  readonly auth: AuthStores
  /** Keeps credentials that are fetched; lives as long as the worker. */
  readonly tokens: TokenStore
  /** undefined: the secret is missing. Never an empty credential in its place. */
  readonly secret: (ref: SecretRef) => string | undefined
  /** A service that policies call. undefined: the reference names nothing that can be called. */
  readonly service: (ref: BackendReference, subtype: CallSubtype) => ServiceCaller | undefined
  /** A server by its address, with the authorities of the system: identity providers are named by URL. */
  readonly origin: (place: OriginPlace) => ServiceCaller
  /** Port of the listener, for redirects that do not name one; the local port of the connection when unset. */
  readonly listenerPort?: number | undefined
}

export interface PolicyEnvironment extends ChainEnvironment {
  /** Key of the policy the value comes from; local rate limits are counted by it. */
  readonly policyKey: string
}
