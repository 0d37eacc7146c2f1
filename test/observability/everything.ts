// One gateway with a route for everything in logs, metrics, expressions and traces: manifests, loaded as by `gw run`, a
// real proxy, the upstreams of the samples.
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { vi } from 'vitest'
import { stringify } from 'yaml'
import type { RenderedConfig } from '#api/ir/types.gen.ts'
import { loadSource } from '#cli/source.ts'
import { testIssuer, type TestIssuer } from '#proxy/auth/jwt.testing.ts'
import { stsServer } from '#proxy/credentials/cloud-a/servers.testing.ts'
import type { ModelCatalog } from '#proxy/llm/cost/catalog.ts'
import { offeredCatalog } from '#proxy/llm/cost/offered-catalog.ts'
import { startProxy, type RunningProxy } from '#proxy/main.ts'
import { authority, certificateFor, type KeyPair } from '#test/certificates.ts'
import { startUpstreams, type Upstreams } from '#test/conformance/suite/upstreams.ts'
import { closeServer, freePort, listening } from '#test/ports.ts'
import { ON_LOOPBACK } from '#proxy/main.testing.ts'
import { mediaServer } from './media-server.ts'

export interface Added {
  readonly name: string
  readonly expression: string
}

export interface Ports {
  readonly http: number
  readonly https: number
  readonly tcp: number
}

export interface Everything {
  readonly ports: Ports
  readonly proxy: RunningProxy
  readonly upstreams: Upstreams
  readonly issuer: TestIssuer
  /** Certificate and key of a client that the https listener trusts. */
  readonly client: KeyPair
  /** Entries of the log about requests and connections. */
  log(): readonly Readonly<Record<string, unknown>>[]
  /** The text of a scrape. */
  metrics(accept?: string): Promise<string>
  stop(): Promise<void>
}

export interface EverythingOptions {
  /** Fields of the log that expressions set. */
  readonly fields?: readonly Added[]
}

const GW = 'gw.dev/v1alpha1'
const API = 'gateway.networking.k8s.io/v1'
const ISSUER = 'https://idp.example.com'
export const API_KEY = 'key-of-team-core'
/** The htpasswd form of `ann:secret`. */
const USER = 'ann:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ='

const PRICES: ModelCatalog = new Map([
  ['openai', new Map([['demo-1', { rates: { input: 1n, outputAudio: 2n }, tiers: undefined, tags: [] }]])],
])

interface Input {
  readonly ports: Ports
  readonly upstreams: Upstreams
  /** Port of `mediaServer`. */
  readonly media: number
  readonly issuer: TestIssuer
  readonly server: KeyPair
  readonly ca: KeyPair
}

export async function startEverything({ fields = [] }: EverythingOptions = {}): Promise<Everything> {
  const folder = mkdtempSync(join(tmpdir(), 'gw-observability-'))
  const upstreams = await startUpstreams({ socketPath: join(folder, 'echo.sock'), port: () => 0 })
  const media = mediaServer()
  const mediaPort = await listening(media)
  const sts = await stsServer(new Map([['AKIAENV', 'env-secret']]))
  const aws = { AWS_ENDPOINT_URL_STS: sts.url, AWS_ACCESS_KEY_ID: 'AKIAENV', AWS_SECRET_ACCESS_KEY: 'env-secret' }
  for (const [name, value] of Object.entries(aws)) vi.stubEnv(name, value)
  const ca = authority()
  const ports = { http: await freePort(), https: await freePort(), tcp: await freePort() }
  const issuer = await testIssuer(ISSUER)
  const server = certificateFor({ commonName: 'localhost', names: ['DNS:localhost'] })
  const file = join(folder, 'gateway.yaml')
  writeFileSync(file, manifestsOf({ ports, upstreams, media: mediaPort, issuer, server, ca }))
  const source = await loadSource(file)
  if ('problem' in source || source.rendered === undefined) throw new Error(JSON.stringify(source))
  if (source.problems.length > 0) throw new Error(source.problems.map(({ message }) => message).join('\n'))
  const logPath = join(folder, 'log')
  const logFd = openSync(logPath, 'a')
  const proxy = await startProxy({
    ...ON_LOOPBACK,
    logFd,
    logFormat: 'json',
    logLevel: 'request=debug',
    accessLog: true,
    dynamicForwardAllow: ['127.0.0.1'],
  })
  proxy.setModelCatalog(offeredCatalog([{ name: 'test', catalog: PRICES }]))
  const applied = await proxy.apply(withFields(source.rendered.config, fields), source.rendered.secrets)
  if ('problem' in applied) throw new Error(applied.problem.message)
  return {
    ports,
    proxy,
    upstreams,
    issuer,
    client: certificateFor({ commonName: 'client', names: ['URI:spiffe://mesh.test/ns/shop/sa/cart'], issuer: ca }),
    log: () => entriesOf(readFileSync(logPath, 'utf8')),
    metrics: async (accept) => {
      const headers = accept === undefined ? {} : { accept }
      return (await fetch(`http://127.0.0.1:${proxy.ports.stats}/metrics`, { headers })).text()
    },
    async stop() {
      await proxy.stop({ isForced: true })
      await upstreams.stop()
      await sts.close()
      vi.unstubAllEnvs()
      closeServer(media)
      closeSync(logFd)
      rmSync(folder, { recursive: true })
    },
  }
}

