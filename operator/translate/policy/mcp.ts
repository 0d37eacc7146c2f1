// backend.mcp. An invalid expression is kept: it fails when the proxy evaluates it.
import type { BackendPayload } from '#api/ir/types.gen.ts'
import type { BackendMCP } from '#api/v1alpha1/shared.gen.ts'
import { authorizationDenials, renderAuthorization } from './authorization.ts'
import { secretRef } from './credential.ts'
import { type Emission, type FieldContext, type FieldTranslator, reportError } from './field.ts'
import { remoteKeys } from './jwt-authentication.ts'
import { mcpGuardrailsOf } from './mcp-guardrails.ts'

const CLIENT_SECRET_KEY = 'clientSecret'

export const mcp: FieldTranslator<BackendMCP, BackendPayload> = {
  failureMode: 'deny',
  translate: ({ authorization, authentication, guardrails }, context) => [
    ...(authorization === undefined ? [] : authorizationOf(authorization, context)),
    ...(authentication === undefined ? [] : [authenticationOf(authentication, context)]),
    ...(guardrails === undefined ? [] : [mcpGuardrailsOf(guardrails, context)]),
  ],
}

/** One provider, which need not name its issuer; otherwise as traffic.jwtAuthentication.mcp, which replaces it. */
function authenticationOf(
  value: NonNullable<BackendMCP['authentication']>,
  context: FieldContext,
): Emission<BackendPayload> {
  const { issuer, audiences, jwks, mode = 'Strict', resourceMetadata, provider, clientId, clientSecretRef } = value
  const path = `${context.path}.authentication`
  if (issuer === undefined && (provider !== undefined || clientId !== undefined)) {
    const message = `${context.field}.authentication.issuer is required with provider and clientId: the metadata is fetched from it`
    reportError(context, { path: `${path}.issuer`, reason: 'IssuerNotSet', message })
  }
  const keys = remoteKeys(jwks, `${path}.jwks`, context)
  const clientSecret = clientSecretRef && {
    clientSecret: secretRef(
      { ref: clientSecretRef, defaultKey: CLIENT_SECRET_KEY, path: `${path}.clientSecretRef` },
      context,
    ),
  }
  const mcpAuthentication = {
    mode,
    providers: [
      {
        ...(issuer !== undefined && { issuer }),
        ...(audiences !== undefined && { audiences: [...audiences] }),
        ...keys,
      },
    ],
    mcp: {
      ...(resourceMetadata !== undefined && { resourceMetadata }),
      ...(provider !== undefined && { provider }),
      ...(clientId !== undefined && { clientId }),
      ...clientSecret,
    },
  }
  return { suffix: 'mcp-authentication', payload: { mcpAuthentication } }
}

function authorizationOf(
  value: NonNullable<BackendMCP['authorization']>,
  context: FieldContext,
): ReadonlyArray<Emission<BackendPayload>> {
  const below = { ...context, path: `${context.path}.authorization`, field: `${context.field}.authorization` }
  return [
    { suffix: 'mcp-authorization', accumulates: true, payload: { mcpAuthorization: renderAuthorization(value) } },
    ...authorizationDenials(value, below, 'mcp-authorization-deny'),
  ]
}
