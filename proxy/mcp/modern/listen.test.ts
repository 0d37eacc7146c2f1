// Subscriptions of clients of MCP 2026-07-28 to servers of both eras.
// @module-tag full
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { closeServer } from '#test/ports.ts'
import { until } from '#test/wait.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import {
  legacyUpstream,
  type LegacyUpstream,
  mcpRoute,
  modernUpstream,
  type ModernUpstream,
  upstreamRoute,
} from '../servers.testing.ts'

let a: ModernUpstream
let b: ModernUpstream
let old: LegacyUpstream
let gateway: TestProxy

beforeAll(async () => {
  a = await modernUpstream('a')
  b = await modernUpstream('b')
  old = await legacyUpstream('old')
  gateway = await testProxy({
    workers: 1,
    routes: [
      ...[a, b, old].map(upstreamRoute),
      mcpRoute('one', [a]),
      mcpRoute('three', [a, b, old]),
      mcpRoute('ruled', [a, b], {
        inlinePolicies: {
          mcpAuthorization: { action: 'Deny', matchExpressions: ['mcp.resource.target == "a"'] },
        },
      }),
    ],
  })
})

afterAll(async () => {
  await gateway.stop()
  for (const { server } of [a, b, old]) closeServer(server)
})

beforeEach(() => {
  for (const { seen } of [a, b, old]) seen.splice(0)
})

interface Subscriber {
  readonly client: Client
  readonly events: string[]
}

async function subscriber(route: string): Promise<Subscriber> {
  const events: string[] = []
  const client = new Client({ name: 't', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
  client.setNotificationHandler('notifications/tools/list_changed', () => void events.push('tools'))
  client.setNotificationHandler('notifications/prompts/list_changed', () => void events.push('prompts'))
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void events.push(params.uri))
  await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/${route}`)))
  return { client, events }
}

describe('a subscription', () => {
  it('to one server delivers what the client asked for, and nothing else', async () => {
    const { client, events } = await subscriber('one')
    const { honoredFilter } = await client.listen({ toolsListChanged: true })
    expect(honoredFilter).toEqual({ toolsListChanged: true })
    a.handler.notify.promptsChanged()
    a.handler.notify.toolsChanged()
    await until('the event arrives', () => events.length > 0)
    expect(events).toEqual(['tools'])
    await client.close()
  })

  it('to several servers of both eras shows their own URIs', async () => {
    const { client, events } = await subscriber('three')
    const uris = ['a+doc://a/readme', 'old+doc://old/readme', 'missing+doc://x']
    const { honoredFilter } = await client.listen({ toolsListChanged: true, resourceSubscriptions: uris })
    expect(honoredFilter).toEqual({ toolsListChanged: true, resourceSubscriptions: uris.slice(0, 2) })
    a.handler.notify.resourceUpdated('doc://a/readme')
    await until('the event of a arrives', () => events.includes('a+doc://a/readme'))
    b.handler.notify.resourceUpdated('doc://b/readme')
    b.handler.notify.toolsChanged()
    await until('the event of b arrives', () => events.includes('tools'))
    expect(old.seen).toContain('resources/subscribe')
    await until('the gateway listens', () => old.seen.includes('GET'))
    await old.notify('notifications/resources/updated', { uri: 'doc://old/readme' })
    await until('the event of old arrives', () => events.includes('old+doc://old/readme'))
    expect(events).not.toContain('b+doc://b/readme')
    await client.close()
    await until('the session of old has ended', () => old.seen.includes('DELETE'))
  })

  it('has no resources that rules hide', async () => {
    const { client } = await subscriber('ruled')
    const { honoredFilter } = await client.listen({
      resourceSubscriptions: ['a+doc://a/readme', 'b+doc://b/readme'],
    })
    expect(honoredFilter).toEqual({ resourceSubscriptions: ['b+doc://b/readme'] })
    await client.close()
  })

  it('ends with its servers', async () => {
    const c = await modernUpstream('c')
    const other = await testProxy({ workers: 1, routes: [upstreamRoute(c), mcpRoute('c', [c])] })
    const client = new Client({ name: 't', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
    await client.connect(new StreamableHTTPClientTransport(new URL(`${other.url}/c`)))
    const { closed } = await client.listen({ toolsListChanged: true })
    await c.handler.close()
    expect(await closed).toBe('graceful')
    await client.close()
    await other.stop()
    closeServer(c.server)
  })

  it('that is not an object is rejected', async () => {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const response = await fetch(`${gateway.url}/one`, {
      method: 'POST',
      headers: {
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'subscriptions/listen',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: { _meta } }),
    })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { code: -32_602 } })
  })
})