/** More than the limit of a manifest. */
function withFields(config: RenderedConfig, fields: readonly Added[]): RenderedConfig {
  const policies = config.policies.map((one) => {
    const { frontend } = one.policy
    if (frontend?.accessLog === undefined) return one
    return { ...one, policy: { ...one.policy, frontend: { ...frontend, accessLog: { add: [...fields] } } } }
  })
  return { ...config, policies }
}

function entriesOf(text: string): Readonly<Record<string, unknown>>[] {
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line)).filter(({ scope }) => scope === 'request')
}

/** The entry of the request whose `http.path` has this end; waits for it. */
export function entryOf(all: Everything, end: string): Promise<Readonly<Record<string, unknown>>> {
  return vi.waitFor(
    () => {
      const found = all.log().find((entry) => String(entry['http.path']).endsWith(end))
      if (found === undefined) throw new Error(`no entry about ${end}`)
      return found
    },
    { timeout: 20_000 },
  )
}

// --- manifests ---

interface Names {
  readonly name: string
  readonly namespace: string
}

const named = (name: string): Names => ({ name, namespace: 'default' })

function manifestsOf(input: Input): string {
  const { ports, server, ca } = input
  const objects = [
    { apiVersion: API, kind: 'GatewayClass', metadata: { name: 'gw' }, spec: { controllerName: 'gw.dev/controller' } },
    { apiVersion: API, kind: 'Gateway', metadata: named('edge'), spec: gatewaySpec(ports) },
    object('v1', 'Secret', 'server', {
      stringData: { 'tls.crt': server.certificate, 'tls.key': server.privateKey },
    }),
    object('v1', 'ConfigMap', 'client-ca', { data: { 'ca.crt': ca.certificate } }),
    object('v1', 'Secret', 'keys', {
      stringData: { core: JSON.stringify({ key: API_KEY, metadata: { team: 'core' } }) },
    }),
    object('v1', 'Secret', 'users', { stringData: { '.htaccess': `${USER}\n` } }),
    object('v1', 'Secret', 'model-key', { stringData: { Authorization: 'Bearer sk-model' } }),
    ...backends(input.upstreams.ports, input.media),
    ...Object.entries(RULES).map(([rule, backend]) => routeTo(rule, backend)),
    object(API, 'TCPRoute', 'raw', {
      spec: { parentRefs: [{ name: 'edge', sectionName: 'tcp' }], rules: [{ backendRefs: [ref('echo')] }] },
    }),
    ...policies(input),
  ]
  return objects.map((one) => stringify(one)).join('---\n')
}

function object(apiVersion: string, kind: string, name: string, rest: object): object {
  return { apiVersion, kind, metadata: named(name), ...rest }
}

function gatewaySpec({ http, https, tcp }: Ports): object {
  const validation = {
    mode: 'AllowInsecureFallback',
    caCertificateRefs: [{ group: '', kind: 'ConfigMap', name: 'client-ca' }],
  }
  return {
    gatewayClassName: 'gw',
    tls: { frontend: { default: { validation } } },
    listeners: [
      { name: 'http', port: http, protocol: 'HTTP' },
      { name: 'https', port: https, protocol: 'HTTPS', tls: { certificateRefs: [{ name: 'server' }] } },
      { name: 'tcp', port: tcp, protocol: 'TCP' },
    ],
  }
}

