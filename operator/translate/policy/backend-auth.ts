// backend.auth: key, secretRef, passthrough, the three clouds and extra credentials. Other ways to authenticate are
// rejected, because otherwise the client's own credentials could reach the backend.
import type { BackendAuth as RenderedAuth, BackendPayload, CredentialLocation } from '#api/ir/types.gen.ts'
import type { AuthorizationLocation, BackendAuth } from '#api/v1alpha1/shared.gen.ts'
import { renderCloudA } from './cloud-a-auth.ts'
import { renderCloudB } from './cloud-b-auth.ts'
import { renderCloudC } from './cloud-c-auth.ts'
import { AUTHORIZATION_KEY, inlineSecret, secretRef } from './credential.ts'
import { denyNotProgrammed, type FieldContext, type FieldTranslator } from './field.ts'

const NOT_RUN = ['oauthTokenExchange', 'crossAppAccess'] as const satisfies ReadonlyArray<keyof BackendAuth>

const SUFFIX = 'backend-auth'

export const backendAuth: FieldTranslator<BackendAuth, BackendPayload> = {
  failureMode: 'deny',
  translate: (value, context) => {
    const missing = NOT_RUN.find((field) => value[field] !== undefined)
    if (missing !== undefined) return [denyNotProgrammed(context, SUFFIX, missing)]
    return [{ suffix: SUFFIX, payload: { auth: render(value, context) } }]
  },
}

function render(value: BackendAuth, context: FieldContext): RenderedAuth {
  const { path } = context
  const { passthrough, cloudA, cloudB, cloudC, credentials } = value
  const key = primaryKey(value, context)
  const location = value.location ?? passthrough?.location
  return {
    ...(key !== undefined && { key }),
    ...(passthrough !== undefined && { passthrough: true }),
    ...(cloudA !== undefined && { cloudA: renderCloudA(cloudA, context) }),
    ...(cloudB !== undefined && { cloudB: renderCloudB(cloudB, context) }),
    ...(cloudC !== undefined && { cloudC: renderCloudC(cloudC, context) }),
    ...(location !== undefined && { location: renderLocation(location) }),
    ...(credentials !== undefined && {
      credentials: credentials.map((one, index) => ({
        key: secretRef(
          { ref: one.secretRef, defaultKey: AUTHORIZATION_KEY, path: `${path}.credentials[${index}].secretRef` },
          context,
        ),
        location: renderLocation(one.location),
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

function renderLocation({ header, queryParameter, cookie }: AuthorizationLocation): CredentialLocation {
  return {
    ...(header !== undefined && {
      header: { name: header.name.toLowerCase(), ...(header.prefix !== undefined && { prefix: header.prefix }) },
    }),
    ...(queryParameter !== undefined && { queryParameter: { name: queryParameter.name } }),
    ...(cookie !== undefined && { cookie: { name: cookie.name } }),
  }
}
