// backend.auth.crossAppAccess. A missing credential or token endpoint is reported and leaves a reference that leads
// nowhere: requests are rejected.
import type { CrossAppAccess as RenderedCrossAppAccess, OAuthEndpoint as RenderedEndpoint } from '#api/ir/types.gen.ts'
import type { FieldPath } from '#api/problem.ts'
import type { CrossAppAccess, OAuthEndpoint } from '#api/v1alpha1/shared.gen.ts'
import { extractionLocation } from './extraction-location.ts'
import type { FieldContext } from './field.ts'
import { renderClientAuth } from './oauth-client-auth.ts'
import { DEFAULT_TOKEN_PATH, tokenCacheField } from './oauth-token-cache.ts'
import { serviceReference } from './service-reference.ts'

/** `context.path`: of `auth`. @throws {TypeError} for what the schema rejects; the section answers with a denial. */
export function renderCrossAppAccess(value: CrossAppAccess, context: FieldContext): RenderedCrossAppAccess {
  const path = `${context.path}.crossAppAccess`
  const { identityProvider, resourceAuthorizationServer, audience, resources, scopes, subjectToken, cache } = value
  const source = subjectToken?.source
  return {
    identityProvider: renderEndpoint(identityProvider, `${path}.identityProvider`, context),
    resourceAuthorizationServer: renderEndpoint(
      resourceAuthorizationServer,
      `${path}.resourceAuthorizationServer`,
      context,
    ),
    audience,
    ...(resources !== undefined && { resources: [...resources] }),
    ...(scopes !== undefined && { scopes: [...scopes] }),
    ...(source !== undefined && {
      subjectToken: { source: extractionLocation(source, `${path}.subjectToken.source`, context) },
    }),
    ...tokenCacheField(cache),
  }
}

function renderEndpoint(value: OAuthEndpoint, path: FieldPath, context: FieldContext): RenderedEndpoint {
  const { backendRef, path: endpoint = DEFAULT_TOKEN_PATH, clientAuth } = value
  return {
    service: serviceReference(backendRef, `${path}.backendRef`, context),
    path: endpoint,
    clientAuth: renderClientAuth(clientAuth, `${path}.clientAuth`, context),
  }
}
