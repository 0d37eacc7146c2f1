// What signatures for AWS name if the policy does not: the service and the region of the backend (data-plane §8.4).
import type { BackendAuth } from '#api/ir/types.gen.ts'
import { rememberCredential, userOf } from '../../chain/provenance.ts'

interface SigningScope {
  readonly serviceName?: string | undefined
  readonly region?: string | undefined
}

export function signedFor({ serviceName, region }: SigningScope, auth: BackendAuth): BackendAuth {
  if (auth.cloudA === undefined) return auth
  const own = { ...(serviceName !== undefined && { serviceName }), ...(region !== undefined && { region }) }
  const signed = { ...auth, cloudA: { ...own, ...auth.cloudA } }
  const user = userOf(auth)
  // Reports name the object that configures the credential, also of the copy.
  if (user !== undefined) rememberCredential({ auth: signed }, user)
  return signed
}
