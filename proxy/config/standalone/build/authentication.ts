// Policies that authenticate clients, as fields of the contract. Passwords and keys are stored in the secrets.
import type {
  ApiKeyAuthentication as RenderedApiKey,
  BasicAuthentication as RenderedBasic,
  JwtAuthentication as RenderedJwt,
  JwtProvider as RenderedProvider,
  McpOauth,
  TrafficPayload,
} from '#api/ir/types.gen.ts'
import { publicKeySet } from '#api/credentials/key-set.ts'
import { NO_USABLE_KEY, parseKeySet } from '../../../auth/jwks.ts'
import type { Built } from '../coverage.ts'
import { pathTo } from '../field-path.ts'
import type { ApiKey, BasicAuth, JwtAuth, JwtProvider, McpAuthentication, Mode } from '../schema/authentication.ts'
import type { BuildContext } from './context.ts'
import { defined, ifSet } from './defined.ts'
import { renderExtraction } from './extraction.ts'

const MODES = { optional: 'Optional', strict: 'Strict', permissive: 'Permissive' } as const satisfies Record<
  Mode,
  string
>
const PRODUCTS: ReadonlyMap<string, NonNullable<McpOauth['provider']>> = new Map([
  ['auth0', 'Auth0'],
  ['keycloak', 'Keycloak'],
  ['okta', 'Okta'],
  ['descope', 'Descope'],
  ['authentik', 'Authentik'],
  ['entra', 'Entra'],
])
/** A user who configures authentication does not intend an open server (specification, Authentication). */
const DEFAULT_MODE = 'strict'
const REALM = 'Restricted'

export interface AuthenticationFields {
  readonly jwtAuth?: JwtAuth | undefined
  /** It also checks tokens, so only one of the two is allowed. */
  readonly mcpAuthentication?: McpAuthentication | undefined
  readonly basicAuth?: BasicAuth | undefined
  readonly apiKey?: ApiKey | undefined
}

/** `path`: of the policies. */
export function renderAuthentication(
  { jwtAuth, mcpAuthentication, basicAuth, apiKey }: AuthenticationFields,
  path: string,
  context: BuildContext,
): Built<TrafficPayload, 'jwtAuthentication' | 'basicAuthentication' | 'apiKeyAuthentication'> {
  if (jwtAuth !== undefined && mcpAuthentication !== undefined) {
    context.error(pathTo(path, 'mcpAuthentication'), 'must not be set together with jwtAuth: both take the token')
  }
  const mcp = ifSet(mcpAuthentication, (value) => renderMcp(value, pathTo(path, 'mcpAuthentication'), context))
  return {
    jwtAuthentication: mcp ?? ifSet(jwtAuth, (value) => renderJwt(value, pathTo(path, 'jwtAuth'), context)),
    basicAuthentication: ifSet(basicAuth, (value) => renderBasic(value, pathTo(path, 'basicAuth'), context)),
    apiKeyAuthentication: ifSet(apiKey, (value) => renderApiKey(value, pathTo(path, 'apiKey'), context)),
  }
}

function renderJwt(value: JwtAuth, path: string, context: BuildContext): RenderedJwt {
  const { mode = DEFAULT_MODE, location } = value
  return {
    mode: MODES[mode],
    providers:
      'providers' in value
        ? value.providers.map((one, index) => renderProvider(one, pathTo(path, 'providers', index), context))
        : [renderProvider(value, path, context)],
    ...defined({ location: ifSet(location, renderExtraction) }),
  }
}

function renderMcp(value: McpAuthentication, path: string, context: BuildContext): RenderedJwt {
  const { mode = DEFAULT_MODE, authorizationLocation, provider, resourceMetadata, clientId, clientSecret } = value
  const [product] = Object.keys(provider ?? {})
  return {
    mode: MODES[mode],
    providers: [renderProvider(value, path, context)],
    mcp: defined({
      resourceMetadata,
      provider: PRODUCTS.get(product ?? ''),
      clientId,
      clientSecret: ifSet(clientSecret, (secret) => context.secret(pathTo(path, 'clientSecret'), secret)),
    }),
    ...defined({ location: ifSet(authorizationLocation, renderExtraction) }),
  }
}

function renderProvider(
  { issuer, audiences, jwks, jwtValidationOptions }: Omit<JwtProvider, 'mode' | 'location'>,
  path: string,
  context: BuildContext,
): RenderedProvider {
  const at = pathTo(path, 'jwks')
  const known = { issuer, ...defined({ audiences, requiredClaims: jwtValidationOptions?.requiredClaims }) }
  if (typeof jwks !== 'string' && jwks.url !== undefined) {
    return { ...known, ...context.keySet(jwks.url) }
  }
  const text = typeof jwks === 'string' ? jwks : context.readFile(pathTo(at, 'file'), jwks.file ?? '')
  if (text === undefined) return { ...known, unavailable: `${at} cannot be read` }
  return { ...known, ...keysOf(text, at, context) }
}

/** Public members only. A text that is not a key set may be anything, such as a private key. */
function keysOf(text: string, at: string, context: BuildContext): Pick<RenderedProvider, 'jwks' | 'unavailable'> {
  const keySet = publicKeySet(text)
  for (const { isSymmetric, message } of keySet?.removed ?? []) {
    if (isSymmetric) context.error(at, message)
    else context.warn(at, message)
  }
  const { keys, warnings } = parseKeySet(text)
  for (const warning of warnings) context.warn(at, warning)
  if (keys.length === 0) context.warn(at, NO_USABLE_KEY)
  return keySet === undefined ? { unavailable: `${at} is not a key set` } : { jwks: keySet.jwks }
}

function renderBasic(value: BasicAuth, path: string, context: BuildContext): RenderedBasic {
  const { htpasswdFile = '', realm = REALM, mode = DEFAULT_MODE, authorizationLocation } = value
  return {
    mode: MODES[mode],
    realm,
    // The schema requires one of the two.
    users: context.secret(pathTo(path, 'htpasswd'), value.htpasswd ?? { file: htpasswdFile }),
    ...defined({ location: ifSet(authorizationLocation, renderExtraction) }),
  }
}

function renderApiKey({ keys, mode = DEFAULT_MODE, location }: ApiKey, path: string, context: BuildContext) {
  const rendered: RenderedApiKey = { mode: MODES[mode], keys: [], hashes: [] }
  for (const [index, { key, keyHash, metadata }] of keys.entries()) {
    // As JSON, so that a key that looks like JSON is not parsed.
    if (key !== undefined) {
      const text = JSON.stringify(defined({ key, metadata }))
      rendered.keys?.push(context.secret(pathTo(path, 'keys', index), text))
    } else if (keyHash !== undefined) rendered.hashes?.push({ keyHash, ...defined({ metadata }) })
  }
  return { ...rendered, ...defined({ location: ifSet(location, renderExtraction) }) }
}
