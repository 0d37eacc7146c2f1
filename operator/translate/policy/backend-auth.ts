// backend.auth: key, secretRef, passthrough, the three clouds, tokens of token endpoints and extra credentials.
import type { BackendAuth as RenderedAuth, BackendPayload } from '#api/ir/types.gen.ts'
import type { BackendAuth } from '#api/v1alpha1/shared.gen.ts'
import { renderCloudA } from './cloud-a-auth.ts'
import { renderCloudB } from './cloud-b-auth.ts'
import { renderCloudC } from './cloud-c-auth.ts'
import { renderCredentialLocation } from './credential-location.ts'
import { AUTHORIZATION_KEY, inlineSecret, secretRef } from './credential.ts'
import { renderCrossAppAccess } from './cross-app-access.ts'
import type { FieldContext, FieldTranslator } from './field.ts'
import { renderTokenExchange } from './oauth-token-exchange.ts'

const SUFFIX = 'backend-auth'

export const backendAuth: FieldTranslator<BackendAuth, BackendPayload> = {
  failureMode: 'deny',
  translate: (value, context) => [{ suffix: SUFFIX, payload: { auth: render(value, context) } }],
}

function render(value: BackendAuth, context: FieldContext): RenderedAuth {
  const { path } = context
  const { passthrough, cloudA, cloudB, cloudC, crossAppAccess, oauthTokenExchange, credentials } = value
  const key = primaryKey(value, context)
  const location = value.location ?? passthrough?.location
  return {
    ...(key !== undefined && { key }),
    ...(passthrough !== undefined && { passthrough: true }),
    ...(cloudA !== undefined && { cloudA: renderCloudA(cloudA, context) }),
    ...(cloudB !== undefined && { cloudB: renderCloudB(cloudB, context) }),
    ...(cloudC !== undefined && { cloudC: renderCloudC(cloudC, context) }),
    ...(crossAppAccess !== undefined && { crossAppAccess: renderCrossAppAccess(crossAppAccess, context) }),
    ...(oauthTokenExchange !== undefined && { oauthTokenExchange: renderTokenExchange(oauthTokenExchange, context) }),
    ...(location !== undefined && { location: renderCredentialLocation(location) }),
    ...(credentials !== undefined && {
      credentials: credentials.map((one, index) => ({
        key: secretRef(
          { ref: one.secretRef, defaultKey: AUTHORIZATION_KEY, path: `${path}.credentials[${index}].secretRef` },
          context,
        ),
        location: renderCredentialLocation(one.location),
      })),
    }),
  }
}

function primaryKey(value: BackendAuth, context: FieldContext): RenderedAuth['key'] {
  if (value.key !== undefined) return inlineSecret(value.key, `${context.path}.key`, context)
  if (value.secretRef === undefined) return undefined
  const path = `${context.path}.secretRef`
  return secretRef({ ref: value.secretRef, defaultKey: AUTHORIZATION_KEY, path }, context)
}
