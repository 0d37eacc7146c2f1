// Manifests of a gateway with a planted secret in every field that can hold one.
import { createHash } from 'node:crypto'
import { stringify } from 'yaml'
import type { KeyPair } from '#test/certificates.ts'

/** All have the same beginning, so one search finds all of them; the manifests contain this text nowhere else. */
export const SECRET = {
  apiKey: 'planted-api-key-1',
  queryKey: 'planted-query-key-2',
  password: 'planted-password-3',
  backendSecret: 'planted-backend-secret-4',
  backendQuery: 'planted-backend-query-5',
  backendCookie: 'planted-backend-cookie-6',
  inlineKey: 'planted-inline-key-7',
  headerValue: 'planted-header-value-8',
  modelKey: 'planted-model-key-9',
  wrongKey: 'planted-wrong-key-10',
  wrongToken: 'planted-wrong-token-11',
  clientSecret: 'planted-client-secret-13',
  otlpHeader: 'planted-otlp-header-14',
  cookieKey: 'planted-cookie-key-15',
  headerKey: 'planted-header-key-16',
  expressionKey: 'planted-expression-key-17',
  tunnelKey: 'planted-tunnel-key-18',
  queryToken: 'planted-query-token-19',
  wrongPassword: 'planted-wrong-password-20',
  keySetMember: 'planted-key-set-member-21',
  awsAccessKey: 'planted-aws-access-key-22',
  awsSecretKey: 'planted-aws-secret-key-23',
  awsSessionToken: 'planted-aws-session-token-24',
  oauthSecret: 'planted-oauth-secret-25',
  idToken: 'planted-id-token-26',
  azureClient: 'planted-azure-client-27',
  azureTenant: 'planted/azure-tenant-28',
  azureSecret: 'planted-azure-secret-29',
  googleKey: 'planted-google-key-30',
  azureToken: 'planted-azure-token-31',
  googleToken: 'planted-google-token-32',
  subjectToken: 'planted-subject-token-33',
  actorToken: 'planted-actor-token-34',
  issuedToken: 'planted-issued-token-35',
  azureCertificate: 'planted-azure-certificate-36',
} as const

export interface Ports {
  readonly http: number
  readonly https: number
  readonly upstream: number
  readonly collector: number
  /** A proxy that accepts CONNECT. */
  readonly egress: number
}

interface Names {
  readonly name: string
  readonly namespace: string
}

const named = (name: string): Names => ({ name, namespace: 'default' })
const GW = 'gw.dev/v1alpha1'
const API = 'gateway.networking.k8s.io/v1'
/** Each has its own backend, or the echo server. */
const ROUTES = {
  key: 'echo',
  query: 'echo',
  basic: 'echo',
  inline: 'inline',
  model: 'model',
  open: 'echo',
  secure: 'secure',
  cookie: 'echo',
  header: 'echo',
  expression: 'echo',
  jwt: 'echo',
  'jwt-query': 'echo',
  'jwt-cookie': 'echo',
  'jwt-expression': 'echo',
  tunnel: 'echo',
  aws: 'aws',
}
/** By the backends of the same names. */
const CLOUDS = {
  azure: { cloudB: { secretRef: { name: 'azure-keys' } } },
  'azure-certificate': { cloudB: { secretRef: { name: 'azure-certificate' } } },
  'azure-managed': { cloudB: { managedIdentity: { clientId: 'c', objectId: '', resourceId: '' } } },
  google: { cloudC: { secretRef: { name: 'google-keys' } } },
  'google-ambient': { cloudC: {} },
}

export interface Planted {
  readonly ports: Ports
  readonly tls: KeyPair
  /** Public keys of the issuer of tokens. */
  readonly jwks: string
}

