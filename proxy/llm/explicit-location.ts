// Whether a provider may move the credential to the header field in which it takes keys.
import type { BackendAuth } from '#api/ir/types.gen.ts'

/** Bearer tokens, and no keys: an authorization server or a cloud issues them. */
const TOKENS = [
  'cloudB',
  'cloudC',
  'oauthTokenExchange',
  'crossAppAccess',
] as const satisfies readonly (keyof BackendAuth)[]

/** The user sets the place, or the kind of the credential does. */
export function hasExplicitLocation(auth: BackendAuth | undefined): boolean {
  return auth !== undefined && ['location' as const, ...TOKENS].some((field) => auth[field] !== undefined)
}