function backends(ports: Upstreams['ports'], media: number): object[] {
  const at = (port: number): object => ({ host: '127.0.0.1', port })
  const backend = (name: string, spec: object): object => object(GW, 'GwBackend', name, { spec })
  const skipping = { tls: { insecureSkipVerify: 'All' } }
  return [
    backend('echo', { static: at(ports.echo) }),
    backend('spare', { static: at(ports.spare) }),
    backend('flaky', { static: at(ports.flaky) }),
    backend('secure', { static: at(ports.tls), policies: skipping }),
    backend('gone', { static: at(1) }),
    backend('frail', {
      static: at(ports.silent),
      policies: { http: { requestTimeout: '20ms' }, health: { eviction: { consecutiveFailures: 1 } } },
    }),
    backend('timed', { static: at(ports.echo), policies: { http: { requestTimeout: '20s', version: 'HTTP1' } } }),
    backend('egress', { static: at(ports.egress) }),
    backend('tunnelled', {
      static: { host: 'echo.internal', port: ports.echo },
      policies: { tunnel: { backendRef: ref('egress') } },
    }),
    backend('agent', { a2a: at(ports.agent) }),
    backend('any', { dynamicForwardProxy: {} }),
    backend('model', {
      ai: { provider: { p1: {}, ...at(ports.model) } },
      policies: { auth: { secretRef: { name: 'model-key' } } },
    }),
    backend('claude', {
      ai: { provider: { p4: {}, ...at(ports.model) } },
      policies: { auth: { secretRef: { name: 'model-key' } } },
    }),
    backend('media', {
      ai: { provider: { p1: {}, ...at(media) } },
      policies: { ai: { routes: { '/v1/embeddings': 'Embeddings', '*': 'Completions' } } },
    }),
    backend('tools', { mcp: { targets: [{ name: 'demo', static: at(ports.tools) }] } }),
    backend('authorizer', { static: at(ports.authzGrpc) }),
    backend('limiter', { static: at(ports.limiter) }),
    backend('processor', { static: at(ports.processor) }),
    backend('collector', { static: at(ports.otlpGrpc) }),
  ]
}

function ref(name: string): object {
  return { group: 'gw.dev', kind: 'GwBackend', name }
}

/** One route for each: its name, which is also the name of its rule and its path, and its backend. */
const RULES: Readonly<Record<string, string>> = {
  echo: 'echo',
  retried: 'flaky',
  secure: 'secure',
  gone: 'gone',
  agent: 'agent',
  any: 'any',
  model: 'model',
  claude: 'claude',
  media: 'media',
  chosen: 'echo',
  tools: 'tools',
  key: 'echo',
  basic: 'echo',
  jwt: 'echo',
  asked: 'echo',
  limited: 'echo',
  bucket: 'echo',
  processed: 'echo',
  changed: 'echo',
  ruled: 'echo',
  local: 'echo',
  cross: 'echo',
  forged: 'echo',
  mirrored: 'echo',
  held: 'echo',
  rewritten: 'echo',
  late: 'echo',
  named: 'echo',
  evicted: 'frail',
  tried: 'timed',
  tunnelled: 'tunnelled',
  moved: 'echo',
  inlined: 'echo',
  signed: 'echo',
  ...Object.fromEntries(['unlimited', 'uncounted', 'unasked', 'unallowed'].map((name) => [name, 'echo'])),
  ...Object.fromEntries(['unprocessed', 'halted', 'keyless', 'unmirrored'].map((name) => [name, 'echo'])),
  ...Object.fromEntries(['prompt', 'once', 'mute', 'tight'].map((name) => [name, 'echo'])),
}

