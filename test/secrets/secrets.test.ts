// The gateway reveals no secret: the test plants one in every place of manifests and requests that can hold one, sends
// traffic, and searches everything that the gateway writes, prints, exports or returns.
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { BackendAuth, RenderedConfig, RenderedSecrets } from '#api/ir/types.gen.ts'
import { loadSource } from '#cli/source.ts'
import { startProxy, type RunningProxy } from '#proxy/main.ts'
import { certificateFor, type KeyPair } from '#test/certificates.ts'
import { gw } from '#test/cli/gw.ts'
import type { CloudEndpoints } from '#proxy/credentials/cloud-endpoints.testing.ts'
import { grpcCollector, type TestCollector } from '#proxy/otlp/collector.testing.ts'
import { startClouds } from '#test/credentials/clouds.ts'
import { closeServer, freePort, listening } from '#test/ports.ts'
import { ON_LOOPBACK } from '#proxy/main.testing.ts'
import { testIssuer } from '#proxy/auth/jwt.testing.ts'
import { references, secretFields } from './fields.ts'
import { ISSUER, plantedManifests, SECRET, withKey } from './manifests.ts'
import { crossAppAccess, ISSUE_PATH, oauthTokenExchange } from './oauth.ts'
import { type Ask, askWatched, leaksIn, linesOfKey, printed, questions } from './outputs.ts'

interface Rendered {
  readonly config: RenderedConfig
  readonly secrets: RenderedSecrets
}

const SESSION_KEY = Buffer.from('planted-session-key-12-planted-0')

let folder: string
let upstream: Server
let collector: TestCollector
let proxy: RunningProxy
let tls: KeyPair
/** A token that the gateway accepts, and one of another key, which it rejects. */
let tokens: { readonly good: string; readonly bad: string }
let egress: Server
let clouds: CloudEndpoints
let logFd: number
let http: number
let file: string
let rendered: Rendered
const received: string[] = []
/** Statuses of the responses, in the order of `asks`. */
const statuses: number[] = []
/** The texts to search, by the name of the output. */
const outputs = new Map<string, string>()

/**
 * A header value written in a policy is not a Secret of the API: it is in the configuration as in the manifest, and in
 * logs and spans whose expression reads all headers. Dumps, traces and the command still hide it.
 */
const PLAIN: Readonly<Record<string, ReadonlySet<string>>> = {
  headerValue: new Set(['the ConfigMap', 'the log', 'spans', 'log records']),
}

/** Secrets without a field in manifests: a secret of files of `gw run`, and those of token endpoints. */
function withMoreSecrets({ config, secrets }: Rendered): Rendered {
  const jwtAuthentication = {
    mode: 'Optional' as const,
    providers: [{ issuer: 'https://idp.example' }],
    mcp: { provider: 'Entra' as const, clientId: 'client', clientSecret: { secret: 'planted/client-secret' } },
  }
  const routes = config.routes.map((route) =>
    route.name.ruleName === 'open'
      ? { ...route, inlinePolicies: { ...route.inlinePolicies, jwtAuthentication } }
      : route,
  )
  const open = config.routes.find((route) => route.name.ruleName === 'open')
  const echo = config.backends.find(({ key }) => key === 'default/echo')
  if (open === undefined || echo === undefined) throw new Error('no route or backend to copy')
  const routeTo = (name: string) =>
    copied(open, [
      ['/open', `/${name}`],
      ['"open"', `"${name}"`],
      ['default/echo', `default/${name}`],
    ])
  const backendOf = (name: string, auth: BackendAuth) => ({
    ...copied(echo, [['default/echo', `default/${name}`]]),
    inlinePolicies: { auth },
  })
  const more = [
    { key: 'planted/client-secret', value: SECRET.clientSecret },
    { key: 'planted/oauth-secret', value: SECRET.oauthSecret },
    { key: 'planted/signing-key', value: tls.privateKey },
    { key: 'planted/certificate', value: withKey(tls) },
  ]
  return {
    config: {
      ...config,
      routes: [...routes, routeTo('oauth'), routeTo('exchange')],
      backends: [
        ...config.backends,
        backendOf('oauth', { crossAppAccess }),
        backendOf('exchange', { oauthTokenExchange }),
      ],
    },
    secrets: { ...secrets, secrets: [...secrets.secrets, ...more] },
  }
}

