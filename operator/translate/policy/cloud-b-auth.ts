// backend.auth.cloudB. A Secret without its three entries is reported and leaves references that lead nowhere: requests
// are rejected.
import type { CloudBAuth as RenderedCloudB, CloudBManagedIdentity } from '#api/ir/types.gen.ts'
import type { BackendAuth } from '#api/v1alpha1/shared.gen.ts'
import { nameKey } from '../object-ref.ts'
import { secretValue } from '../secret-value.ts'
import { isCoreSecret, secretRef } from './credential.ts'
import type { FieldContext } from './field.ts'

type CloudB = NonNullable<BackendAuth['cloudB']>

/** `context.path`: of `auth`. */
export function renderCloudB(value: CloudB, context: FieldContext): RenderedCloudB {
  const { secretRef: ref, managedIdentity, workloadIdentity } = value
  return {
    ...(ref !== undefined && { secretRef: renderSecret(ref, `${context.path}.cloudB.secretRef`, context) }),
    ...(managedIdentity !== undefined && { managedIdentity: identityOf(managedIdentity) }),
    ...(workloadIdentity !== undefined && { workloadIdentity: true }),
  }
}

function renderSecret(
  ref: NonNullable<CloudB['secretRef']>,
  path: string,
  context: FieldContext,
): NonNullable<RenderedCloudB['secretRef']> {
  const { owner, secrets } = context.scope
  const entry = (key: string) => secretRef({ ref: { ...ref, key }, defaultKey: key, path }, context)
  const clientID = entry('clientID')
  // One problem is enough for a reference that leads nowhere.
  const found = secrets.get(owner.namespace, ref.name)
  if (found === undefined || !isCoreSecret(ref)) {
    const name = nameKey(owner.namespace, ref.name)
    return { clientID, tenantID: { secret: `${name}/tenantID` }, clientSecret: { secret: `${name}/clientSecret` } }
  }
  const tenantID = entry('tenantID')
  const has = (key: string): boolean => (secretValue(found, key) ?? '') !== ''
  return has('clientCertificate') && !has('clientSecret')
    ? { clientID, tenantID, clientCertificate: entry('clientCertificate') }
    : { clientID, tenantID, clientSecret: entry('clientSecret') }
}

/** The first identifier that is not empty; without any, the identity that the system assigned. */
function identityOf({ clientId, objectId, resourceId }: NonNullable<CloudB['managedIdentity']>): CloudBManagedIdentity {
  if (clientId !== '') return { clientId }
  if (objectId !== '') return { objectId }
  return resourceId === '' ? {} : { resourceId }
}