function routeTo(name: string, backend: string): object {
  const mirror = { type: 'RequestMirror', requestMirror: { backendRef: ref('spare') } }
  const rewrite = { type: 'URLRewrite', urlRewrite: { path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/' } } }
  const inlined = { type: 'RequestHeaderModifier', requestHeaderModifier: { set: [{ name: 'x-inline', value: '1' }] } }
  const rule = {
    name,
    matches: [{ path: { type: 'PathPrefix', value: `/${name}` } }],
    ...(name === 'mirrored' && { filters: [mirror] }),
    ...(name === 'unmirrored' && { filters: [{ ...mirror, requestMirror: { ...mirror.requestMirror, percent: 0 } }] }),
    ...(name === 'moved' && { filters: [{ type: 'RequestRedirect', requestRedirect: { hostname: 'other.example' } }] }),
    ...((name === 'model' || name === 'claude') && { filters: [rewrite] }),
    ...(name !== 'moved' && { backendRefs: [{ ...ref(backend), ...(name === 'inlined' && { filters: [inlined] }) }] }),
  }
  const parentRefs = ['http', 'https'].map((sectionName) => ({ name: 'edge', sectionName }))
  return object(API, 'HTTPRoute', name, { spec: { parentRefs, rules: [rule] } })
}

function policy(name: string, target: object, spec: object): object {
  const targetRefs = [{ group: 'gateway.networking.k8s.io', ...target }]
  return object(GW, 'GwPolicy', name, { spec: { targetRefs, ...spec } })
}

function onRule(name: string, traffic: object): object {
  return policy(name, { kind: 'HTTPRoute', name }, { traffic })
}

const SIGNED = { assumeRole: { roleRef: 'arn:aws:iam::123456789012:role/gateway' }, region: 'eu-central-1' }

function policies({ issuer }: Input): object[] {
  const contextExtensions = { place: 'shop' }
  const entries = [{ name: 'user', expression: 'request.headers["x-user"]' }]
  return [
    policy(
      'telemetry',
      { kind: 'Gateway', name: 'edge' },
      {
        frontend: {
          accessLog: { attributes: { add: [{ name: 'team', expression: 'request.headers["x-team"]' }] } },
          metrics: {
            attributes: {
              add: [
                { name: 'team', expression: 'request.headers["x-team"]' },
                { name: 'port', expression: 'source.port > 0' },
              ],
            },
          },
          tracing: { backendRef: ref('collector'), randomSampling: '"x-sampled" in request.headers' },
        },
      },
    ),
    policy('signed', { kind: 'HTTPRoute', name: 'signed' }, { backend: { auth: { cloudA: SIGNED } } }),
    onRule('retried', { retry: { attempts: 2, codes: [503], backoff: '1ms' } }),
    onRule('key', { apiKeyAuthentication: { secretRef: { name: 'keys' } } }),
    onRule('basic', { basicAuthentication: { secretRef: { name: 'users' } } }),
    onRule('jwt', { jwtAuthentication: { providers: [{ issuer: ISSUER, jwks: { inline: issuer.jwks } }] } }),
    onRule('asked', { extAuth: { backendRef: ref('authorizer'), grpc: { contextExtensions } } }),
    onRule('limited', {
      rateLimit: { global: { backendRef: ref('limiter'), domain: 'shop', descriptors: [{ entries }] } },
    }),
    onRule('bucket', { rateLimit: { local: [{ requests: 1, unit: 'Hours' }] } }),
    onRule('processed', { extProc: { backendRef: ref('processor') } }),
    onRule('changed', {
      transformation: {
        request: {
          metadata: { tenant: 'request.headers["x-team"]' },
          set: [{ name: 'x-tenant', value: 'metadata.tenant' }],
        },
        response: { set: [{ name: 'x-code', value: 'string(response.code)' }] },
      },
    }),
    onRule('ruled', { authorization: { policy: { matchExpressions: ['request.headers["x-team"] == "core"'] } } }),
    onRule('local', { directResponse: { status: 418, body: 'short and stout' } }),
    onRule('chosen', {
      directResponse: {
        conditional: [
          { condition: 'request.headers["x-team"] == "core"', policy: { status: 201 } },
          { policy: { status: 202 } },
        ],
      },
      timeouts: { request: '20s' },
    }),
    onRule('held', { buffer: { request: { maxBytes: '10', failureMode: 'FailOpen' } } }),
    onRule('late', { delay: { duration: '1ms' } }),
    onRule('named', {
      hostRewrite: { mode: 'Auto' },
      headerModifiers: {
        request: { set: [{ name: 'x-a', value: '1' }] },
        response: { set: [{ name: 'x-b', value: '1' }] },
      },
    }),
    onRule('cross', { cors: { allowOrigins: ['https://shop.example.com'] } }),
    onRule('forged', { csrf: { additionalOrigins: ['https://shop.example.com'] } }),
    ...failures(),
  ]
}

/** Services that cannot be asked, and broken settings. */
function failures(): object[] {
  const gone = (failureMode: string): object => ({ backendRef: ref('gone'), failureMode })
  const limit = { domain: 'shop', descriptors: [{ entries: [{ name: 'all', expression: '"all"' }] }] }
  return [
    onRule('unlimited', { rateLimit: { global: { ...gone('FailOpen'), ...limit } } }),
    onRule('uncounted', { rateLimit: { global: { ...gone('FailClosed'), ...limit } } }),
    onRule('unasked', { extAuth: { ...gone('FailOpen'), grpc: {} } }),
    onRule('unallowed', { extAuth: { ...gone('FailClosed'), grpc: {} } }),
    onRule('unprocessed', { extProc: gone('FailOpen') }),
    onRule('halted', { extProc: gone('FailClosed') }),
    onRule('keyless', { jwtAuthentication: { providers: [{ issuer: ISSUER, jwks: { inline: '{"keys":[]}' } }] } }),
    onRule('prompt', { delay: { duration: 'size(request.headers["x-none"])' } }),
    onRule('once', { retry: { attempts: 2, codes: [503], precondition: 'false' } }),
    onRule('mute', { directResponse: { status: 200, bodyExpression: 'request.headers["x-none"]' } }),
    onRule('tight', { buffer: { request: { maxBytes: '10' } } }),
  ]
}
