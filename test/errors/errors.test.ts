// Every failure that a client can see, end to end: status, body, headers, and the gRPC status. A failure of the
// registry without a row here must be listed below with its test.
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, connect, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FAILURES, type FailureCode } from '#proxy/exchange/errors.ts'
import { listening } from '#test/ports.ts'
import type { Question } from '../conformance/suite/ask.ts'
import { applySample, type SampleGateway } from '../conformance/suite/gateway.ts'
import { startSampleProxy, type SampleProxy } from '../conformance/suite/process.ts'
import { startUpstreams, type Upstreams } from '../conformance/suite/upstreams.ts'
import { failingManifests } from './manifests.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const JSON_BODY = { 'content-type': 'application/json' }

interface Row {
  readonly code: FailureCode
  readonly path: string
  readonly question?: Question
  readonly status: number
  readonly text: string
  readonly headers?: Readonly<Record<string, string>>
  /** Headers that must be absent. */
  readonly without?: readonly string[]
  /** For the same request with content-type application/grpc; undefined: gRPC clients cannot get it. */
  readonly grpc?: number
}

/** The default of `frontend.http.maxBufferSize`. */
const MAX_BUFFER_BYTES = 2 * 1024 * 1024
const UNAUTHENTICATED = 16
const PERMISSION_DENIED = 7
const UNIMPLEMENTED = 12
const UNAVAILABLE = 14
const UNKNOWN = 2

const OTHER_HOST = { headers: { host: 'other.example' } }
const MANY_FIELDS = { headers: Object.fromEntries(Array.from({ length: 120 }, (_, i) => [`x-${i}`, '1'])) }
const BODY = { method: 'POST', body: 'hello' }
const CHALLENGE = ['www-authenticate', 'proxy-authenticate']