function copied<T>(value: T, replacements: readonly (readonly [string, string])[]): T {
  let text = JSON.stringify(value)
  for (const [from, to] of replacements) text = text.replaceAll(from, to)
  return JSON.parse(text) as T // A copy, with other strings.
}

/** The signatures of tokens; their claims are not secret. */
function signatures(): (readonly [string, string])[] {
  return Object.entries(tokens).map(([name, token]) => [`${name}Token`, token.split('.')[2] ?? ''] as const)
}

function leaks(text: string): string[] {
  const all = [...Object.entries(SECRET), ['sessionKey', SESSION_KEY.toString()] as const, ...signatures()]
  return leaksIn(text, [...all, ...linesOfKey('privateKey', tls.privateKey)])
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gw-secrets-test-'))
  upstream = createServer((request, response) => {
    received.push(`${request.url} ${JSON.stringify(request.headers)}`)
    response.setHeader('content-type', 'application/json')
    response.statusCode = request.url?.includes('fail') === true ? 500 : 200
    const isIssued = request.url === ISSUE_PATH
    response.end(isIssued ? JSON.stringify({ access_token: SECRET.issuedToken, token_type: 'Bearer' }) : '{}')
  })
  collector = await grpcCollector()
  clouds = await startClouds(folder, { azure: SECRET.azureToken, google: SECRET.googleToken })
  tls = certificateFor({ commonName: 'shop.example', names: ['DNS:shop.example'] })
  const issuer = await testIssuer(ISSUER)
  const stranger = await testIssuer(ISSUER)
  tokens = { good: await issuer.token(), bad: await stranger.token() }
  egress = connectProxy()
  http = await freePort()
  const ports = {
    http,
    https: await freePort(),
    upstream: await listening(upstream),
    collector: collector.port,
    egress: await listening(egress),
  }
  file = join(folder, 'gateway.yaml')
  writeFileSync(file, plantedManifests({ ports, tls, jwks: issuer.jwks }))
  const source = await loadSource(file)
  if ('problem' in source || source.rendered === undefined) throw new Error(JSON.stringify(source))
  outputs.set('problems', JSON.stringify(source.problems))
  outputs.set('the ConfigMap', JSON.stringify(source.rendered.config))
  outputs.set('statuses', JSON.stringify(source.translation?.statuses))
  logFd = openSync(join(folder, 'log'), 'a')
  proxy = await startProxy({
    ...ON_LOOPBACK,
    logFd,
    logFormat: 'json',
    logLevel: 'trace',
    accessLog: true,
    sessionKeys: [SESSION_KEY],
    otlp: {
      traces: {
        host: '127.0.0.1',
        port: ports.collector,
        isTls: false,
        protocol: 'GRPC',
        path: '/v1/traces',
        headers: [['api-key', SECRET.otlpHeader]],
        timeoutMs: undefined,
      },
      randomShare: 1,
      resource: {},
    },
  })
  rendered = withMoreSecrets(source.rendered)
  const applied = await proxy.apply(rendered.config, rendered.secrets)
  if ('problem' in applied) throw new Error(applied.problem.message)
  const gateway = { ...proxy.ports, http }
  const asked = await askWatched(asks(), gateway)
  statuses.push(...asked.statuses)
  for (const [name, text] of [...asked.outputs, ...(await questions(file, gateway))]) outputs.set(name, text)
  outputs.set('gw translate', printed(await gw('translate', '-f', file)))
  await proxy.stop()
  outputs.set('the log', readFileSync(join(folder, 'log'), 'utf8'))
  outputs.set('spans', JSON.stringify(collector.spans, bigIntText))
  outputs.set('log records', JSON.stringify(collector.logs))
  outputs.set('resources', JSON.stringify(collector.resources))
})

afterAll(async () => {
  await proxy.stop({ isForced: true })
  closeSync(logFd)
  collector.stop()
  closeServer(upstream)
  closeServer(egress)
  await clouds.stop()
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

function bigIntText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}

/** Accepts every request, and stores its credentials. */
function connectProxy(): Server {
  const server = createServer()
  server.on('connect', (request, client) => {
    received.push(`CONNECT ${JSON.stringify(request.headers)}`)
    client.on('error', () => undefined)
    const [host, port] = (request.url ?? '').split(':')
    const peer = connect({ host: host ?? '', port: Number(port) }, () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n')
      client.pipe(peer).pipe(client)
    })
    peer.on('error', () => client.destroy())
    client.on('close', () => peer.destroy())
  })
  return server
}

