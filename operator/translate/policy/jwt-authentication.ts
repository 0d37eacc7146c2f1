// traffic.jwtAuthentication. A provider without usable keys stays, but no token of it is valid: Strict then rejects.
import type { JwtProvider as RenderedProvider, McpOauth, TrafficPayload } from '#api/ir/types.gen.ts'
import { publicKeySet } from '#api/credentials/key-set.ts'
import type { FieldPath } from '#api/problem.ts'
import type { JWTAuthentication, JWTMCPAuthentication, JWTProvider } from '#api/v1alpha1/gwpolicy.gen.ts'
import type { RemoteJWKS } from '#api/v1alpha1/shared.gen.ts'
import { locationField } from './extraction-location.ts'
import { type FieldContext, type FieldTranslator, reportError } from './field.ts'
import { jwksRequest } from './jwks-request.ts'

const SUFFIX = 'jwt'

export const jwtAuthentication: FieldTranslator<JWTAuthentication, TrafficPayload> = {
  failureMode: 'deny',
  translate: ({ mode = 'Strict', providers, location, mcp }, context) => {
    const renderedProviders = providers.map((provider, index) =>
      renderProvider(provider, `${context.path}.providers[${index}]`, context),
    )
    const rendered = {
      mode,
      providers: renderedProviders,
      ...locationField(location, context),
      ...(mcp !== undefined && { mcp: renderMcp(mcp) }),
    }
    return [{ suffix: SUFFIX, payload: { jwtAuthentication: rendered } }]
  },
}

function renderProvider(provider: JWTProvider, path: FieldPath, context: FieldContext): RenderedProvider {
  const { issuer, audiences, jwks } = provider
  return {
    issuer,
    ...(audiences !== undefined && { audiences: [...audiences] }),
    ...(jwks.remote === undefined
      ? inlineKeys(jwks.inline ?? '', `${path}.jwks.inline`, context)
      : remoteKeys(jwks.remote, `${path}.jwks.remote`, context)),
  }
}

/** Without its metadata clients cannot find out where to get a token. */
function renderMcp({ resourceMetadata, provider, clientId }: JWTMCPAuthentication): McpOauth {
  return {
    ...(resourceMetadata !== undefined && { resourceMetadata }),
    ...(provider !== undefined && { provider }),
    ...(clientId !== undefined && { clientId }),
  }
}

function inlineKeys(
  text: string,
  path: FieldPath,
  context: FieldContext,
): Pick<RenderedProvider, 'jwks' | 'unavailable'> {
  const keySet = publicKeySet(text)
  if (keySet !== undefined) {
    for (const { isSymmetric, message } of keySet.removed) {
      const severity = isSymmetric ? 'error' : 'warning'
      context.report.problems.push({ path, reason: 'PrivateKeyMaterial', message: `${path}: ${message}`, severity })
    }
    return { jwks: keySet.jwks }
  }
  const message = `${path} is not a JSON Web Key Set, {"keys": [...]}; no token of this provider is valid`
  reportError(context, { path, reason: 'InvalidKeySet', message })
  // The message does not contain the text: it may be a private key.
  return { unavailable: message }
}

export function remoteKeys(
  remote: RemoteJWKS,
  path: FieldPath,
  context: FieldContext,
): Pick<RenderedProvider, 'jwks' | 'source' | 'unavailable'> {
  const request = jwksRequest(remote, context.scope)
  if ('message' in request) {
    const { reason, message } = request
    reportError(context, { path: `${path}.backendRef`, reason, message })
    return { unavailable: message }
  }
  const jwks = context.scope.keySets(request.key)
  const source = request.key
  if (jwks !== undefined) return { jwks, source }
  const message = `jwks keyset for ${JSON.stringify(request.url)} isn't available (not yet fetched or fetch failed)`
  reportError(context, { path, reason: 'KeySetNotAvailable', message })
  return { source, unavailable: message }
}
