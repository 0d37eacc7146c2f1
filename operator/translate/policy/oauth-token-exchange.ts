// backend.auth.oauthTokenExchange. A missing credential or token endpoint is reported and leaves a reference that leads
// nowhere: requests are rejected.
import type {
  OAuthActorToken as RenderedActorToken,
  OAuthSubjectToken,
  OAuthTokenExchange as RenderedTokenExchange,
} from '#api/ir/types.gen.ts'
import type { FieldPath } from '#api/problem.ts'
import type { OAuthActorToken, OAuthTokenExchange, OAuthTokenSpec } from '#api/v1alpha1/shared.gen.ts'
import { renderCredentialLocation } from './credential-location.ts'
import { extractionLocation } from './extraction-location.ts'
import type { FieldContext } from './field.ts'
import { namedExpressions } from './named-expressions.ts'
import { renderClientAuth } from './oauth-client-auth.ts'
import { DEFAULT_TOKEN_PATH, tokenCacheField } from './oauth-token-cache.ts'
import { serviceReference } from './service-reference.ts'

const DEFAULT_TOKEN_TYPE = 'AccessToken'

/** `context.path`: of `auth`. @throws {TypeError} for what the schema rejects; the section answers with a denial. */
export function renderTokenExchange(value: OAuthTokenExchange, context: FieldContext): RenderedTokenExchange {
  const path = `${context.path}.oauthTokenExchange`
  const { grantType = 'TokenExchange', audiences, scopes, resources, additionalParams, clientAuth, location } = value
  return {
    service: serviceReference(value.backendRef, `${path}.backendRef`, context),
    path: value.path ?? DEFAULT_TOKEN_PATH,
    grantType,
    subjectToken: renderSubject(value.subjectToken, `${path}.subjectToken`, context),
    ...grantFields(value, path, context),
    ...(audiences !== undefined && { audiences: [...audiences] }),
    ...(scopes !== undefined && { scopes: [...scopes] }),
    ...(resources !== undefined && { resources: [...resources] }),
    ...(additionalParams !== undefined && {
      additionalParams: namedExpressions(additionalParams, `${path}.additionalParams`, context),
    }),
    ...(clientAuth !== undefined && { clientAuth: renderClientAuth(clientAuth, `${path}.clientAuth`, context) }),
    ...(location !== undefined && { location: renderCredentialLocation(location) }),
    ...tokenCacheField(value.cache),
  }
}

/** What only the grant TokenExchange has. */
function grantFields(
  { grantType = 'TokenExchange', actorToken, requestedTokenType }: OAuthTokenExchange,
  path: FieldPath,
  context: FieldContext,
): Pick<RenderedTokenExchange, 'actorToken' | 'requestedTokenType'> {
  const isSet = actorToken !== undefined || requestedTokenType !== undefined
  if (isSet && grantType !== 'TokenExchange') throw new TypeError(`actorToken or requestedTokenType with ${grantType}`)
  if (requestedTokenType === 'IdJag') throw new TypeError('requestedTokenType IdJag')
  return {
    ...(actorToken !== undefined && { actorToken: renderActor(actorToken, `${path}.actorToken`, context) }),
    ...(requestedTokenType !== undefined && { requestedTokenType }),
  }
}

function renderSubject(
  { source, tokenType = DEFAULT_TOKEN_TYPE }: OAuthTokenSpec = {},
  path: FieldPath,
  context: FieldContext,
): OAuthSubjectToken {
  return {
    ...(source !== undefined && { source: extractionLocation(source, `${path}.source`, context) }),
    tokenType,
  }
}

function renderActor(
  { source, tokenType = DEFAULT_TOKEN_TYPE, mayAct }: OAuthActorToken,
  path: FieldPath,
  context: FieldContext,
): RenderedActorToken {
  if (mayAct !== undefined && tokenType !== 'Jwt') throw new TypeError(`mayAct with tokenType ${tokenType}`)
  return {
    source: extractionLocation(source, `${path}.source`, context),
    tokenType,
    ...(mayAct !== undefined && { mayAct }),
  }
}