export function plantedManifests({ ports, tls, jwks }: Planted): string {
  const { http, https, upstream, collector, egress } = ports
  const objects = [
    { apiVersion: API, kind: 'GatewayClass', metadata: { name: 'gw' }, spec: { controllerName: 'gw.dev/controller' } },
    { apiVersion: API, kind: 'Gateway', metadata: named('edge'), spec: gatewaySpec(http, https) },
    secret('tls', { 'tls.crt': tls.certificate, 'tls.key': tls.privateKey }),
    // A bundle of authorities with the private key beside the certificate: some tools write it.
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: named('authority'), data: { 'ca.crt': withKey(tls) } },
    secret('api-keys', { one: SECRET.apiKey }),
    secret('query-keys', { one: JSON.stringify({ key: SECRET.queryKey, metadata: { team: 'a' } }) }),
    secret('cookie-keys', { one: SECRET.cookieKey }),
    secret('header-keys', { one: SECRET.headerKey }),
    secret('expression-keys', { one: SECRET.expressionKey }),
    secret('tunnel-keys', { Authorization: SECRET.tunnelKey }),
    secret('backend-keys', { Authorization: `Bearer ${SECRET.backendSecret}` }),
    secret('more-keys', { query: SECRET.backendQuery, cookie: SECRET.backendCookie }),
    secret('aws-keys', {
      accessKey: SECRET.awsAccessKey,
      secretKey: SECRET.awsSecretKey,
      sessionToken: SECRET.awsSessionToken,
    }),
    // The libraries reject the tenant, and cannot sign with the key: no endpoint is asked.
    secret('azure-keys', {
      clientID: SECRET.azureClient,
      tenantID: SECRET.azureTenant,
      clientSecret: SECRET.azureSecret,
    }),
    secret('azure-certificate', {
      clientID: SECRET.azureClient,
      tenantID: SECRET.azureTenant,
      clientCertificate: SECRET.azureCertificate,
    }),
    secret('google-keys', {
      'credentials.json': JSON.stringify({
        type: 'service_account',
        client_email: 'planted@example.com',
        private_key: SECRET.googleKey,
      }),
    }),
    secret('model-keys', { Authorization: SECRET.modelKey }),
    secret('users', { '.htaccess': `ann:{SHA}${createHash('sha1').update(SECRET.password).digest('base64')}\n` }),
    backend('echo', { static: { host: '127.0.0.1', port: upstream } }),
    backend('inline', {
      static: { host: '127.0.0.1', port: upstream },
      policies: { auth: { key: SECRET.inlineKey }, tls: undefined },
    }),
    backend('aws', {
      static: { host: '127.0.0.1', port: upstream },
      policies: {
        auth: { cloudA: { secretRef: { name: 'aws-keys' }, serviceName: 'execute-api', region: 'eu-west-1' } },
      },
    }),
    ...Object.entries(CLOUDS).map(([name, auth]) =>
      backend(name, { static: { host: '127.0.0.1', port: upstream }, policies: { auth } }),
    ),
    // The server does not use TLS: the certificate of the proxy is loaded, and the request fails.
    backend('secure', {
      static: { host: '127.0.0.1', port: upstream },
      policies: {
        tls: {
          mtlsCertificateRef: [{ name: 'tls' }],
          caCertificateRefs: [{ name: 'authority' }],
          insecureSkipVerify: 'Hostname',
        },
      },
    }),
    backend('egress', {
      static: { host: '127.0.0.1', port: egress },
      policies: { auth: { secretRef: { name: 'tunnel-keys' } } },
    }),
    backend('collector', { static: { host: '127.0.0.1', port: collector } }),
    backend('model', {
      ai: { provider: { p1: { model: 'm' }, host: '127.0.0.1', port: upstream } },
      policies: { auth: { secretRef: { name: 'model-keys' } } },
    }),
    { apiVersion: API, kind: 'HTTPRoute', metadata: named('all'), spec: routeSpec(ROUTES) },
    // A route has at most 16 rules.
    {
      apiVersion: API,
      kind: 'HTTPRoute',
      metadata: named('clouds'),
      spec: routeSpec(Object.fromEntries(Object.keys(CLOUDS).map((name) => [name, name]))),
    },
    ...policies(),
    ...locations(withPrivateMembers(jwks, SECRET.keySetMember)),
  ]
  return objects.map((object) => stringify(object)).join('---\n')
}

/** A key set whose owner also published the private parts of its keys. */
export function withPrivateMembers(jwks: string, value: string): string {
  const { keys } = JSON.parse(jwks) as { keys: readonly object[] } // testIssuer created it.
  const members = Object.fromEntries(['d', 'p', 'q', 'dp', 'dq', 'qi', 'k'].map((name) => [name, value]))
  return JSON.stringify({ keys: keys.map((key) => ({ ...key, ...members, oth: [{ r: value }] })) })
}

export function withKey({ certificate, privateKey }: KeyPair): string {
  return `${privateKey}\n${certificate}\n`
}

function gatewaySpec(http: number, https: number): object {
  return {
    gatewayClassName: 'gw',
    listeners: [
      { name: 'http', port: http, protocol: 'HTTP' },
      { name: 'https', port: https, protocol: 'HTTPS', tls: { certificateRefs: [{ name: 'tls' }] } },
    ],
  }
}

