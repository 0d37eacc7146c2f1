// Errors that the gateway itself reports: official SDKs read status, message and type of each.
import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Backend, BackendPayload, RouteType, TrafficPayload } from '#api/ir/types.gen.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { requestOf } from '#proxy/route/request.testing.ts'
import { closeServer, freePort, listening } from '#test/ports.ts'
import { commonFailureBody, failureBodyOf } from './failure-body.ts'
import { bodyFor, CLIENT_NAMES, type ErrorTypes, reported } from './reported-errors.testing.ts'
import { VENDORS } from './translate/vendors.testing.ts'

const ROUTES: Readonly<Record<string, RouteType>> = {
  '/v1/chat/completions': 'Completions',
  '/v1/messages': 'Messages',
  '/v1/messages/count_tokens': 'AnthropicTokenCount',
  '/v1/responses': 'Responses',
  '/v1/embeddings': 'Embeddings',
  '/v1/rerank': 'Rerank',
  ':generateContent': 'GenerateContent',
  '/detect': 'Detect',
  '/plain': 'Passthrough',
}

interface Failure {
  readonly inline?: TrafficPayload
  readonly policies?: BackendPayload
  readonly status: number
  readonly message: string
  /** In the formats of the vendors. */
  readonly types: ErrorTypes
}

const oneOf = (unit: 'Requests' | 'Tokens'): TrafficPayload => ({
  rateLimit: { limits: [{ unit, tokensPerFill: 1, fillIntervalMs: 3_600_000, tokensMax: 1 }] },
})

/** Each is the name of a route; the servers of the providers follow the name as well. */
const FAILURES: Readonly<Record<string, Failure>> = {
  'request limit': {
    inline: oneOf('Requests'),
    status: 429,
    message: 'rate limit exceeded',
    types: ['rate_limit_error', 'rate_limit_error', 'RESOURCE_EXHAUSTED'],
  },
  'token limit': {
    inline: oneOf('Tokens'),
    status: 429,
    message: 'rate limit exceeded',
    types: ['rate_limit_error', 'rate_limit_error', 'RESOURCE_EXHAUSTED'],
  },
  'authorization rule': {
    inline: { authorization: { action: 'Deny', matchExpressions: ['true'] } },
    status: 403,
    message: 'authorization failed',
    types: ['permission_error', 'authentication_error', 'PERMISSION_DENIED'],
  },
  'body limit': {
    inline: { buffer: { request: { bytesMax: 1, failureMode: 'FailClosed' } } },
    status: 413,
    message: 'Payload Too Large',
    types: ['invalid_request_error', 'request_too_large', 'INVALID_ARGUMENT'],
  },
  'invalid answer': {
    status: 502,
    message: 'failed to process LLM response: the provider returned a body that is not a JSON object',
    types: ['api_error', 'api_error', 'INTERNAL'],
  },
  'closed port': {
    status: 503,
    message: 'upstream call failed: connection refused',
    types: ['api_error', 'api_error', 'INTERNAL'],
  },
  timeout: {
    inline: { timeouts: { backendRequestMs: 50 } },
    status: 504,
    message: 'upstream call timeout',
    types: ['timeout_error', 'api_error', 'DEADLINE_EXCEEDED'],
  },
}

/** For a client of Gemini, which is translated. */
const ANSWER = VENDORS.Completions.whole({ text: 'x', stop: 'stop', usage: { input: 9, cached: 0, output: 9 } })

let upstream: Server
let gateway: TestProxy

beforeAll(async () => {
  upstream = createServer((request, response) => {
    request.resume()
    if (request.headers['x-case'] === 'timeout') return
    const usage = { prompt_tokens: 9, input_tokens: 9, completion_tokens: 9, output_tokens: 9 }
    request.on('end', () =>
      response.end(request.headers['x-case'] === 'invalid answer' ? '<html>' : json({ ...ANSWER, usage })),
    )
  })
  const open = { host: '127.0.0.1', port: await listening(upstream) }
  const closed = { host: '127.0.0.1', port: await freePort() }
  const backend = (hostOverride: typeof open, policies: BackendPayload = {}): Omit<Backend, 'key' | 'name'> => ({
    // A provider with the formats of all clients but Gemini.
    ai: { groups: [{ providers: [{ name: 'p', provider: { custom: { formats: ALL_FORMATS } }, hostOverride }] }] },
    inlinePolicies: { ai: { routes: ROUTES }, ...policies },
  })
  gateway = await testProxy({
    routes: [
      ...Object.entries(FAILURES).map(([name, { inline, policies }]) => ({
        name: slug(name),
        prefix: `/${slug(name)}`,
        backend: backend(name === 'closed port' ? closed : open, policies),
        ...(inline && { inline }),
      })),
      { name: 'open', prefix: '/open', backend: backend(open) },
      {
        name: 'configured',
        prefix: '/configured',
        backend: backend(open),
        inline: { directResponse: { status: 503, body: 'back at noon' } },
      },
      { name: 'models', prefix: '/models', backend: { models: { models: [{ name: 'here', backend: 'ns/open' }] } } },
    ],
  })
})

