// backend.auth.cloudC. The credential JSON is checked here as in the proxy, so that the status reports what the proxy
// rejects; its values appear in no message.
import { credentialProblem } from '#api/credentials/cloud-c.ts'
import type { CloudCAuth as RenderedCloudC } from '#api/ir/types.gen.ts'
import type { BackendAuth } from '#api/v1alpha1/shared.gen.ts'
import { secretValue } from '../secret-value.ts'
import { isCoreSecret, secretRef } from './credential.ts'
import { type FieldContext, reportError } from './field.ts'

type CloudC = NonNullable<BackendAuth['cloudC']>

const CREDENTIALS_KEY = 'credentials.json'

/** `context.path`: of `auth`. */
export function renderCloudC(value: CloudC, context: FieldContext): RenderedCloudC {
  const { type = 'AccessToken', secretRef: ref, audience } = value
  const path = `${context.path}.cloudC.secretRef`
  if (ref !== undefined) checkCredential(ref, { path, type }, context)
  return {
    type,
    ...(ref !== undefined && { secretRef: secretRef({ ref, defaultKey: CREDENTIALS_KEY, path }, context) }),
    ...(audience !== undefined && { audience }),
  }
}

/** A Secret or entry that is missing is reported with the reference. */
function checkCredential(
  ref: NonNullable<CloudC['secretRef']>,
  { path, type }: { readonly path: string; readonly type: RenderedCloudC['type'] },
  context: FieldContext,
): void {
  const { owner, secrets } = context.scope
  const found = isCoreSecret(ref) ? secrets.get(owner.namespace, ref.name) : undefined
  const text = found === undefined ? undefined : secretValue(found, ref.key ?? CREDENTIALS_KEY)
  if (text === undefined || text === '') return
  const message = credentialProblem(text, type)
  if (message !== undefined) reportError(context, { path, reason: 'InvalidCredential', message })
}
