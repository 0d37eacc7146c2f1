// Addresses of an agent card: by version, prefix, scheme and host; invalid cards are not forwarded. Which are agents.
import { describe, expect, it } from 'vitest'
import { emptyConfig } from '#api/ir/empty.ts'
import { TargetDirectory } from '../backend/directory.ts'
import { EndpointTable } from '../backend/endpoints.ts'
import { TargetResolver } from '../backend/targets.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { exchangeOf, type ExchangeParts, upstreamResponse } from '../policy/exchange.testing.ts'
import { a2aBackend, rememberCardRequest } from './agent-card.ts'

interface Asked extends ExchangeParts {
  /** Path after a rewrite of the route. */
  readonly rewritten?: string
  readonly status?: number
  readonly encoding?: string
}

/** For bodies in memory. */
function textOf(response: Exchange['response']): string {
  const body = response?.body
  return Buffer.isBuffer(body) ? body.toString('utf8') : ''
}

/** The response to the client, and the request to the agent. */
async function ask(asked: Asked, card: string): Promise<Exchange> {
  const exchange = exchangeOf(asked)
  void rememberCardRequest.filter(exchange)
  if (asked.rewritten !== undefined) exchange.request.path = asked.rewritten
  exchange.request.host = 'agent:9999'
  const handler = a2aBackend((own, done) => {
    const headers = [['content-length', String(card.length)] as const]
    const response = upstreamResponse(headers, Buffer.from(card))
    response.status = asked.status ?? 200
    if (asked.encoding !== undefined) response.headers.set('content-encoding', asked.encoding)
    own.response = response
    done(own)
  }, 1000)
  return new Promise((resolve) => handler(exchange, resolve))
}

const OLD = '{"name":"a","url":"http://agent:9999/"}'
const NEW = '{"supportedInterfaces":[{"url":"http://agent:9999/a2a/v1","protocolBinding":"JSONRPC"},{"x":1}]}'

describe('agent card', () => {
  it.each<[string, Asked, string, unknown]>([
    ['version 0.3', { path: '/.well-known/agent.json' }, OLD, { name: 'a', url: 'http://example.com' }],
    [
      'a prefix that the route takes away',
      { path: '/agents/a/.well-known/agent-card.json', rewritten: '/.well-known/agent-card.json' },
      OLD,
      { name: 'a', url: 'http://example.com/agents/a' },
    ],
    [
      'version 1.0',
      { path: '/agents/a/.well-known/agent-card.json', rewritten: '/.well-known/agent-card.json' },
      NEW,
      { supportedInterfaces: [{ url: 'http://example.com/agents/a/a2a/v1', protocolBinding: 'JSONRPC' }, { x: 1 }] },
    ],
    [
      'version 1.0 with a prefix of the agent',
      { path: '/mine/.well-known/agent-card.json', rewritten: '/a2a/.well-known/agent-card.json' },
      NEW,
      { supportedInterfaces: [{ url: 'http://example.com/mine/v1', protocolBinding: 'JSONRPC' }, { x: 1 }] },
    ],
    [
      'the scheme that the client used at a load balancer',
      { path: '/.well-known/agent.json', host: 'a.example.com:8443', headers: [['x-forwarded-proto', 'https']] },
      OLD,
      { name: 'a', url: 'https://a.example.com:8443' },
    ],
    [
      'an invalid scheme',
      { path: '/.well-known/agent.json', headers: [['x-forwarded-proto', 'evil://x?']] },
      OLD,
      { name: 'a', url: 'http://example.com' },
    ],
  ])('%s', async (_title, asked, card, expected) => {
    const { response } = await ask(asked, card)
    expect(response?.status).toBe(200)
    expect(JSON.parse(textOf(response))).toEqual(expected)
    expect(response?.headers.has('content-length')).toBe(false)
  })

  it.each([
    ['no JSON', 'oops', {}],
    ['a list', '[]', {}],
    ['neither field', '{"name":"a"}', {}],
    ['more than the buffer takes in another coding', OLD, { encoding: 'gzip' }],
  ])('of %s is not forwarded', async (_title, card, parts) => {
    const { response } = await ask({ path: '/.well-known/agent.json', ...parts }, card)
    expect(response?.status).toBe(503)
  })

  it('leaves other requests and responses unchanged', async () => {
    for (const asked of [
      { path: '/other' },
      { path: '/.well-known/agent.json', method: 'POST' },
      { path: '/.well-known/agent.json', status: 404 },
    ]) {
      const { response } = await ask(asked, OLD)
      expect(textOf(response)).toBe(OLD)
      expect(response?.headers.get('content-length')).toBe(String(OLD.length))
    }
  })

  it('requests an uncompressed response from the agent', async () => {
    const headers = [['accept-encoding', 'gzip']] as const
    const exchange = await ask({ path: '/.well-known/agent.json', headers }, OLD)
    expect(exchange.request.headers.has('accept-encoding')).toBe(false)
  })
})

describe('agents', () => {
  const service = (port: number) => ({ service: { hostname: 'h.ns.svc', namespace: 'ns', port } })
  const resolver = new TargetResolver(
    TargetDirectory.of({
      ...emptyConfig(),
      backends: [
        { key: 'ns/agent', name: { namespace: 'ns', name: 'agent' }, static: { host: 'a', port: 1 }, a2a: true },
        { key: 'ns/plain', name: { namespace: 'ns', name: 'plain' }, static: { host: 'a', port: 1 } },
      ],
      services: [
        {
          name: 'h',
          namespace: 'ns',
          hostname: 'h.ns.svc',
          ports: [{ port: 80, appProtocol: 'gw.dev/a2a' }, { port: 81, appProtocol: 'http' }, { port: 82 }],
        },
      ],
    }),
    new EndpointTable(undefined),
  )

  it.each([
    [{ backend: 'ns/agent' }, true],
    [{ backend: 'ns/plain' }, false],
    [{ backend: 'ns/none' }, false],
    [service(80), true],
    [service(81), false],
    [service(82), false],
    [{ invalid: { reason: 'InvalidKind' as const, message: '' } }, false],
  ])('%o: %s', (ref, expected) => {
    expect(resolver.isAgent(ref)).toBe(expected)
  })
})
