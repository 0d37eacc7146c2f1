// Every default that the specification names (chapters Frontend, Traffic, BackendFull, Authentication, Limits) against
// the schema, against the operator's output for an unset field, and against the proxy's own numbers.
import { describe, expect, it } from 'vitest'
import { DEFAULT_KEEPALIVE } from '#api/ir/keepalive.ts'
import type { Policy } from '#api/ir/types.gen.ts'
import { applyDefaults } from '#api/validate/validate.ts'
import type { KubeObject } from '#operator/translate/kube.ts'
import { snapshotOf } from '#operator/translate/snapshot.ts'
import { translate } from '#operator/translate/cluster/translate.ts'
import { CPU_SECONDS } from '#api/profile/pprof-request.ts'
import { EVICTION_MS } from '#proxy/backend/health.ts'
import { CONNECTION_DEFAULTS } from '#proxy/upstream/connection-defaults.ts'
import { DEFAULT_PATHS } from '#proxy/config/compile-telemetry.ts'
import { DEFAULT_LIMITS } from '#proxy/http/handler.ts'
import { connectionWindowOf, headerBytesMaxOf, sessionOptions } from '#proxy/http2/limits.ts'
import { ENTRIES_MAX } from '#proxy/policy/external/ext-auth/cache.ts'
import { DEFAULT_REQUEST_HEADERS } from '#proxy/policy/external/ext-auth/http.ts'
import { modesOf } from '#proxy/policy/external/ext-proc/modes.ts'
import { BUFFERED_BYTES_MAX } from '#proxy/policy/external/ext-proc/side.ts'
import { httpAlpn } from '#proxy/tls/alpn.ts'
import { HANDSHAKE_TIMEOUT_MS } from '#proxy/tls/settings.ts'
import { policySchema, type Schema } from './settings.ts'

const EXT_PROC = {
  requestBodyMode: 'FullDuplexStreamed',
  responseBodyMode: 'FullDuplexStreamed',
  requestHeaderMode: 'Send',
  responseHeaderMode: 'Send',
  requestTrailerMode: 'Send',
  responseTrailerMode: 'Send',
} as const

const KEEPALIVE = { retries: 9, time: '180s', interval: '180s' }
const TOKEN_CACHE = { 'cache.inMemory.maxEntries': 8192, 'cache.inMemory.defaultTtl': '300s' }
const CLIENT_AUTH = { 'clientAuth.privateKeyJwt.alg': 'RS256', 'clientAuth.method': 'ClientSecretBasic' }

function under(path: string, values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [`${path}.${name}`, value]))
}

/**
 * Defaults of the schema, without kinds and groups of references, duplicates in conditional entries, and `backend.ai`.
 */
const SCHEMA_DEFAULTS: Readonly<Record<string, unknown>> = {
  ...under('frontend.tcp.keepalive', KEEPALIVE),
  'frontend.networkAuthorization.action': 'Allow',
  'frontend.proxyProtocol.version': 'V2',
  'frontend.proxyProtocol.mode': 'Strict',
  'frontend.accessLog.otlp.protocol': 'GRPC',
  'frontend.tracing.protocol': 'GRPC',
  'traffic.phase': 'PostRouting',
  'traffic.authorization.action': 'Allow',
  'traffic.jwtAuthentication.mode': 'Strict',
  'traffic.jwtAuthentication.providers[].jwks.remote.cacheDuration': '5m',
  'traffic.basicAuthentication.mode': 'Strict',
  'traffic.basicAuthentication.realm': 'Restricted',
  'traffic.apiKeyAuthentication.mode': 'Strict',
  'traffic.buffer.request.failureMode': 'FailClosed',
  'traffic.buffer.response.failureMode': 'FailClosed',
  'traffic.cors.maxAge': 5,
  'traffic.extAuth.cache.maxEntries': 10_000,
  ...under('traffic.extProc.processingOptions', { ...EXT_PROC, allowModeOverride: false }),
  'traffic.rateLimit.local[].burst': 0,
  'traffic.rateLimit.global.failureMode': 'FailClosed',
  'traffic.rateLimit.global.descriptors[].unit': 'Requests',
  ...under('backend.tcp.keepalive', KEEPALIVE),
  'backend.extAuth.failureMode': 'FailClosed',
  'backend.extAuth.cache.maxEntries': 10_000,
  'backend.mcp.authorization.action': 'Allow',
  'backend.mcp.authentication.mode': 'Strict',
  'backend.mcp.authentication.jwks.cacheDuration': '5m',
  'backend.mcp.guardrails.processors[].remote.failureMode': 'FailClosed',
  'backend.auth.cloudC.type': 'AccessToken',
  ...under('backend.auth.oauthTokenExchange', {
    path: '/',
    grantType: 'TokenExchange',
    'subjectToken.tokenType': 'AccessToken',
    'actorToken.tokenType': 'AccessToken',
    ...CLIENT_AUTH,
    ...TOKEN_CACHE,
  }),
  ...under('backend.auth.crossAppAccess', TOKEN_CACHE),
  ...under('backend.auth.crossAppAccess.identityProvider', { path: '/', ...CLIENT_AUTH }),
  ...under('backend.auth.crossAppAccess.resourceAuthorizationServer', { path: '/', ...CLIENT_AUTH }),
}

