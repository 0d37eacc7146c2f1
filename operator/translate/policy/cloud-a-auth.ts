// backend.auth.cloudA. A Secret without a key pair is reported; its references stay without a value: requests are
// rejected.
import type { CloudAAuth as RenderedCloudA } from '#api/ir/types.gen.ts'
import type { BackendAuth } from '#api/v1alpha1/shared.gen.ts'
import { nameKey } from '../object-ref.ts'
import { secretValue } from '../secret-value.ts'
import { isCoreSecret, secretRef } from './credential.ts'
import { checkExpression } from './expression.ts'
import type { FieldContext } from './field.ts'

type CloudA = NonNullable<BackendAuth['cloudA']>
type Role = NonNullable<CloudA['assumeRole']>

/** `context.path`: of `auth`. */
export function renderCloudA(value: CloudA, context: FieldContext): RenderedCloudA {
  const path = `${context.path}.cloudA`
  const { secretRef: ref, assumeRole, serviceName, region } = value
  return {
    ...(ref !== undefined && { secretRef: renderKeys(ref, `${path}.secretRef`, context) }),
    ...(assumeRole !== undefined && { assumeRole: renderRole(assumeRole, `${path}.assumeRole`, context) }),
    ...(serviceName !== undefined && { serviceName }),
    ...(region !== undefined && { region }),
  }
}

function renderKeys(
  ref: NonNullable<CloudA['secretRef']>,
  path: string,
  context: FieldContext,
): NonNullable<RenderedCloudA['secretRef']> {
  const { owner, secrets } = context.scope
  const entry = (key: string) => secretRef({ ref: { ...ref, key }, defaultKey: key, path }, context)
  const found = secrets.get(owner.namespace, ref.name)
  // One problem is enough for a missing Secret.
  if (found === undefined || !isCoreSecret(ref)) {
    const accessKey = entry('accessKey')
    return { accessKey, secretKey: { secret: `${nameKey(owner.namespace, ref.name)}/secretKey` } }
  }
  const hasToken = (secretValue(found, 'sessionToken') ?? '') !== ''
  return {
    accessKey: entry('accessKey'),
    secretKey: entry('secretKey'),
    ...(hasToken && { sessionToken: entry('sessionToken') }),
  }
}

function renderRole(role: Role, path: string, context: FieldContext): NonNullable<RenderedCloudA['assumeRole']> {
  const { roleRef, externalId, sessionName, sessionNameExpression, tags } = role
  if (sessionNameExpression !== undefined) {
    checkExpression(sessionNameExpression, `${path}.sessionNameExpression`, context)
  }
  for (const [index, { expression }] of (tags ?? []).entries()) {
    if (expression !== undefined) checkExpression(expression, `${path}.tags[${index}].expression`, context)
  }
  return {
    roleRef,
    ...(externalId !== undefined && { externalId }),
    ...(sessionName !== undefined && { sessionName }),
    ...(sessionNameExpression !== undefined && { sessionNameExpression }),
    ...(tags !== undefined && { tags: [...tags] }),
  }
}