const basic = (user: string, password: string): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
})
const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` })

/** Right and wrong credentials in every place, each request with a trace. */
function asks(): readonly Ask[] {
  const { good, bad } = tokens
  const { cookieKey, headerKey, expressionKey, queryKey, queryToken, wrongKey, wrongToken, wrongPassword } = SECRET
  return [
    { path: '/key', headers: bearer(SECRET.apiKey), status: 200 },
    { path: '/key', headers: bearer(wrongToken), status: 401 },
    { path: '/query?a=1', headers: {}, status: 401 },
    { path: `/query?k=${queryKey}&a=1`, status: 200 },
    { path: `/query?k=${wrongKey}`, status: 401 },
    { path: '/basic', headers: basic('ann', SECRET.password), status: 200 },
    { path: '/basic', headers: basic('stranger', SECRET.password), status: 401 },
    { path: '/basic', headers: basic('ann', wrongPassword), status: 401 },
    { path: '/open/x?a=1', status: 200 },
    { path: '/open/fail', status: 500 },
    { path: '/inline', status: 200 },
    { path: '/model/v1/chat/completions', body: '{"model": "m", "messages": []}', status: 200 },
    { path: '/model', body: 'no JSON', status: 400 },
    { path: '/secure', status: 503 },
    { path: '/nowhere', status: 404 },
    { path: '/cookie', headers: { cookie: `a=1; session=${cookieKey}` }, status: 200 },
    { path: '/cookie', headers: { cookie: `session=${wrongKey}` }, status: 401 },
    { path: '/header', headers: { 'x-team': `Key ${headerKey}` }, status: 200 },
    { path: '/header', headers: { 'x-team': `Key ${wrongKey}` }, status: 401 },
    { path: '/expression', headers: { 'x-parts': `key/${expressionKey}` }, status: 200 },
    { path: '/expression', headers: { 'x-parts': `key/${wrongKey}` }, status: 401 },
    { path: '/jwt', headers: bearer(good), status: 200 },
    { path: '/jwt', headers: bearer(bad), status: 401 },
    { path: '/jwt', headers: bearer(wrongToken), status: 401 },
    { path: `/jwt-query?jwt=${good}&a=1`, status: 200 },
    { path: `/jwt-query?jwt=${bad}`, status: 401 },
    { path: '/jwt-cookie', headers: { cookie: `jwt=${good}` }, status: 200 },
    { path: '/jwt-cookie', headers: { cookie: `jwt=${bad}` }, status: 401 },
    { path: '/jwt-expression', headers: { 'x-jwt': good }, status: 200 },
    { path: '/jwt-expression', headers: { 'x-jwt': bad }, status: 401 },
    { path: '/tunnel', status: 200 },
    { path: '/aws', status: 200 },
    { path: '/azure', status: 500 },
    { path: '/azure-certificate', status: 500 },
    { path: '/google', status: 500 },
    { path: '/azure-managed', status: 200 },
    { path: '/google-ambient', status: 200 },
    { path: '/oauth', status: 400 },
    { path: '/oauth', headers: bearer(SECRET.idToken), status: 500 },
    { path: `/exchange?actor=${SECRET.actorToken}`, status: 400 },
    { path: `/exchange?actor=${SECRET.actorToken}&a=1`, headers: { 'x-subject': SECRET.subjectToken }, status: 200 },
    // Unused: nothing reads these.
    { path: `/inline?access_token=${queryToken}&a=1`, status: 200 },
    { path: `/inline?a=1&access%5Ftoken=${queryToken}`, status: 200 },
    { path: `/nowhere?k=${queryToken}&jwt=${good}`, status: 404 },
  ]
}

describe('fields that refer to secrets', () => {
  /** The place of each in the configuration of this test. */
  const PLANTED: Readonly<Record<string, RegExp>> = {
    'listener certificate': /^listeners\.tls\.certificate$/,
    'listener privateKey': /^listeners\.tls\.privateKey$/,
    'policy/api-key-authentication keys': /apiKeyAuthentication\.keys$/,
    'policy/backend-auth key': /auth(?:\.credentials)?\.key$/,
    'policy/cloud-a-auth accessKey': /auth\.cloudA\.secretRef\.accessKey$/,
    'policy/cloud-a-auth secretKey': /auth\.cloudA\.secretRef\.secretKey$/,
    'policy/cloud-a-auth sessionToken': /auth\.cloudA\.secretRef\.sessionToken$/,
    'policy/cloud-b-auth clientID': /auth\.cloudB\.secretRef\.clientID$/,
    'policy/cloud-b-auth tenantID': /auth\.cloudB\.secretRef\.tenantID$/,
    'policy/cloud-b-auth clientSecret': /auth\.cloudB\.secretRef\.clientSecret$/,
    'policy/cloud-b-auth clientCertificate': /auth\.cloudB\.secretRef\.clientCertificate$/,
    'policy/cloud-c-auth secretRef': /auth\.cloudC\.secretRef$/,
    'policy/oauth-client-auth secretRef': /clientAuth\.secretRef$/,
    'policy/oauth-client-auth signingKeyRef': /privateKeyJwt\.signingKeyRef$/,
    'policy/oauth-client-auth certificateRef': /privateKeyJwt\.certificateRef$/,
    'policy/backend-tls clientCertificate': /tls\.clientCertificate$/,
    'policy/backend-tls clientKey': /tls\.clientKey$/,
    'policy/basic-authentication users': /basicAuthentication\.users$/,
    'policy/jwt-authentication clientSecret': /jwtAuthentication\.mcp\.clientSecret$/,
  }

  it('are those of the schema', () => {
    expect([...new Set(secretFields())].sort()).toEqual(Object.keys(PLANTED).sort())
  })

  it.each(Object.entries(PLANTED))('%s has a planted one', (_, path) => {
    expect(references(rendered.config).filter((own) => path.test(own))).not.toEqual([])
  })

  it('have only planted values', () => {
    const values = rendered.secrets.secrets.map(({ value }) => value)
    const isPlanted = (value: string): boolean => /planted|-----BEGIN|\{SHA\}/.test(value)
    expect(values.filter((value) => !isPlanted(value))).toEqual([])
  })
})

describe('planted secrets', () => {
  it('are in use: every credential of the gateway reached the backend', () => {
    const all = received.join('\n')
    const { backendSecret, backendQuery, backendCookie, inlineKey, headerValue, modelKey, tunnelKey } = SECRET
    for (const secret of [backendSecret, backendQuery, backendCookie, inlineKey, headerValue, modelKey, tunnelKey]) {
      expect(all).toContain(secret)
    }
    expect(all).toContain(`AWS4-HMAC-SHA256 Credential=${SECRET.awsAccessKey}/`)
    expect(all).toContain(SECRET.awsSessionToken)
    for (const token of [SECRET.azureToken, SECRET.googleToken]) expect(all).toContain(`Bearer ${token}`)
    expect(all).toContain(SECRET.issuedToken)
    expect(clouds.seen).toHaveLength(2)
    // Forwarded, and in a place that nothing reads.
    expect(all).toContain(tokens.good)
    expect(all).toContain(SECRET.queryToken)
    expect(statuses).toEqual(asks().map(({ status }) => status))
  })

  it('would be found', () => {
    expect(leaks(`a ${Buffer.from(SECRET.apiKey).toString('base64')} b`)).toEqual(['apiKey'])
    expect(leaks(received.join('\n'))).toContain('backendSecret')
    expect(leaks(tls.privateKey)).toContain('privateKey')
  })

  it('were used by everything that is searched', () => {
    expect(outputs.get('the log')).toContain('"uri":')
    expect(outputs.get('the log')).toContain('sent.')
    expect(collector.spans.length).toBeGreaterThan(asks().length)
    expect(collector.logs).toHaveLength(asks().length)
    expect(outputs.get('/metrics')).toContain('target=')
    expect(outputs.get('the log')).toContain('"http.path":"/inline?access_token=<redacted>&a=1"')
    expect(outputs.get('/debug/pprof/heap?seconds=1')).toContain('inuse_space')
    expect(outputs.get('/debug/pprof/profile?seconds=1')).toContain('nanoseconds')
    expect(outputs.get('gw translate')).toContain('secretKeys')
    expect([...outputs].filter(([, text]) => text === '')).toEqual([])
  })

  it('are in no output', () => {
    const found = [...outputs].flatMap(([name, text]) =>
      [...new Set(leaks(text))].filter((secret) => PLAIN[secret]?.has(name) !== true).map((secret) => [name, secret]),
    )
    expect(found).toEqual([])
  })
})