const ROWS: readonly Row[] = [
  {
    code: 'listenerNotFound',
    path: '/',
    question: OTHER_HOST,
    status: 404,
    text: 'listener not found',
    grpc: UNIMPLEMENTED,
  },
  { code: 'routeNotFound', path: '/nowhere', status: 404, text: 'route not found', grpc: UNIMPLEMENTED },
  {
    code: 'headersTooLarge',
    path: '/csrf',
    question: MANY_FIELDS,
    status: 431,
    text: 'request header fields too large',
  },
  { code: 'uriTooLong', path: `/${'x'.repeat(100_000)}`, status: 414, text: 'URI too long' },
  {
    code: 'expectationFailed',
    path: '/csrf',
    question: { headers: { expect: 'miracles' } },
    status: 417,
    text: 'expectation failed',
  },
  { code: 'noValidBackends', path: '/no-backends', status: 500, text: 'no valid backends', grpc: UNAVAILABLE },
  { code: 'backendNotFound', path: '/no-backend', status: 500, text: 'backend does not exist', grpc: UNKNOWN },
  { code: 'serviceNotFound', path: '/no-service', status: 500, text: 'service not found', grpc: UNKNOWN },
  { code: 'noHealthyBackends', path: '/no-endpoint', status: 503, text: 'no healthy backends', grpc: UNAVAILABLE },
  {
    code: 'dnsFailure',
    path: '/no-address',
    status: 503,
    text: 'backends required DNS resolution which failed',
    grpc: UNAVAILABLE,
  },
  {
    code: 'upstreamFailure',
    path: '/refused',
    status: 503,
    text: 'upstream call failed: connection refused',
    grpc: UNAVAILABLE,
  },
  { code: 'upstreamTimeout', path: '/slow-backend', status: 504, text: 'upstream call timeout', grpc: UNAVAILABLE },
  { code: 'requestTimeout', path: '/slow-route', status: 504, text: 'request timeout', grpc: UNAVAILABLE },
  {
    code: 'jwtAuthFailed',
    path: '/jwt',
    status: 401,
    text: 'authentication failure: no token found',
    without: CHALLENGE,
    grpc: UNAUTHENTICATED,
  },
  {
    code: 'jwtAuthFailed',
    path: '/jwt',
    question: { headers: { authorization: 'Bearer none' } },
    status: 401,
    text: 'authentication failure: malformed token',
    without: CHALLENGE,
  },
  {
    code: 'basicAuthFailed',
    path: '/basic',
    status: 401,
    text: 'basic authentication failure: no credentials found',
    headers: { 'www-authenticate': 'Basic realm="Restricted"' },
    grpc: UNAUTHENTICATED,
  },
  {
    code: 'proxyBasicAuthFailed',
    path: '/proxy-basic',
    question: { headers: { 'proxy-authorization': 'Basic eDp5' } },
    status: 407,
    text: 'basic authentication failure: invalid credentials',
    headers: { 'proxy-authenticate': 'Basic realm="Restricted"' },
    without: ['www-authenticate'],
    grpc: UNAUTHENTICATED,
  },
  {
    code: 'apiKeyAuthFailed',
    path: '/api-key',
    status: 401,
    text: 'api key authentication failure: no API Key found',
    without: CHALLENGE,
    grpc: UNAUTHENTICATED,
  },
  {
    code: 'apiKeyAuthFailed',
    path: '/api-key',
    question: { headers: { authorization: 'Bearer other' } },
    status: 401,
    text: 'api key authentication failure: invalid credentials',
    without: CHALLENGE,
  },
  {
    code: 'authorizationFailed',
    path: '/authorization',
    status: 403,
    text: 'authorization failed',
    grpc: PERMISSION_DENIED,
  },
  { code: 'policyDenied', path: '/denied', status: 403, text: 'denied by policy', grpc: PERMISSION_DENIED },
  {
    code: 'extAuthzFailed',
    path: '/ext-auth-gone',
    status: 403,
    text: 'external authorization failed',
    grpc: PERMISSION_DENIED,
  },
  {
    code: 'extAuthzBodyTooLarge',
    path: '/ext-auth-size',
    question: BODY,
    status: 413,
    text: 'external authorization failed',
    grpc: UNKNOWN,
  },
  {
    code: 'csrfFailed',
    path: '/csrf',
    question: { method: 'POST', headers: { 'sec-fetch-site': 'cross-site' } },
    status: 403,
    text: 'CSRF validation failed',
    grpc: PERMISSION_DENIED,
  },
  { code: 'rateLimitFailed', path: '/rate-limit-gone', status: 500, text: 'rate limit failed', grpc: UNKNOWN },
  {
    code: 'extProcFailed',
    path: '/ext-proc',
    status: 500,
    text: 'ext_proc failed: gRPC status 14',
    grpc: UNKNOWN,
  },
  { code: 'bufferRequestTooLarge', path: '/request-size', question: BODY, status: 413, text: '', grpc: UNKNOWN },
  { code: 'bufferResponseTooLarge', path: '/response-size', status: 502, text: '' },
  {
    code: 'backendAuthFailed',
    path: '/backend-auth',
    status: 500,
    text: 'backend authentication failed: the credential is missing or unusable',
    grpc: UNKNOWN,
  },
  {
    code: 'directResponseFailed',
    path: '/answer',
    status: 500,
    text: 'failed to apply filters: direct response body',
    grpc: UNKNOWN,
  },
  {
    code: 'filtersFailed',
    path: '/rewrite',
    status: 500,
    text: 'failed to apply filters: urlRewrite: the path has no matched prefix',
    grpc: UNKNOWN,
  },
  {
    code: 'bodyTooLarge',
    path: '/mcp',
    question: {
      method: 'POST',
      headers: { ...JSON_BODY, accept: 'application/json, text/event-stream' },
      body: 'x'.repeat(MAX_BUFFER_BYTES + 1),
    },
    status: 413,
    text: 'request body too large',
  },
]

/** Failures with separate tests below. */
const SEEN_BELOW: readonly FailureCode[] = [
  'rateLimited',
  'methodNotAllowed',
  'invalidRequest',
  'upgradeFailed',
  'llmRequestEncoding',
  'llmRequestInvalid',
]

