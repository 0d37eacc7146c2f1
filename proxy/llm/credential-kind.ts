// What kind of credential a request has: a provider may move a key to the header field in which it takes keys.
import type { BackendAuth } from '#api/ir/types.gen.ts'

/** Bearer tokens, and no keys: an authorization server or a cloud issues them. */
const TOKENS = [
  'cloudB',
  'cloudC',
  'oauthTokenExchange',
  'crossAppAccess',
] as const satisfies readonly (keyof BackendAuth)[]

/** `Placed`: the user set the place. `Token`: a bearer token, not a key. `Key`: any other, or that of the client. */
export type CredentialKind = 'Key' | 'Token' | 'Placed'

export function credentialKind(auth: BackendAuth | undefined): CredentialKind {
  if (auth === undefined) return 'Key'
  if (auth.location !== undefined) return 'Placed'
  return TOKENS.some((field) => auth[field] !== undefined) ? 'Token' : 'Key'
}