function secret(name: string, stringData: Readonly<Record<string, string>>): object {
  return { apiVersion: 'v1', kind: 'Secret', metadata: named(name), stringData }
}

function backend(name: string, spec: object): object {
  return { apiVersion: GW, kind: 'GwBackend', metadata: named(name), spec }
}

function routeSpec(routes: Readonly<Record<string, string>>): object {
  return {
    parentRefs: [{ name: 'edge' }],
    rules: Object.entries(routes).map(([name, own]) => ({
      name,
      matches: [{ path: { type: 'PathPrefix', value: `/${name}` } }],
      backendRefs: [{ group: 'gw.dev', kind: 'GwBackend', name: own }],
    })),
  }
}

function policy(name: string, target: object, spec: object): object {
  const targetRefs = [{ group: 'gateway.networking.k8s.io', ...target }]
  return { apiVersion: GW, kind: 'GwPolicy', metadata: named(name), spec: { targetRefs, ...spec } }
}

function onRule(name: string, spec: object): object {
  return policy(name, { kind: 'HTTPRoute', name: 'all', sectionName: name }, spec)
}

function policies(): object[] {
  const read = [
    { name: 'uri', expression: 'request.uri' },
    { name: 'target', expression: 'request.pathAndQuery' },
    { name: 'sent', expression: 'flatten(request.headers)' },
    { name: 'json', expression: 'toJson(request.headers)' },
    { name: 'key', expression: 'apiKey.key' },
    { name: 'all', expression: 'toJson(apiKey)' },
  ]
  const collector = { backendRef: { group: 'gw.dev', kind: 'GwBackend', name: 'collector' } }
  return [
    policy(
      'telemetry',
      { kind: 'Gateway', name: 'edge' },
      {
        frontend: {
          accessLog: { attributes: { add: read }, otlp: collector },
          tracing: { ...collector, randomSampling: 'true', attributes: { add: read } },
          metrics: { attributes: { add: [{ name: 'target', expression: 'request.pathAndQuery' }] } },
        },
      },
    ),
    onRule('key', {
      traffic: {
        apiKeyAuthentication: { secretRef: { name: 'api-keys' } },
        headerModifiers: { request: { set: [{ name: 'x-api-key', value: SECRET.headerValue }] } },
      },
    }),
    onRule('query', {
      traffic: {
        apiKeyAuthentication: { secretRef: { name: 'query-keys' }, location: { queryParameter: { name: 'k' } } },
      },
    }),
    onRule('basic', { traffic: { basicAuthentication: { secretRef: { name: 'users' } } } }),
    onRule('open', {
      backend: {
        auth: {
          secretRef: { name: 'backend-keys' },
          credentials: [
            { location: { queryParameter: { name: 'sig' } }, secretRef: { name: 'more-keys', key: 'query' } },
            { location: { cookie: { name: 'sid' } }, secretRef: { name: 'more-keys', key: 'cookie' } },
          ],
        },
      },
    }),
  ]
}

/** For each scheme, the places that the policies above do not have. */
function locations(jwks: string): object[] {
  const apiKey = (secretName: string, location: object): object => ({
    traffic: { apiKeyAuthentication: { secretRef: { name: secretName }, location } },
  })
  const jwt = (more: object): object => ({
    traffic: { jwtAuthentication: { providers: [{ issuer: ISSUER, jwks: { inline: jwks } }], ...more } },
  })
  return [
    onRule('cookie', apiKey('cookie-keys', { cookie: { name: 'session' } })),
    onRule('header', apiKey('header-keys', { header: { name: 'x-team', prefix: 'Key ' } })),
    onRule('expression', apiKey('expression-keys', { expression: 'request.headers["x-parts"].split("/")[1]' })),
    onRule('jwt', { ...jwt({}), backend: { auth: { passthrough: {} } } }),
    onRule('jwt-query', jwt({ location: { queryParameter: { name: 'jwt' } } })),
    onRule('jwt-cookie', jwt({ location: { cookie: { name: 'jwt' } } })),
    onRule('jwt-expression', jwt({ location: { expression: 'request.headers["x-jwt"]' } })),
    onRule('tunnel', { backend: { tunnel: { backendRef: { group: 'gw.dev', kind: 'GwBackend', name: 'egress' } } } }),
  ]
}

export const ISSUER = 'https://issuer.example'