afterAll(async () => {
  await gateway.stop()
  closeServer(upstream)
})

const ALL_FORMATS = (
  ['Completions', 'Messages', 'Responses', 'Embeddings', 'AnthropicTokenCount', 'Rerank'] as const
).map((type) => ({ type }))

const slug = (name: string): string => name.replace(' ', '-')
const json = (value: unknown): string => JSON.stringify(value)

describe.each(CLIENT_NAMES)('a client of %s', (client) => {
  it.each(Object.entries(FAILURES))('reads message and type: %s', async (name, { status, message, types }) => {
    // A limit of one is used up by the first request.
    if (status === 429) await reported(client, `${gateway.url}/${slug(name)}`)
    expect(await reported(client, `${gateway.url}/${slug(name)}`, { 'x-case': name })).toMatchObject({
      status,
      body: bodyFor(client, message, types),
      text: expect.stringContaining(message),
    })
  })

  it('reads that a model does not exist', async () => {
    const types = ['invalid_request_error', 'not_found_error', 'NOT_FOUND'] as const
    expect(await reported(client, `${gateway.url}/models`)).toMatchObject({
      status: 404,
      body: bodyFor(client, 'model not found', types),
    })
  })
})

const ask = async (path: string, body: string, headers: Record<string, string> = {}): Promise<unknown> => {
  const reply = await fetch(gateway.url + path, { method: 'POST', body, headers })
  return [reply.status, reply.headers.get('content-type'), await reply.text()]
}

describe('the body', () => {
  it('is JSON for a request that cannot be read', async () => {
    const message = 'failed to process LLM request: the body is not a JSON object'
    const error = { message, type: 'invalid_request_error', param: null, code: null }
    expect(await ask('/open/v1/rerank', '[')).toEqual([400, 'application/json', json({ error })])
    const unknown = await ask('/open/v1/messages', '{}', { 'content-encoding': 'rot13' })
    expect(unknown).toEqual([
      415,
      'application/json',
      expect.stringContaining(
        '"invalid_request_error","message":"failed to process LLM request: content-encoding rot13',
      ),
    ])
    const large = await ask('/open/v1/messages', ' '.repeat(2_097_153))
    expect(large).toEqual([413, 'application/json', expect.stringContaining('"type":"request_too_large"')])
  })

  it('has the format of the path if no route matches', async () => {
    const error = { type: 'not_found_error', message: 'route not found' }
    expect(await ask('/v1/messages', '{}')).toEqual([404, 'application/json', json({ type: 'error', error })])
    expect(await ask('/v1/files', '{}')).toEqual([404, 'text/plain', 'route not found'])
  })

  it('is text for a request that is only forwarded', async () => {
    expect(await ask('/authorization-rule/detect', '{}')).toEqual([403, 'text/plain', 'authorization failed'])
    expect(await ask('/closed-port/plain', '{}')).toEqual([503, 'text/plain', FAILURES['closed port']?.message])
  })

  it('is JSON of OpenAI for an unknown model and any path', async () => {
    expect(await ask('/models/files', '{"model":"m"}')).toEqual([
      404,
      'application/json',
      expect.stringContaining('"code":"model_not_found"'),
    ])
  })

  it('is as configured for a direct response', async () => {
    expect(await ask('/configured/v1/messages', '{}')).toEqual([503, 'text/plain', 'back at noon'])
  })

  it('is trailers for a gRPC client', async () => {
    const reply = await fetch(`${gateway.url}/authorization-rule/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/grpc' },
    })
    expect([reply.status, reply.headers.get('grpc-message'), await reply.text()]).toEqual([
      200,
      encodeURIComponent('authorization failed'),
      '',
    ])
  })
})

describe('before one of several backends is selected', () => {
  const failure = { status: 503, text: 'x', apiCode: undefined }
  const chat = failureBodyOf({ '/a': 'Completions', '/b': 'Completions' })
  const mixed = failureBodyOf({ '/a': 'Completions', '/b': 'Messages' })
  const [a, b] = [requestOf({ path: '/a' }), requestOf({ path: '/b' })]

  it('the format is known if all have it', () => {
    expect(commonFailureBody([chat, mixed])?.(failure, a)).toBe(chat(failure, a))
    expect(commonFailureBody([chat, mixed])?.(failure, b)).toBeUndefined()
    expect(commonFailureBody([chat, undefined])?.(failure, a)).toBeUndefined()
    expect(commonFailureBody([undefined, chat])).toBeUndefined()
  })
})
