// The paths and differences of the products that the gateway adapts, for the emulated identity providers.

/** What a product does with the parameter `resource` of RFC 8707. */
type ResourceParameter = 'honours' | 'ignores' | 'rejects'

export interface Vendor {
  readonly name: string
  /** Key of `provider` in standalone files. */
  readonly adapter: 'auth0' | 'keycloak' | 'okta' | 'descope' | 'authentik' | 'entra' | undefined
  /** Path of the issuer. */
  readonly issuer: string
  readonly authorization: string
  readonly token: string
  /** Path that registers clients. undefined: an administrator creates them. */
  readonly registration: string | undefined
  /** The metadata names the path that registers clients. */
  readonly announcesRegistration: boolean
  readonly resource: ResourceParameter
  /** The parameter `audience` of the authorization request selects the audience of the token. */
  readonly hasAudienceParameter: boolean
  /** Authorization responses have the parameter `iss` (RFC 9207), and the metadata announces it. */
  readonly sendsIssuer: boolean
  readonly announcesPkce: boolean
  /** Path of the metadata, below the origin. */
  readonly metadata: string
  /** The gateway has a client of its own, created by the administrator: its identifier. */
  readonly clientId?: string
  readonly clientSecret?: string
}

const OPENID = '/.well-known/openid-configuration'
const COMMON = {
  registration: undefined,
  announcesRegistration: false,
  resource: 'ignores',
  hasAudienceParameter: false,
  sendsIssuer: false,
  announcesPkce: true,
} as const

const KEYCLOAK: Vendor = {
  ...COMMON,
  name: 'keycloak',
  adapter: 'keycloak',
  issuer: '/realms/a',
  authorization: '/realms/a/protocol/openid-connect/auth',
  token: '/realms/a/protocol/openid-connect/token',
  registration: '/realms/a/clients-registrations/openid-connect',
  announcesRegistration: true,
  sendsIssuer: true,
  metadata: `/realms/a${OPENID}`,
}

export const VENDORS: readonly Vendor[] = [
  {
    ...COMMON,
    name: 'none',
    adapter: undefined,
    issuer: '',
    authorization: '/auth',
    token: '/token',
    registration: '/reg',
    announcesRegistration: true,
    resource: 'honours',
    sendsIssuer: true,
    metadata: OPENID,
  },
  {
    ...COMMON,
    name: 'auth0',
    adapter: 'auth0',
    issuer: '/',
    authorization: '/authorize',
    token: '/oauth/token',
    registration: '/oidc/register',
    announcesRegistration: true,
    hasAudienceParameter: true,
    metadata: '/.well-known/oauth-authorization-server',
  },
  KEYCLOAK,
  { ...KEYCLOAK, name: 'keycloak-client', registration: undefined, announcesRegistration: false, clientId: 'ours' },
  { ...KEYCLOAK, name: 'keycloak-silent', announcesRegistration: false },
  {
    ...COMMON,
    name: 'okta',
    adapter: 'okta',
    issuer: '/oauth2/default',
    authorization: '/oauth2/default/v1/authorize',
    token: '/oauth2/default/v1/token',
    registration: '/oauth2/v1/clients',
    hasAudienceParameter: true,
    metadata: `/oauth2/default${OPENID}`,
  },
  {
    ...COMMON,
    name: 'descope',
    adapter: 'descope',
    issuer: '/v1/apps/agentic/P1/S1',
    authorization: '/v1/apps/agentic/P1/S1/authorize',
    token: '/v1/apps/agentic/P1/S1/token',
    registration: '/v1/mgmt/mcp/client/P1/S1/register',
    resource: 'honours',
    metadata: `/v1/apps/agentic/P1/S1${OPENID}`,
  },
  {
    ...COMMON,
    name: 'authentik',
    adapter: 'authentik',
    issuer: '/application/o/tools/',
    authorization: '/application/o/authorize/',
    token: '/application/o/token/',
    metadata: `/application/o/tools${OPENID}`,
    clientId: 'ours',
  },
  {
    ...COMMON,
    name: 'entra',
    adapter: 'entra',
    issuer: '/tenant/v2.0',
    authorization: '/tenant/oauth2/v2.0/authorize',
    token: '/tenant/oauth2/v2.0/token',
    resource: 'rejects',
    announcesPkce: false,
    metadata: `/tenant/v2.0${OPENID}`,
    clientId: 'ours',
    clientSecret: 'planted-secret-of-entra',
  },
]
