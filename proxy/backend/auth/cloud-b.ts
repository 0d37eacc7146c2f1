// Sends an access token for Azure (data plane, section 8.4). Its scope follows from the host of the backend.
import type { BackendAuth, SecretRef } from '#api/ir/types.gen.ts'
import { type Application, type CloudB, cloudBSource, scopeFor } from '../../credentials/cloud-b/cloud-b.ts'
import { bearerOf } from './bearer.ts'
import type { AuthEnvironment, AuthKind, BrokenAuth } from './kind.ts'

type Block = NonNullable<BackendAuth['cloudB']>

export const cloudB: AuthKind = ({ cloudB: block }, environment) => {
  if (block === undefined) return undefined
  const { secretRef, managedIdentity, workloadIdentity, developerTools } = block
  const application = secretRef === undefined ? undefined : applicationOf(secretRef, environment)
  if (application !== undefined && 'problem' in application) return application
  const credential: CloudB = { application, managedIdentity, workloadIdentity, developerTools }
  const scope = scopeFor(environment.backendHost ?? '')
  return bearerOf('cloudB', cloudBSource({ credential, scope, owner: ownerOf(block) }), environment)
}

function applicationOf(
  refs: NonNullable<Block['secretRef']>,
  { secret }: Pick<AuthEnvironment, 'secret'>,
): Application | BrokenAuth {
  // Secrets made from files often end with a newline.
  const read = (ref: SecretRef): string => secret(ref)?.trim() ?? ''
  const missing = Object.values(refs).filter((ref) => read(ref) === '')
  if (missing.length > 0) {
    return { problem: missing.map((ref) => `secret ${ref.secret} is missing or empty`).join(', ') }
  }
  const { clientID, tenantID, clientSecret, clientCertificate } = refs
  const proof =
    clientCertificate === undefined
      ? { secret: clientSecret === undefined ? '' : read(clientSecret) }
      : { certificate: read(clientCertificate) }
  return { clientId: read(clientID), tenantId: read(tenantID), proof }
}

/** What fails together: the credential, wherever it is used. */
function ownerOf({ secretRef, managedIdentity, workloadIdentity, developerTools }: Block): string {
  if (secretRef !== undefined)
    return (secretRef.clientCertificate ?? secretRef.clientSecret ?? secretRef.clientID).secret
  if (workloadIdentity === true) return 'workload identity of the proxy'
  if (developerTools === true) return 'developer tools'
  if (managedIdentity === undefined) return 'environment of the proxy'
  const { clientId, objectId, resourceId } = managedIdentity
  return `managed identity ${clientId ?? objectId ?? resourceId ?? 'of the system'}`
}
