// Providers that serve rerank at a host of its own: the destination of each request, read from an egress proxy.
import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { AIProvider } from '#api/ir/types.gen.ts'
import { testProxy, type TestProxy, type TestRoute } from '#proxy/main.testing.ts'
import { closeServer, listening } from '#test/ports.ts'

let egress: Server
let gateway: TestProxy
let destinations: (string | undefined)[] = []

beforeAll(async () => {
  egress = createServer().on('connect', ({ url }, client) => {
    destinations.push(url)
    client.end('HTTP/1.1 502 Bad Gateway\r\n\r\n')
  })
  const port = await listening(egress)
  const route = (name: string, provider: AIProvider['provider']): TestRoute => ({
    name,
    prefix: `/${name}`,
    backend: {
      ai: { groups: [{ providers: [{ name: 'p', provider }] }] },
      inlinePolicies: {
        ai: { routes: { '/rerank': 'Rerank', '/embeddings': 'Embeddings' } },
        auth: { key: { secret: 'n/key' } },
        tunnel: { proxy: { backend: 'ns/egress' } },
      },
    },
  })
  gateway = await testProxy({
    secrets: { 'n/key': 'planted' },
    routes: [
      route('vertex', { vertex: { projectId: 'p' } }),
      route('bedrock', { bedrock: { region: 'eu-west-1' } }),
      route('openai', { openai: {} }),
      { name: 'egress', prefix: '/unused', backend: { static: { host: '127.0.0.1', port } } },
    ],
  })
})

afterAll(async () => {
  await gateway.stop()
  closeServer(egress)
})

it.each([
  ['vertex', 'discoveryengine.googleapis.com:443', 'aiplatform.googleapis.com:443'],
  ['bedrock', 'bedrock-agent-runtime.eu-west-1.amazonaws.com:443', 'bedrock-runtime.eu-west-1.amazonaws.com:443'],
  ['openai', 'api.openai.com:443', 'api.openai.com:443'],
])('%s gets rerank requests at %s and others at %s', async (name, rerank, others) => {
  destinations = []
  for (const [path, more] of [
    ['rerank', { query: 'q', documents: ['a'] }],
    ['embeddings', { input: 'hi' }],
  ] as const) {
    const body = JSON.stringify({ model: 'amazon.titan-embed-text-v2:0', ...more })
    const reply = await fetch(`${gateway.url}/${name}/v1/${path}`, { method: 'POST', body })
    expect([reply.status, await reply.text()]).toEqual([503, expect.stringContaining('upstream call failed')])
  }
  expect(destinations).toEqual([rerank, others])
})
