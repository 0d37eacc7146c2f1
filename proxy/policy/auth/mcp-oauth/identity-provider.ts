// Differences between the products that issue tokens for MCP servers (data-plane supplement section 4.6). Pure: the
// paths of each product, and the metadata that clients of the gateway must see with other values.
import type { McpOauth } from '#api/ir/types.gen.ts'
import { ENDS, SERVER_METADATA } from './place.ts'

export type Metadata = Readonly<Record<string, unknown>>
export type Provider = NonNullable<McpOauth['provider']>

export interface ProviderSettings {
  readonly issuer: string
  readonly audiences: readonly string[] | undefined
  readonly provider: Provider | undefined
  readonly clientId: string | undefined
}

const OPENID_CONFIGURATION = '/.well-known/openid-configuration'
/** Their metadata sends registrations to the gateway, which forwards them. */
const PASSES_REGISTRATION: ReadonlySet<Provider> = new Set(['Keycloak', 'Okta', 'Descope'])
const NAMES_AUDIENCE: ReadonlySet<Provider> = new Set(['Auth0', 'Okta'])

/** Clients get the metadata from the gateway; otherwise from the issuer itself. */
export function isServedHere({ provider, clientId }: ProviderSettings): boolean {
  return provider !== undefined || clientId !== undefined
}

/** undefined: the issuer is not a URL, so it has no metadata. */
export function metadataUrl({ issuer, provider }: ProviderSettings): string | undefined {
  const url = issuerUrl(issuer)
  if (url === undefined) return undefined
  const path = url.pathname.replace(/\/$/, '')
  if (provider === 'Entra') return `${entraOrigin(url)}/${path.split('/')[1] ?? ''}/v2.0${OPENID_CONFIGURATION}`
  if (provider === undefined || provider === 'Auth0') return `${url.origin}${SERVER_METADATA}${path}`
  return `${url.origin}${path}${OPENID_CONFIGURATION}`
}

/** Where registrations of clients are forwarded; undefined: nowhere. */
export function registrationUrl({ issuer, provider }: ProviderSettings): string | undefined {
  const url = issuerUrl(issuer)
  if (url === undefined) return undefined
  const path = url.pathname.replace(/\/$/, '')
  if (provider === undefined || provider === 'Keycloak') {
    return `${url.origin}${path}/clients-registrations/openid-connect`
  }
  if (provider === 'Okta') return `${url.origin}/oauth2/v1/clients`
  const [, project, server] = (provider === 'Descope' && /\/agentic\/([^/]+)\/([^/]+)$/.exec(path)) || []
  if (project === undefined || server === undefined) return undefined
  return `${url.origin}/v1/mgmt/mcp/client/${project}/${server}/register`
}

/** `here`: URL of the metadata at the gateway. */
export function rewrittenMetadata(metadata: Metadata, settings: ProviderSettings, here: string): Metadata {
  const { provider, clientId, audiences } = settings
  const changes: Record<string, unknown> = {}
  const isMocked = clientId !== undefined
  const isPassed = provider !== undefined && PASSES_REGISTRATION.has(provider)
  if (isMocked || (isPassed && registrationUrl(settings) !== undefined)) {
    changes['registration_endpoint'] = here + ENDS.registration
  }
  const [audience] = audiences ?? []
  const authorization = metadata['authorization_endpoint']
  if (provider !== undefined && NAMES_AUDIENCE.has(provider) && typeof authorization === 'string') {
    if (audience !== undefined) changes['authorization_endpoint'] = withAudience(authorization, audience)
  }
  if (provider === 'Entra') {
    changes['authorization_endpoint'] = here + ENDS.authorize
    changes['token_endpoint'] = here + ENDS.token
    changes['code_challenge_methods_supported'] = ['S256']
  }
  return { ...metadata, ...changes }
}

function withAudience(endpoint: string, audience: string): string {
  return `${endpoint}${endpoint.includes('?') ? '&' : '?'}audience=${encodeURIComponent(audience)}`
}

function issuerUrl(issuer: string): URL | undefined {
  const url = URL.parse(issuer)
  return url !== null && ['http:', 'https:'].includes(url.protocol) ? url : undefined
}

/** Tokens of the first version name an issuer that serves no metadata. */
function entraOrigin({ hostname, origin }: URL): string {
  return hostname === 'sts.windows.net' ? 'https://login.microsoftonline.com' : origin
}
