// No address of the agent leaves the gateway: all fields of a card, and the cards for authenticated clients.
import { describe, expect, it } from 'vitest'
import type { Exchange } from '../exchange/exchange.ts'
import { IncomingBody } from '../message/incoming-body.ts'
import { exchangeOf, type ExchangeParts, upstreamResponse } from '../policy/exchange.testing.ts'
import { a2aBackend, rememberCardRequest } from './agent-card.ts'

const BYTES_MAX = 4000
/** The form of agents of version 0.3. */
const CARD = {
  name: 'a',
  description: 'Docs: http://agent:9999/docs?x=1#top, mail https://other.example/contact',
  url: 'http://agent:9999/a2a',
  preferredTransport: 'JSONRPC',
  additionalInterfaces: [
    { url: 'http://agent:9999/a2a', transport: 'JSONRPC' },
    { url: 'https://grpc.agent:50051', transport: 'GRPC' },
    { url: 'agent:50052', transport: 'GRPC' },
    { url: 'HTTP://AGENT:9999/a2a/v1', transport: 'HTTP+JSON' },
  ],
  provider: { organization: 'o', url: 'https://agent.example' },
  documentationUrl: 'http://agent:9999/a2a/docs',
  iconUrl: 'http://10.0.0.7:8080/icon.png',
  securitySchemes: {
    oidc: { type: 'openIdConnect', openIdConnectUrl: 'https://idp.example/.well-known/openid-configuration' },
  },
  skills: [{ id: 's', description: 'see https://grpc.agent:50051/skills' }],
  signatures: [{ protected: 'e30', signature: 'x' }],
}
/** Names of the agent behind the gateway. */
const OWN = /agent:|10\.0\.0\.7|signature/i

interface Asked extends ExchangeParts {
  /** Path after a rewrite of the route. */
  readonly rewritten?: string
  readonly answer: string
  readonly status?: number
  readonly fields?: readonly (readonly [string, string])[]
  readonly sent?: string
}

function textOf(response: Exchange['response']): string {
  const body = response?.body
  return Buffer.isBuffer(body) ? body.toString('utf8') : ''
}

async function ask({ rewritten, answer, status = 200, fields = [], sent, ...parts }: Asked): Promise<Exchange> {
  const exchange = exchangeOf({ headers: [['content-type', 'application/json']], ...parts })
  void rememberCardRequest.filter(exchange)
  if (rewritten !== undefined) exchange.request.path = rewritten
  if (sent !== undefined) {
    const body = new IncomingBody({ pauseBody: () => {}, resumeBody: () => {}, cancelBody: () => {} }, undefined)
    exchange.request.body = body
    setImmediate(() => {
      body.push(Buffer.from(sent), 0, sent.length)
      body.end()
    })
  }
  const handler = a2aBackend((own, done) => {
    own.endpoint = '10.0.0.7:8080'
    const answered = (): void => {
      const response = upstreamResponse([['content-type', 'application/json'], ...fields], Buffer.from(answer))
      response.status = status
      own.response = response
      done(own)
    }
    if (own.request.body instanceof IncomingBody) void own.request.body.collect(100_000).then(answered)
    else answered()
  }, BYTES_MAX)
  return new Promise((resolve) => handler(exchange, resolve))
}

const call = (method: string, more: object = {}): string => JSON.stringify({ jsonrpc: '2.0', id: 1, method, ...more })
const result = (value: unknown): string => JSON.stringify({ jsonrpc: '2.0', id: 1, result: value })
const SHOWN_INTERFACES = [
  { url: 'http://example.com/agents/a', transport: 'JSONRPC' },
  { url: 'http://example.com/agents/a', transport: 'GRPC' },
  { url: 'http://example.com/agents/a', transport: 'GRPC' },
  { url: 'http://example.com/agents/a/v1', transport: 'HTTP+JSON' },
]

