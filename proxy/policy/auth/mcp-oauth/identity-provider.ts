// Differences between the products that issue tokens for MCP servers (data-plane supplement section 4.6). Pure: the
// paths of each product, and the metadata that clients of the gateway must see with other values.
import type { McpOauth } from '#api/ir/types.gen.ts'
import { ENDS } from './place.ts'

export type Metadata = Readonly<Record<string, unknown>>
export type Provider = NonNullable<McpOauth['provider']>

export interface ProviderSettings {
  readonly issuer: string
  readonly audiences: readonly string[] | undefined
  readonly provider: Provider | undefined
  readonly clientId: string | undefined
  /** The gateway adds a client secret to token requests. */
  readonly hasClientSecret: boolean
}

const OPENID_CONFIGURATION = '/.well-known/openid-configuration'
const OAUTH_METADATA = '/.well-known/oauth-authorization-server'
/** Their metadata sends registrations to the gateway, which forwards them. */
const PASSES_REGISTRATION: ReadonlySet<Provider> = new Set(['Keycloak', 'Okta', 'Descope'])
const NAMES_AUDIENCE: ReadonlySet<Provider> = new Set(['Auth0', 'Okta'])
/** They describe the issuer itself, or ways around the endpoints of the gateway. */
const NOT_COPIED = [
  'signed_metadata',
  'pushed_authorization_request_endpoint',
  'require_pushed_authorization_requests',
  'mtls_endpoint_aliases',
  'authorization_response_iss_parameter_supported',
]
/** Their requests name the redirect URI of the client, which the provider does not get. */
const NOT_WITH_CALLBACK = [
  'client_id_metadata_document_supported',
  'request_parameter_supported',
  'request_uri_parameter_supported',
  'require_signed_request_object',
]

/**
 * Who is the authorization server for clients. `Issuer`: the issuer itself. `Gateway`: it has endpoints of its own for
 * what the issuer lacks. `UnlessUsable`: the gateway if the metadata of the issuer is not usable for MCP clients.
 */
export function authorizationServerOf(settings: ProviderSettings): 'Issuer' | 'Gateway' | 'UnlessUsable' {
  const { provider, clientId } = settings
  if (clientId !== undefined || provider === 'Entra') return 'Gateway'
  if (provider === undefined) return 'Issuer'
  return audienceParameter(settings) === undefined ? 'UnlessUsable' : 'Gateway'
}

/** Clients can register, or need not, and can use PKCE (MCP 2025-11-25, "Authorization"). */
export function isUsable(metadata: Metadata, { issuer }: ProviderSettings): boolean {
  const methods = metadata['code_challenge_methods_supported']
  return (
    metadata['issuer'] === issuer &&
    Array.isArray(methods) &&
    methods.includes('S256') &&
    typeof metadata['authorization_endpoint'] === 'string' &&
    typeof metadata['token_endpoint'] === 'string' &&
    (typeof metadata['registration_endpoint'] === 'string' ||
      metadata['client_id_metadata_document_supported'] === true)
  )
}

/** The places of the metadata, in the order in which they are tried. Empty: the issuer is not a URL. */
export function metadataUrls({ issuer, provider }: ProviderSettings): readonly string[] {
  const url = issuerUrl(issuer)
  if (url === undefined) return []
  const path = url.pathname.replace(/\/$/, '')
  const openid = `${url.origin}${path}${OPENID_CONFIGURATION}`
  if (provider === 'Entra') return [`${entraOrigin(url)}/${path.split('/')[1] ?? ''}/v2.0${OPENID_CONFIGURATION}`]
  if (provider === undefined || provider === 'Auth0') return [`${url.origin}${OAUTH_METADATA}${path}`, openid]
  return [openid]
}

/** Where registrations of clients are forwarded; undefined: nowhere. */
export function registrationUrl({ issuer, provider }: ProviderSettings, metadata: Metadata): string | undefined {
  const url = issuerUrl(issuer)
  if (url === undefined) return undefined
  const path = url.pathname.replace(/\/$/, '')
  const announced = metadata['registration_endpoint']
  const known = typeof announced === 'string' ? announced : undefined
  const ofKeycloak = `${url.origin}${path}/clients-registrations/openid-connect`
  if (provider === undefined) return known ?? ofKeycloak
  if (provider === 'Keycloak') return ofKeycloak
  if (provider === 'Okta') return `${url.origin}/oauth2/v1/clients`
  const ofDescope = provider === 'Descope' ? descopeRegistration(url.origin, path) : undefined
  return ofDescope ?? (sendsIssuer(metadata) ? known : undefined)
}

