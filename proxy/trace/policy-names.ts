// The names of policies in a trace: words for the field of the configuration, after the level the policy runs at.
import type { BackendPayload, TrafficPayload } from '#api/ir/types.gen.ts'

export type PolicyLevel = 'gateway' | 'route' | 'backend'

/** Names that watchers of traces know; the fields of the same policies have other names. */
const NAMES = {
  timeouts: 'timeout',
  jwtAuthentication: 'jwt auth',
  basicAuthentication: 'basic auth',
  apiKeyAuthentication: 'api key',
  extAuth: 'ext authz',
  rateLimit: 'local rate limit',
  rateLimitGlobal: 'remote rate limit',
} as const satisfies { readonly [K in keyof TrafficPayload | keyof BackendPayload]?: string }

const BY_FIELD: ReadonlyMap<string, string> = new Map(Object.entries(NAMES))

const CAPITAL = /[A-Z]/g

/**
 * `jwtAuthentication` at the route is `jwt auth`, `cors` at the gateway `gateway cors`, `auth` at the backend
 * `backend auth`.
 */
export function displayName(field: string, level: PolicyLevel | undefined): string {
  const words = BY_FIELD.get(field) ?? field.replaceAll(CAPITAL, (letter) => ` ${letter.toLowerCase()}`)
  return level === undefined || level === 'route' ? words : `${level} ${words}`
}
