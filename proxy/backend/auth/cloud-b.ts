// Sends an access token for Azure (data plane, section 8.4). Its scope follows from the host of the backend.
import type { BackendAuth, SecretRef } from '#api/ir/types.gen.ts'
import { type ClientSecret, type CloudB, cloudBSource, scopeFor } from '../../credentials/cloud-b/cloud-b.ts'
import { bearerOf } from './bearer.ts'
import type { AuthEnvironment, AuthKind, BrokenAuth } from './kind.ts'

type Block = NonNullable<BackendAuth['cloudB']>

export const cloudB: AuthKind = ({ cloudB: block }, environment) => {
  if (block === undefined) return undefined
  const { secretRef, managedIdentity, workloadIdentity, developerTools } = block
  const clientSecret = secretRef === undefined ? undefined : clientSecretOf(secretRef, environment)
  if (clientSecret !== undefined && 'problem' in clientSecret) return clientSecret
  const credential: CloudB = { clientSecret, managedIdentity, workloadIdentity, developerTools }
  const scope = scopeFor(environment.backendHost ?? '')
  return bearerOf('cloudB', cloudBSource({ credential, scope, owner: ownerOf(block) }), environment)
}

function clientSecretOf(
  refs: NonNullable<Block['secretRef']>,
  { secret }: Pick<AuthEnvironment, 'secret'>,
): ClientSecret | BrokenAuth {
  // Secrets made from files often end with a newline.
  const read = (ref: SecretRef): string => secret(ref)?.trim() ?? ''
  const missing = Object.values(refs).filter((ref) => read(ref) === '')
  if (missing.length > 0) {
    return { problem: missing.map((ref) => `secret ${ref.secret} is missing or empty`).join(', ') }
  }
  const { clientID, tenantID, clientSecret } = refs
  return { clientId: read(clientID), tenantId: read(tenantID), clientSecret: read(clientSecret) }
}

/** What fails together: the credential, wherever it is used. */
function ownerOf({ secretRef, managedIdentity, workloadIdentity, developerTools }: Block): string {
  if (secretRef !== undefined) return secretRef.clientSecret.secret
  if (workloadIdentity === true) return 'workload identity of the proxy'
  if (developerTools === true) return 'developer tools'
  if (managedIdentity === undefined) return 'environment of the proxy'
  const { clientId, objectId, resourceId } = managedIdentity
  return `managed identity ${clientId ?? objectId ?? resourceId ?? 'of the system'}`
}