function descopeRegistration(origin: string, path: string): string | undefined {
  const [, project, server] = /\/agentic\/([^/]+)\/([^/]+)$/.exec(path) ?? []
  if (project === undefined || server === undefined) return undefined
  return `${origin}/v1/mgmt/mcp/client/${project}/${server}/register`
}

/**
 * The provider names itself in its responses to clients (RFC 9207), so they return through the gateway: clients compare
 * the name with the issuer of the metadata, which is the gateway.
 */
export function sendsIssuer(metadata: Metadata): boolean {
  return metadata['authorization_response_iss_parameter_supported'] === true
}

/** Authorization requests go through the gateway. */
export function hasAuthorizeEndpoint({ provider }: ProviderSettings, metadata: Metadata): boolean {
  return provider === 'Entra' || sendsIssuer(metadata)
}

/** Token requests go through the gateway. */
export function hasTokenEndpoint(settings: ProviderSettings, metadata: Metadata): boolean {
  return settings.hasClientSecret || hasAuthorizeEndpoint(settings, metadata)
}

export interface FacadePlaces {
  /** Issuer identifier of the gateway: the URL for which clients fetch the metadata (RFC 8414 section 3.3). */
  readonly issuer: string
  /** URL of the metadata at the gateway. */
  readonly here: string
}

/** The metadata of the gateway as an authorization server. */
export function facadeMetadata(metadata: Metadata, settings: ProviderSettings, places: FacadePlaces): Metadata {
  const changes = { issuer: places.issuer, ...endpoints(metadata, settings, places), ...methods(metadata, settings) }
  if (!sendsIssuer(metadata)) return { ...without(metadata, NOT_COPIED), ...changes }
  const ofCallback = {
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    authorization_response_iss_parameter_supported: true,
  }
  return { ...without(metadata, [...NOT_COPIED, ...NOT_WITH_CALLBACK]), ...changes, ...ofCallback }
}

function endpoints(metadata: Metadata, settings: ProviderSettings, { here }: FacadePlaces): Metadata {
  const { clientId, provider } = settings
  const isForwarded = (provider !== undefined && PASSES_REGISTRATION.has(provider)) || sendsIssuer(metadata)
  const isRegistering = clientId !== undefined || (isForwarded && registrationUrl(settings, metadata) !== undefined)
  const authorization = metadata['authorization_endpoint']
  return {
    ...(isRegistering && { registration_endpoint: here + ENDS.registration }),
    ...(typeof authorization === 'string' && { authorization_endpoint: withAudience(authorization, settings) }),
    ...(hasAuthorizeEndpoint(settings, metadata) && { authorization_endpoint: here + ENDS.authorize }),
    ...(hasTokenEndpoint(settings, metadata) && { token_endpoint: here + ENDS.token }),
  }
}

function methods(metadata: Metadata, settings: ProviderSettings): Metadata {
  const known = metadata['token_endpoint_auth_methods_supported']
  // The client of the gateway is public for its users.
  const isPublic = settings.clientId !== undefined && Array.isArray(known) && !known.includes('none')
  return {
    ...(isPublic && { token_endpoint_auth_methods_supported: [...known, 'none'] }),
    ...(hasAuthorizeEndpoint(settings, metadata) && { code_challenge_methods_supported: ['S256'] }),
  }
}

/** The authorization endpoint, with the parameter that some products need to issue a token for the right server. */
export function withAudience(endpoint: string, settings: ProviderSettings): string {
  const audience = audienceParameter(settings)
  return audience === undefined ? endpoint : withQuery(endpoint, `audience=${encodeURIComponent(audience)}`)
}

export function withQuery(endpoint: string, query: string): string {
  return `${endpoint}${endpoint.includes('?') ? '&' : '?'}${query}`
}

function audienceParameter({ provider, audiences }: ProviderSettings): string | undefined {
  return provider !== undefined && NAMES_AUDIENCE.has(provider) ? audiences?.[0] : undefined
}

function without(metadata: Metadata, names: readonly string[]): Metadata {
  return Object.fromEntries(Object.entries(metadata).filter(([name]) => !names.includes(name)))
}

function issuerUrl(issuer: string): URL | undefined {
  const url = URL.parse(issuer)
  return url !== null && ['http:', 'https:'].includes(url.protocol) ? url : undefined
}

/** Tokens of the first version name an issuer that serves no metadata. */
function entraOrigin({ hostname, origin }: URL): string {
  return hostname === 'sts.windows.net' ? 'https://login.microsoftonline.com' : origin
}