/** Failures that need another gateway, or broken parts: their test, and the text that it checks. */
const ELSEWHERE: Readonly<Partial<Record<FailureCode, readonly [file: string, mark: string]>>> = {
  backendUnsupported: ['proxy/llm/unsupported.test.ts', 'a backend whose provider is not run answers 501'],
  bindNotFound: ['test/conformance/frontend-connect.ts', 'toBe(404)'],
  misdirectedRequest: ['proxy/tls/tls.test.ts', 'misdirected request'],
  unsupportedProtocol: ['proxy/http2/websocket.test.ts', "'connect-udp' }, 501"],
  requestTimeoutRead: ['proxy/http/server.test.ts', 'HTTP/1.1 408 '],
  destinationDenied: ['test/conformance/gwbackend-dynamic.ts', 'destination not allowed'],
  responseBroken: ['proxy/upstream/client.test.ts', 'upstream response broken'],
  addressDenied: ['test/security/backend-addresses.test.ts', 'backend address not allowed'],
  routeCycle: ['test/conformance/delegation.ts', 'route delegation cycle detected'],
  invalidBackendType: ['proxy/pipeline/pipeline.test.ts', 'invalid backend type'],
  identityProviderFailed: ['proxy/policy/auth/mcp-oauth/mcp-oauth.test.ts', 'identityProviderFailed'],
  backendTlsInvalid: [
    'test/conformance/gateway-client-certificate.ts',
    'the TLS configuration of the backend is invalid',
  ],
  llmRequestTooLarge: ['test/conformance/frontend-http.ts', 'toBe(413)'],
  promptGuardFailed: ['proxy/llm/guarded.test.ts', 'prompt guard failed'],
  llmResponseInvalid: ['proxy/llm/backend.test.ts', 'failed to process LLM response'],
  modelRequestInvalid: ['proxy/llm/models.test.ts', "error(400, 'invalid_request_body')"],
  subjectTokenRejected: ['proxy/backend/auth/cross-app-access.test.ts', 'status: 400'],
  actorNotPermitted: ['proxy/backend/auth/oauth-token-exchange.test.ts', 'status: 403'],
  modelMissing: ['proxy/llm/models.test.ts', "error(400, 'missing_model')"],
  modelRequestTooLarge: ['proxy/llm/model-request.test.ts', 'modelRequestTooLarge'],
  modelNotFound: ['test/conformance/model.ts', 'model_not_found'],
  modelDenied: ['test/conformance/model.ts', 'model_authorization_denied'],
  virtualModelUnresolved: ['proxy/llm/models.test.ts', 'virtual_model_not_resolved'],
  virtualModelNoMatch: ['proxy/llm/models.test.ts', 'virtual_model_no_matching_target'],
  virtualModelTargetMissing: ['proxy/llm/models.test.ts', 'virtual_model_target_not_found'],
  overloaded: ['proxy/policy/resilience/retry.test.ts', 'overloaded'],
  internal: ['proxy/http2/relay.test.ts', "[503, 'processing failed']"],
}

const folder = mkdtempSync(join(tmpdir(), 'gw-errors-'))
let upstreams: Upstreams
let proxy: SampleProxy
let gateway: SampleGateway
let confused: Server

beforeAll(async () => {
  confused = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: chess\r\n\r\n'),
    )
  })
  const confusedPort = await listening(confused)
  upstreams = await startUpstreams({ socketPath: join(folder, 'echo.sock'), port: () => 0 })
  proxy = await startSampleProxy()
  gateway = await applySample({
    sample: 'csrf.yaml',
    upstreams,
    on: proxy,
    change: () => failingManifests({ confusedPort }),
  })
})

afterAll(async () => {
  await proxy.stop()
  await upstreams.stop()
  confused.close()
  rmSync(folder, { recursive: true })
})

function asked({ path, question = {} }: Row, headers: Readonly<Record<string, string>> = {}) {
  return gateway.ask(path, { ...question, headers: { host: 'a.test', ...question.headers, ...headers } })
}

describe('failures', () => {
  it.each(ROWS)('$code: $status $text', async (row) => {
    const { status, headers, text } = await asked(row)
    expect([status, text]).toEqual([row.status, row.text])
    expect(headers).toMatchObject({ ...(row.text !== '' && { 'content-type': 'text/plain' }), ...row.headers })
    for (const name of row.without ?? []) expect(headers).not.toHaveProperty(name)
  })

  it.each(ROWS.filter(({ grpc }) => grpc !== undefined))('$code: gRPC status $grpc', async (row) => {
    const { status, headers, text } = await asked(row, { 'content-type': 'application/grpc+proto' })
    expect([status, text]).toEqual([200, ''])
    expect(headers).toMatchObject({
      'content-type': 'application/grpc',
      'grpc-status': String(row.grpc),
      'grpc-message': encodeURIComponent(row.text),
    })
  })
})

