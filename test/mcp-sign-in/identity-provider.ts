// A real authorization server (oidc-provider) on loopback with the paths and differences of a product. The library
// checks clients, redirect URIs, PKCE, codes and resources, and shows the pages for login and consent.
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { createServer, type RequestListener } from 'node:http'
import { closeServer, listening } from '#test/ports.ts'
import type { Vendor } from './vendors.ts'

/** What is used of the library, which has no types. */
interface Library {
  readonly default: new (issuer: string, configuration: object) => Provider
}

interface Provider {
  use(middleware: (context: Context, next: () => Promise<void>) => Promise<void>): void
  callback(): RequestListener
}

interface Context {
  path: string
  url: string
  method: string
  status: number
  body: unknown
  readonly req: { readonly headers: Readonly<Record<string, string | undefined>> }
  readonly response: { get(name: string): string | undefined; set(name: string, value: string): void }
}

export interface IdentityProvider {
  readonly vendor: Vendor
  readonly origin: string
  readonly issuer: string
  readonly jwksUrl: string
  readonly tokenUrl: string
  /** `METHOD path` of each request so far. */
  readonly requests: readonly string[]
  stop(): void
}

export interface ProviderOptions {
  /** Default: one that the system assigns. */
  readonly port?: number
  /** URL of the MCP server: audience of tokens whose request names none. */
  readonly resource: string
  /** Of the client that the administrator created. */
  readonly redirectUris?: readonly string[]
  /** Claims of each access token besides those of the library. */
  readonly claims?: (accountId: string | undefined, clientId: string) => object
}

/** Of the client for the client credentials grant. */
export const MACHINE = { id: 'machine', secret: 'secret of machine' } as const
export const SCOPES = ['tools:read', 'tools:call'] as const
const library = 'oidc-provider'

export async function startIdentityProvider(vendor: Vendor, options: ProviderOptions): Promise<IdentityProvider> {
  const requests: string[] = []
  let listener: RequestListener | undefined
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${new URL(request.url ?? '/', 'http://idp').pathname}`)
    listener?.(request, response)
  })
  const origin = `http://127.0.0.1:${await listening(server, options.port)}`
  const issuer = origin + vendor.issuer
  const { default: Constructor } = (await import(library)) as Library // as described above
  const provider = new Constructor(issuer, configurationOf(vendor, options))
  provider.use((context, next) => adapt(context, next, { vendor, origin }))
  listener = provider.callback()
  const below = origin + mountOf(vendor)
  return {
    vendor,
    origin,
    issuer,
    jwksUrl: `${below}/jwks`,
    tokenUrl: origin + vendor.token,
    requests,
    stop: () => closeServer(server),
  }
}

function mountOf({ issuer }: Vendor): string {
  return issuer.replace(/\/$/, '')
}

/** From the paths of the product to those of the library, and its answers back. */
async function adapt(
  context: Context,
  next: () => Promise<void>,
  { vendor, origin }: { vendor: Vendor; origin: string },
): Promise<void> {
  const path = libraryPath(context.path, vendor)
  if (path === undefined) {
    context.status = 404
    return
  }
  context.path = path
  const refusal = path === '/auth' ? adaptAuthorization(context, vendor) : undefined
  if (refusal !== undefined) {
    context.status = 400
    context.body = refusal
    return
  }
  await next()
  if (path === '/.well-known/openid-configuration') context.body = metadataOf(context.body, vendor, origin)
  const location = context.response.get('location') ?? ''
  if (!vendor.sendsIssuer && location !== '') {
    const url = new URL(location, origin)
    url.searchParams.delete('iss')
    context.response.set('location', url.href)
  }
}

function libraryPath(path: string, vendor: Vendor): string | undefined {
  const known = new Map([
    [vendor.authorization, '/auth'],
    [vendor.token, '/token'],
    [vendor.registration, '/reg'],
    [vendor.metadata, '/.well-known/openid-configuration'],
  ])
  const mapped = known.get(path)
  if (mapped !== undefined) return mapped
  const mount = mountOf(vendor)
  const rest = path.startsWith(`${mount}/`) ? path.slice(mount.length) : path
  // Pages of the library, and its keys; the other paths are those of the product.
  return /^\/(?:auth|interaction|jwks)(?:\/|$)/.test(rest) ? rest : undefined
}

/** An object: the error of the product. */
function adaptAuthorization(context: Context, { resource, hasAudienceParameter }: Vendor): object | undefined {
  const url = new URL(context.url, 'http://idp')
  const { searchParams: query } = url
  if (resource === 'rejects' && query.has('resource')) {
    return { error: 'invalid_target', error_description: 'AADSTS9010010: the parameter resource is not supported' }
  }
  if (resource === 'ignores') query.delete('resource')
  const audience = query.get('audience')
  if (hasAudienceParameter) query.set('resource', audience ?? 'urn:opaque')
  context.url = url.pathname + url.search
  return undefined
}

function metadataOf(body: unknown, vendor: Vendor, origin: string): object {
  const metadata: Record<string, unknown> = {
    ...(body as object), // the library makes it
    authorization_endpoint: origin + vendor.authorization,
    token_endpoint: origin + vendor.token,
    registration_endpoint: `${origin}${vendor.registration ?? ''}`,
  }
  if (!vendor.announcesRegistration) delete metadata['registration_endpoint']
  if (!vendor.sendsIssuer) delete metadata['authorization_response_iss_parameter_supported']
  if (!vendor.announcesPkce) delete metadata['code_challenge_methods_supported']
  return metadata
}

function configurationOf(vendor: Vendor, { resource, redirectUris = [], claims }: ProviderOptions): object {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { clientId, clientSecret } = vendor
  const isPublic = clientSecret === undefined
  const own = {
    client_id: clientId,
    ...(!isPublic && { client_secret: clientSecret }),
    token_endpoint_auth_method: isPublic ? 'none' : 'client_secret_post',
    application_type: 'native',
    redirect_uris: redirectUris,
    grant_types: ['authorization_code', 'refresh_token'],
  }
  const machine = {
    client_id: MACHINE.id,
    client_secret: MACHINE.secret,
    redirect_uris: [],
    response_types: [],
    grant_types: ['client_credentials'],
  }
  const algorithm = { id_token_signed_response_alg: 'ES256' }
  return {
    clients: [machine, ...(clientId === undefined ? [] : [own])].map((client) => ({ ...client, ...algorithm })),
    clientDefaults: algorithm,
    scopes: ['openid', 'offline_access', ...SCOPES],
    findAccount: (_context: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id }) }),
    pkce: { required: () => true },
    cookies: { keys: [randomUUID()] },
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid: 'issuer', alg: 'ES256', use: 'sig' }] },
    extraTokenClaims: (_context: unknown, token: { accountId?: string; clientId: string }) =>
      claims?.(token.accountId, token.clientId),
    features: {
      devInteractions: { enabled: true },
      clientCredentials: { enabled: true },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => (vendor.resource === 'honours' || vendor.hasAudienceParameter ? undefined : resource),
        useGrantedResource: () => true,
        getResourceServerInfo: (_context: unknown, audience: string) => ({
          scope: SCOPES.join(' '),
          audience,
          accessTokenFormat: audience.startsWith('urn:') ? 'opaque' : 'jwt',
          jwt: { sign: { alg: 'ES256' } },
        }),
      },
    },
  }
}