function defaultsOf(schema: Schema & { readonly default?: unknown }, path = ''): [string, unknown][] {
  const own: [string, unknown][] = schema.default === undefined ? [] : [[path, schema.default]]
  const below = Object.entries(schema.properties ?? {}).flatMap(([name, part]) =>
    defaultsOf(part, path === '' ? name : `${path}.${name}`),
  )
  const items = schema.items === undefined ? [] : defaultsOf(schema.items, `${path}[]`)
  return [...own, ...below, ...items]
}

const LEFT_OUT = /\.(?:kind|group)$|conditional|^backend\.ai\./

it('the schema has exactly these defaults', () => {
  const all = defaultsOf(policySchema()).filter(([path]) => !LEFT_OUT.test(path))
  expect(Object.fromEntries(all)).toEqual(SCHEMA_DEFAULTS)
})

const SERVICE = { backendRef: { name: 'svc', port: 80 } }
const ENTRY = { entries: [{ name: 'path', expression: 'request.path' }] }
const ISSUER = { issuer: 'i', jwks: { inline: '{"keys":[]}' } }

interface Row {
  readonly section: 'frontend' | 'traffic' | 'backend'
  /** The smallest valid value. */
  readonly value: object
  /** A part of the proxy's configuration for it. */
  readonly rendered: object
}

const keepalive = { retries: 9, timeMs: 180_000, intervalMs: 180_000 }
const ROWS: readonly Row[] = [
  { section: 'frontend', value: { tcp: { keepalive: {} } }, rendered: { tcp: { keepalive } } },
  { section: 'frontend', value: { proxyProtocol: {} }, rendered: { proxyProtocol: { version: 'V2', mode: 'Strict' } } },
  { section: 'frontend', value: { tracing: SERVICE }, rendered: { tracing: { target: { protocol: 'GRPC' } } } },
  {
    section: 'frontend',
    value: { accessLog: { otlp: SERVICE } },
    rendered: { accessLog: { otlp: { target: { protocol: 'GRPC' } } } },
  },
  {
    section: 'frontend',
    value: { networkAuthorization: { policy: { matchExpressions: ['true'] } } },
    rendered: { networkAuthorization: { action: 'Allow' } },
  },
  {
    section: 'traffic',
    value: { authorization: { policy: { matchExpressions: ['true'] } } },
    rendered: { authorization: { action: 'Allow' } },
  },
  {
    section: 'traffic',
    value: { jwtAuthentication: { providers: [ISSUER] } },
    rendered: { jwtAuthentication: { mode: 'Strict' } },
  },
  {
    section: 'traffic',
    value: { basicAuthentication: { secretRef: { name: 'users' } } },
    rendered: { basicAuthentication: { mode: 'Strict', realm: 'Restricted', users: { secret: 'n/users/.htaccess' } } },
  },
  {
    section: 'traffic',
    value: { apiKeyAuthentication: { secretRef: { name: 'users' } } },
    rendered: { apiKeyAuthentication: { mode: 'Strict' } },
  },
  {
    section: 'traffic',
    value: { extAuth: { ...SERVICE, grpc: {} } },
    rendered: { extAuth: { failureMode: 'FailClosed' } },
  },
  { section: 'traffic', value: { extProc: SERVICE }, rendered: { extProc: { failureMode: 'FailClosed' } } },
  {
    section: 'traffic',
    value: { rateLimit: { global: { ...SERVICE, domain: 'd', descriptors: [ENTRY] } } },
    rendered: { rateLimitGlobal: { failureMode: 'FailClosed', descriptors: [{ unit: 'Requests' }] } },
  },
  {
    section: 'traffic',
    value: { rateLimit: { local: [{ requests: 7, unit: 'Seconds' }] } },
    rendered: { rateLimit: { limits: [{ tokensPerFill: 7, fillIntervalMs: 1000, tokensMax: 7 }] } },
  },
  {
    section: 'traffic',
    value: { buffer: { request: {} } },
    rendered: { buffer: { request: { failureMode: 'FailClosed' } } },
  },
  { section: 'backend', value: { tcp: { keepalive: {} } }, rendered: { tcp: { keepalive } } },
  {
    section: 'backend',
    value: { auth: { secretRef: { name: 'users' } } },
    rendered: { auth: { key: { secret: 'n/users/Authorization' } } },
  },
  {
    section: 'backend',
    value: { extAuth: { ...SERVICE, http: {} } },
    rendered: { extAuth: { failureMode: 'FailClosed' } },
  },
  {
    section: 'backend',
    value: { mcp: { authorization: { policy: { matchExpressions: ['true'] } } } },
    rendered: { mcpAuthorization: { action: 'Allow' } },
  },
]

const ROUTES = 'gateway.networking.k8s.io'