describe('responses with several checks', () => {
  it('preflights: 200 without a body, with headers for allowed origins only', async () => {
    const preflight = (origin: string) =>
      gateway.ask('/cors', {
        method: 'OPTIONS',
        headers: { host: 'a.test', origin, 'access-control-request-method': 'GET' },
      })
    const allowed = await preflight('https://a.test')
    expect(allowed).toMatchObject({
      status: 200,
      text: '',
      headers: { 'access-control-allow-origin': 'https://a.test' },
    })
    const other = await preflight('https://b.test')
    expect([other.status, other.text]).toEqual([200, ''])
    expect(Object.keys(other.headers).filter((name) => name.startsWith('access-control-'))).toEqual([])
  })

  it('rateLimited: 429 with the remaining requests, by the gateway itself and by a service', async () => {
    const host = { host: 'a.test', 'x-who': 'errors' }
    expect((await gateway.ask('/rate-limit', { headers: host })).status).toBe(200)
    const local = await gateway.ask('/rate-limit', { headers: host })
    expect(local).toMatchObject({
      status: 429,
      text: 'rate limit exceeded',
      headers: { 'x-ratelimit-limit': '1', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': expect.any(String) },
    })
    expect(local.headers['retry-after']).toBe(local.headers['x-ratelimit-reset'])
    const grpc = await gateway.ask('/rate-limit', { headers: { ...host, 'content-type': 'application/grpc' } })
    expect(grpc).toMatchObject({ status: 200, headers: { 'grpc-status': String(UNAVAILABLE) } })
    for (let i = 0; i < 2; i++) expect((await gateway.ask('/rate-limit-global', { headers: host })).status).toBe(200)
    expect((await gateway.ask('/rate-limit-global', { headers: host })).status).toBe(429)
  })

  it('a rejection of the authorization service is forwarded unchanged', async () => {
    const refused = await gateway.ask('/ext-auth', { headers: { host: 'a.test', authorization: 'Bearer mallory' } })
    expect([refused.status, refused.text]).toEqual([403, 'not for you'])
  })

  it('methodNotAllowed: CONNECT, unless the Gateway allows it', async () => {
    expect(await answerTo('CONNECT a.test:443 HTTP/1.1\r\nhost: a.test:443\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 405 [\s\S]*\r\n\r\nmethod not allowed$/,
    )
  })

  it('invalidRequest: no host, or an ambiguous request', async () => {
    const refused = /^HTTP\/1\.1 400 [\s\S]*\r\n\r\ninvalid request$/
    expect(await answerTo('GET / HTTP/1.1\r\n\r\n')).toMatch(refused)
    expect(await answerTo('GET / HTTP/1.1\r\nhost: a.test\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n')).toMatch(
      refused,
    )
  })

  it('the log has the address and the error, the response does not', async () => {
    const { text } = await gateway.ask('/refused', { headers: { host: 'a.test' } })
    expect(text).toBe('upstream call failed: connection refused')
    await expect.poll(() => gateway.log()).toContain('error="127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1"')
    const { text: auth } = await gateway.ask('/backend-auth', { headers: { host: 'a.test' } })
    expect(auth).not.toContain('nowhere')
    await expect.poll(() => gateway.log()).toContain('secret default/nowhere/Authorization is missing')
  })

  it('upgradeFailed: the backend switches to a protocol that was not requested', async () => {
    const upgrade = 'GET /upgrade HTTP/1.1\r\nhost: a.test\r\nconnection: upgrade, close\r\nupgrade: websocket\r\n\r\n'
    expect(await answerTo(upgrade)).toMatch(
      /^HTTP\/1\.1 502 [\s\S]*\r\n\r\nrequest upgrade failed, the backend switched to another protocol$/,
    )
  })

  it.each([
    ['llmRequestInvalid', {}, 400, 'the body is not a JSON object'],
    ['llmRequestEncoding', { 'content-encoding': 'rot13' }, 415, 'content-encoding rot13 is not supported'],
  ])('%s: JSON in the format of the client, whose message names the mistake', async (_, headers, status, cause) => {
    const answer = await gateway.ask('/llm', {
      method: 'POST',
      headers: { host: 'a.test', ...JSON_BODY, ...headers },
      body: 'no json',
    })
    expect([answer.status, answer.headers['content-type']]).toEqual([status, 'application/json'])
    const message = `failed to process LLM request: ${cause}`
    expect(JSON.parse(answer.text)).toMatchObject({ error: { message, type: 'invalid_request_error' } })
  })
})

describe('the registry', () => {
  const here = new Set<string>([...ROWS.map(({ code }) => code), ...SEEN_BELOW])

  it.each(Object.keys(FAILURES))('%s has a test', (code) => {
    const elsewhere = Object.entries(ELSEWHERE).find(([name]) => name === code)?.[1]
    expect(here.has(code) !== (elsewhere !== undefined), 'a row here, or a place in ELSEWHERE; not both').toBe(true)
    if (elsewhere === undefined) return
    const [file, mark] = elsewhere
    expect(readFileSync(join(ROOT, file), 'utf8')).toContain(mark)
  })
})

/** All bytes of the gateway until it closes. */
async function answerTo(request: string): Promise<string> {
  const socket = connect(gateway.port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.write(request)
  await once(socket, 'end')
  socket.destroy()
  return Buffer.concat(chunks).toString('latin1')
}