describe('a card of version 0.3', () => {
  it("contains the gateway's address in all its fields, and no signature", async () => {
    const { response } = await ask({
      path: '/agents/a/.well-known/agent-card.json',
      rewritten: '/a2a/.well-known/agent-card.json',
      answer: JSON.stringify(CARD),
      fields: [['content-digest', 'sha-256=:x:']],
    })
    expect(JSON.parse(textOf(response))).toEqual({
      ...CARD,
      signatures: undefined,
      description: 'Docs: http://example.com/agents/a/docs?x=1#top, mail https://other.example/contact',
      url: 'http://example.com/agents/a',
      additionalInterfaces: SHOWN_INTERFACES,
      documentationUrl: 'http://example.com/agents/a/docs',
      iconUrl: 'http://example.com/agents/a/icon.png',
      skills: [{ id: 's', description: 'see http://example.com/agents/a/skills' }],
    })
    expect(textOf(response)).not.toMatch(OWN)
    expect(response?.headers.has('content-digest')).toBe(false)
  })

  it('is never requested in ranges, and is rewritten for every successful status', async () => {
    const headers = [
      ['range', 'bytes=0-9'],
      ['if-range', 'x'],
    ] as const
    const exchange = await ask({ path: '/.well-known/agent.json', headers, answer: JSON.stringify(CARD), status: 203 })
    expect(exchange.request.headers.has('range')).toBe(false)
    expect(textOf(exchange.response)).not.toMatch(OWN)
  })

  it('is found if the route rewrites the whole path', async () => {
    const { response } = await ask({
      path: '/card',
      rewritten: '/.well-known/agent.json',
      answer: JSON.stringify(CARD),
    })
    expect(JSON.parse(textOf(response))).toMatchObject({ url: 'http://example.com' })
    expect(textOf(response)).not.toMatch(OWN)
  })

  it('is not forwarded if it is nested too deeply', async () => {
    const deep = `{"url":"http://agent:9999","x":${'['.repeat(100)}${']'.repeat(100)}}`
    const { response } = await ask({ path: '/.well-known/agent.json', answer: deep })
    expect(response?.status).toBe(503)
  })
})

describe('an extended card', () => {
  it.each(['agent/getAuthenticatedExtendedCard', 'GetExtendedAgentCard'])('by JSON-RPC %s', async (method) => {
    const exchange = await ask({
      method: 'POST',
      path: '/agents/a',
      rewritten: '/a2a',
      sent: call(method),
      answer: result(CARD),
      headers: [
        ['content-type', 'application/json'],
        ['accept-encoding', 'gzip'],
      ],
    })
    const { response } = exchange
    expect(JSON.parse(textOf(response))).toMatchObject({
      id: 1,
      result: { url: 'http://example.com/agents/a', additionalInterfaces: SHOWN_INTERFACES },
    })
    expect(textOf(response)).not.toMatch(OWN)
    expect(exchange.request.headers.has('accept-encoding')).toBe(false)
    expect(exchange.a2a).toMatchObject({ method, outcome: 'success' })
  })

  it.each([
    ['in a batch', `[${call('message/send')},${call('GetExtendedAgentCard')}]`, `[{"id":0},${result(CARD)}]`],
    [
      'with a request that is larger than the buffer',
      call('GetExtendedAgentCard', { pad: 'x'.repeat(5000) }),
      result(CARD),
    ],
  ])('%s', async (_, sent, answer) => {
    const { response } = await ask({ method: 'POST', path: '/', sent, answer })
    expect(textOf(response)).toContain('http://example.com')
    expect(textOf(response)).not.toMatch(OWN)
  })

  it('for a JSON request with another content type', async () => {
    const headers = [['content-type', 'text/plain']] as const
    const { response } = await ask({
      method: 'POST',
      path: '/',
      headers,
      sent: call('GetExtendedAgentCard'),
      answer: result(CARD),
    })
    expect(textOf(response)).not.toMatch(OWN)
  })

  it.each(['/v1/card', '/extendedAgentCard', '/agent/authenticatedExtendedCard'])('by REST at %s', async (suffix) => {
    const { response } = await ask({
      path: `/agents/a${suffix}`,
      rewritten: `/a2a${suffix}`,
      answer: JSON.stringify(CARD),
    })
    expect(JSON.parse(textOf(response))).toMatchObject({ url: 'http://example.com/agents/a' })
    expect(textOf(response)).not.toMatch(OWN)
  })

  it.each<[string, Asked]>([['is compressed', { answer: 'gzip', fields: [['content-encoding', 'gzip']] }]])(
    'is not passed on when it %s',
    async (_, asked) => {
      const { response } = await ask({ method: 'POST', path: '/', sent: call('GetExtendedAgentCard'), ...asked })
      expect(response?.status).toBe(503)
    },
  )

  it.each<[string, Asked]>([
    [
      'other calls',
      { method: 'POST', path: '/', sent: call('message/send'), answer: result({ url: 'http://agent:9999/' }) },
    ],
    [
      'REST calls',
      { method: 'POST', path: '/v1/message:send', sent: '{"message":{}}', answer: '{"url":"http://agent:9999/"}' },
    ],
    [
      'errors',
      { method: 'POST', path: '/', sent: call('GetExtendedAgentCard'), answer: '{"id":1,"error":{"code":1}}' },
    ],
    ['something else at the path of a card', { path: '/v1/card', answer: '{"suit":"hearts"}' }],
    ['refusals', { path: '/v1/card', status: 401, answer: '{"url":"x"}' }],
  ])('%s is not a request for a card', async (_, asked) => {
    const { response } = await ask(asked)
    expect([response?.status, textOf(response)]).toEqual([asked.status ?? 200, asked.answer])
  })
})