function made(apiVersion: string, kind: string, name: string, rest: object): KubeObject {
  const metadata = { namespace: 'n', name, generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' }
  return { apiVersion, kind, metadata, ...rest }
}

/** The payload of the policy, all of its parts together. */
function rendered({ section, value }: Row, hasDefaults: boolean): unknown {
  const target = section === 'frontend' ? { kind: 'Gateway', name: 'gw' } : { kind: 'HTTPRoute', name: 'r' }
  const spec = { targetRefs: [{ group: ROUTES, ...target }], [section]: value }
  const objects = [
    made(`${ROUTES}/v1`, 'GatewayClass', 'gw', { spec: { controllerName: 'gw.dev/controller' } }),
    made(`${ROUTES}/v1`, 'Gateway', 'gw', {
      spec: { gatewayClassName: 'gw', listeners: [{ name: 'l', port: 80, protocol: 'HTTP' }] },
    }),
    made('v1', 'Service', 'svc', { spec: { ports: [{ port: 80 }] } }),
    made('v1', 'Secret', 'users', {
      data: { '.htaccess': Buffer.from('a:{SHA}x').toString('base64'), Authorization: 'eA==' },
    }),
    made(`${ROUTES}/v1`, 'HTTPRoute', 'r', {
      spec: { parentRefs: [{ name: 'gw' }], rules: [{ backendRefs: [{ name: 'svc', port: 80 }] }] },
    }),
  ].map((object) => applyDefaults<KubeObject>(object))
  const policy = made('gw.dev/v1alpha1', 'GwPolicy', 'p', { spec })
  const last = hasDefaults ? applyDefaults<KubeObject>(policy) : policy
  const settings = { controllerName: 'gw.dev/controller', className: 'gw', clusterDomain: 'cluster.local' }
  const policies = translate(snapshotOf([...objects, last]), settings).perGateway.get('n/gw')?.config.policies ?? []
  return Object.assign({}, ...policies.map(({ policy: payload }: Policy) => payload[section]))
}

describe('configuration of the proxy for an unset field', () => {
  it.each(ROWS.map((row) => [row.section, JSON.stringify(row.value), row] as const))(
    '%s %s',
    (_section, _value, row) => {
      expect(rendered(row, true)).toMatchObject(row.rendered)
      // From a schema without defaults, or a file without defaults applied.
      expect(rendered(row, false)).toMatchObject(row.rendered)
    },
  )
})

describe('behaviour of the proxy without a setting', () => {
  const MIB = 1024 * 1024
  const { settings } = sessionOptions(DEFAULT_LIMITS)
  it.each<[string, unknown, unknown]>([
    ['frontend.tcp.keepalive, backend.tcp.keepalive', DEFAULT_KEEPALIVE, { enabled: true, ...keepalive }],
    ['frontend.tls.handshakeTimeout', HANDSHAKE_TIMEOUT_MS, 15_000],
    ['frontend.tls.alpnProtocols', httpAlpn(undefined).protocols, ['h2', 'http/1.1']],
    ['frontend.http.maxBufferSize, traffic.buffer maxBytes', DEFAULT_LIMITS.bufferBytesMax, 2 * MIB],
    ['frontend.http.http1MaxHeaders', DEFAULT_LIMITS.headersMax, 100],
    ['frontend.http.http1IdleTimeout', DEFAULT_LIMITS.idleTimeoutMs, 600_000],
    ['frontend.http.http1HeaderCase', DEFAULT_LIMITS.preserveHeaderCase, false],
    ['frontend.http.maxConnectionDuration', DEFAULT_LIMITS.maxConnectionDurationMs, undefined],
    ['frontend.http.http2FrameSize', settings?.maxFrameSize, 16_384],
    ['frontend.http.http2MaxHeaderSize', headerBytesMaxOf(DEFAULT_LIMITS), 16_384],
    ['frontend.http.http2WindowSize', settings?.initialWindowSize, 65_535],
    ['frontend.http.http2ConnectionWindowSize', connectionWindowOf(DEFAULT_LIMITS), MIB],
    ['frontend.tracing.path', DEFAULT_PATHS.traces, '/v1/traces'],
    ['frontend.accessLog.otlp.path', DEFAULT_PATHS.logs, '/v1/logs'],
    ['traffic.extAuth.http.allowedRequestHeaders', DEFAULT_REQUEST_HEADERS, ['authorization']],
    ['traffic.extAuth.cache.maxEntries', ENTRIES_MAX, 10_000],
    ['traffic.extProc, Buffered modes', BUFFERED_BYTES_MAX, 8192],
    ['traffic.extProc.processingOptions, request', modesOf().request, modesOf(EXT_PROC).request],
    ['traffic.extProc.processingOptions, response', modesOf().response, modesOf(EXT_PROC).response],
    ['backend.tcp.connectTimeout', CONNECTION_DEFAULTS.connectTimeoutMs, 10_000],
    ['backend.health.eviction.duration', EVICTION_MS, 3000],
    ['/debug/pprof/profile seconds', CPU_SECONDS, { min: 1, max: 300, default: 10 }],
  ])('%s', (_field, actual, expected) => {
    expect(actual).toEqual(expected)
  })
})
