// The services for the compilation of policies. Requests use only what a policy keeps.
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

/** For the sign-in of MCP clients through the gateway. */
export interface McpSignIn {
  /** Those that clients may use; undefined: those on loopback addresses, and those that the provider checks. */
  readonly redirectUris: readonly string[] | undefined
  /** Of 32 bytes each: the first seals, all open. */
  readonly sealKeys: readonly Uint8Array[]
}

export interface ChainEnvironment {
  /** Cached. Permissive: an invalid text gives an expression that always fails. */
  expression(source: string): CelExpression
  readonly rateLimits: RateLimitStore
  /** Keys, users and remembered credentials, shared by policies with the same references. */
  readonly auth: AuthStores
  /** Keeps credentials that are fetched; lives as long as the worker. */
  readonly tokens: TokenStore
  /** undefined: the secret is missing. Never an empty credential in its place. */
  readonly secret: (ref: SecretRef) => string | undefined
  /** A service that policies call. undefined: the reference has no target that can be called. */
  readonly service: (ref: BackendReference, subtype: CallSubtype) => ServiceCaller | undefined
  /** A server by its address, with the system's certificate authorities: identity providers are configured by URL. */
  readonly origin: (place: OriginPlace) => ServiceCaller
  readonly mcpSignIn: McpSignIn
  /** Host name of the backend that the chain is for, without a port; undefined: each request has its own, or none. */
  readonly backendHost?: string | undefined
  /** Port of the listener, for redirects without a port; default: the local port of the connection. */
  readonly listenerPort?: number | undefined
}

export interface PolicyEnvironment extends ChainEnvironment {
  /** Key of the policy of the value; local rate limits are counted by it. */
  readonly policyKey: string
}
