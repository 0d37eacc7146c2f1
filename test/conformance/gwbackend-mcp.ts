// GwBackend mcp: one server, several servers, names of tools, selection of servers, failures and sessions.
import { expect } from 'vitest'
import { all, changing, type ConformanceCase } from './suite/case.ts'
import type { Echo } from './suite/echo.ts'
import type { SampleGateway } from './suite/gateway.ts'
import { callTool, toolNames, withMcp } from './suite/mcp-client.ts'
import { adding, localService, type LocalService } from './suite/services.ts'

const SAMPLE = 'gwbackend-mcp.yaml'
const OPENAPI = 'gwbackend-mcp-openapi.yaml'

const DEMO = ['echo', 'add', 'upper']
const WORDS = ['reverse', 'echo']
const prefixed = (target: string, names: readonly string[]): string[] => names.map((name) => `${target}_${name}`)

const namespace = (name: string, labels: object): object => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels },
})
/** Backends of the sample may name the Services of the namespace. */
const grant = (of: string): object => ({
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'ReferenceGrant',
  metadata: { name: 'mcp', namespace: of },
  spec: {
    from: [{ group: 'gw.dev', kind: 'GwBackend', namespace: 'default' }],
    to: [{ group: '', kind: 'Service' }],
  },
})
const mcpService = (service: LocalService): readonly object[] => localService({ appProtocol: 'gw.dev/mcp', ...service })
const targets = (backend: string, ...list: readonly object[]): ((manifests: string) => string) =>
  changing(`GwBackend/${backend}`, { mcp: { targets: list } })
const at = (port: number, more: object = {}) => ({ host: '127.0.0.1', port, ...more })
const service = (name: string) => ({ backendRef: { group: '', kind: 'Service', name, port: 80 } })

/** Nothing listens there. */
const CLOSED_PORT = 1
const demo = { name: 'demo', static: at(18_083) }
const gone = { name: 'gone', static: at(CLOSED_PORT) }

/** The definition of one tool of the server is pinned, another one has changed, and the third is new. */
const pinned = (mode: string): object => ({
  mode,
  tools: [
    {
      target: 'demo',
      name: 'upper',
      digest: 'sha256:c41fbd16948ab26425c87aef22876946d36d57cbe82509e541b885265e983897',
    },
    { target: 'demo', name: 'add', digest: `sha256:${'0'.repeat(64)}` },
  ],
})

/** Headers of the response to a first message at this path. */
async function initialized(gateway: SampleGateway, path: string) {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })
  return gateway.ask(path, { method: 'POST', headers, body })
}

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'MCPOneServer',
    description: 'the names of a single server are unchanged; with prefixMode Always they get the server as prefix',
    sample: SAMPLE,
    async run(gateway) {
      await withMcp(gateway, { path: '/one' }, async (client) => {
        expect(await toolNames(client)).toEqual(['echo', 'add', 'upper'])
        expect(await callTool(client, 'upper', { text: 'hi' })).toBe('HI')
      })
      await withMcp(gateway, { path: '/always' }, async (client) => {
        expect(await toolNames(client)).toEqual(['demo_echo', 'demo_add', 'demo_upper'])
        expect(await callTool(client, 'demo_add', { a: 2, b: 40 })).toBe('42')
      })
    },
  },
  {
    shortName: 'MCPSeveralServers',
    description: 'tools of all servers are listed with prefixes, and calls reach the right server',
    sample: SAMPLE,
    async run(gateway) {
      await withMcp(gateway, { path: '/several' }, async (client) => {
        const names = ['demo_echo', 'demo_add', 'demo_upper', 'words_reverse', 'words_echo']
        expect(await toolNames(client)).toEqual(names)
        expect(await callTool(client, 'demo_echo', { text: 'hi' })).toBe('hi')
        expect(await callTool(client, 'words_echo', { text: 'hi' })).toBe('hi hi')
        expect(await callTool(client, 'words_reverse', { text: 'a b c' })).toBe('c b a')
      })
    },
  },
  {
    shortName: 'MCPConditionalPrefixes',
    description: 'with prefixMode Conditional, the default, only several servers have prefixes',
    sample: SAMPLE,
    change: all(
      changing('GwBackend/one', { mcp: { prefixMode: 'Conditional' } }),
      changing('GwBackend/never', { mcp: { prefixMode: 'Conditional' } }),
    ),
    async run(gateway) {
      await withMcp(gateway, { path: '/one' }, async (client) => expect(await toolNames(client)).toEqual(DEMO))
      await withMcp(gateway, { path: '/never' }, async (client) => {
        expect(await toolNames(client)).toEqual([...prefixed('demo', DEMO), ...prefixed('words', WORDS)])
      })
    },
  },
  {
    shortName: 'MCPNoPrefixes',
    description: 'with prefixMode Never, names of several servers are left out, calls of others reach the right server',
    sample: SAMPLE,
    async run(gateway) {
      await withMcp(gateway, { path: '/never' }, async (client) => {
        expect(await toolNames(client)).toEqual(['add', 'upper', 'reverse'])
        expect(await callTool(client, 'reverse', { text: 'a b c' })).toBe('c b a')
        expect(await callTool(client, 'upper', { text: 'abc' })).toBe('ABC')
        await expect(client.callTool({ name: 'echo', arguments: { text: 'hi' } })).rejects.toThrow('multiple targets')
      })
    },
  },
  {
    shortName: 'MCPSelectors',
    description: 'selectors select Services as targets by their labels and namespaces',
    sample: SAMPLE,
    change: all(
      targets(
        'several',
        { name: 'labels', selector: { services: { matchLabels: { mcp: 'demo' } } } },
        {
          name: 'elsewhere',
          selector: {
            namespaces: {
              matchLabels: { team: 'words' },
              matchExpressions: [
                { key: 'retired', operator: 'DoesNotExist' },
                { key: 'team', operator: 'Exists' },
                { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['default'] },
                { key: 'kubernetes.io/metadata.name', operator: 'In', values: ['words', 'old-words'] },
              ],
            },
            services: {
              matchExpressions: [
                { key: 'mcp', operator: 'Exists' },
                { key: 'retired', operator: 'DoesNotExist' },
                { key: 'stage', operator: 'In', values: ['live', 'canary'] },
                { key: 'stage', operator: 'NotIn', values: ['canary'] },
              ],
            },
          },
        },
      ),
      adding(
        namespace('words', { team: 'words' }),
        namespace('old-words', { team: 'words', retired: 'yes' }),
        grant('words'),
        grant('old-words'),
        ...mcpService({ name: 'demo', targetPort: 18_083, labels: { mcp: 'demo' } }),
        ...mcpService({ name: 'other', targetPort: 18_083, labels: { mcp: 'other' } }),
        ...localService({ name: 'plain', targetPort: 18_083, labels: { mcp: 'demo' } }),
        ...mcpService({
          name: 'words',
          namespace: 'words',
          targetPort: 18_086,
          labels: { mcp: 'words', stage: 'live' },
          annotations: { 'gw.dev/mcp-path': '/words/mcp', 'gw.dev/mcp-target-name': 'words' },
        }),
        ...mcpService({
          name: 'canary',
          namespace: 'words',
          targetPort: 18_086,
          labels: { mcp: 'words', stage: 'canary' },
        }),
        ...mcpService({
          name: 'old',
          namespace: 'old-words',
          targetPort: 18_086,
          labels: { mcp: 'words', stage: 'live' },
        }),
      ),
    ),
    async run(gateway) {
      await withMcp(gateway, { path: '/several' }, async (client) => {
        expect(await toolNames(client)).toEqual([...prefixed('demo-main', DEMO), ...prefixed('words', WORDS)])
        expect(await callTool(client, 'demo-main_upper', { text: 'hi' })).toBe('HI')
        expect(await callTool(client, 'words_reverse', { text: 'a b c' })).toBe('c b a')
      })
    },
  },
  {
    shortName: 'MCPReferencesAndPaths',
    description: 'a target is a Service or a GwBackend, at its own path',
    sample: SAMPLE,
    change: all(
      targets(
        'several',
        { name: 'demo', static: { ...service('demo'), protocol: 'StreamableHTTP' } },
        {
          name: 'words',
          static: { backendRef: { group: 'gw.dev', kind: 'GwBackend', name: 'words' }, path: '/words/mcp' },
        },
      ),
      targets('one', { name: 'words', static: at(18_086, { path: '/elsewhere' }) }),
      adding(...localService({ name: 'demo', targetPort: 18_083 }), {
        apiVersion: 'gw.dev/v1alpha1',
        kind: 'GwBackend',
        metadata: { name: 'words', namespace: 'default' },
        spec: { static: at(18_086) },
      }),
    ),
    async run(gateway) {
      await withMcp(gateway, { path: '/several' }, async (client) => {
        expect(await toolNames(client)).toEqual([...prefixed('demo', DEMO), ...prefixed('words', WORDS)])
        expect(await callTool(client, 'demo_add', { a: 2, b: 40 })).toBe('42')
        expect(await callTool(client, 'words_echo', { text: 'hi' })).toBe('hi hi')
      })
      expect(await initialized(gateway, '/one')).toMatchObject({ status: 404, text: 'no MCP server is here' })
    },
  },
  {
    shortName: 'MCPStateless',
    description: 'clients have no session, and servers with and without sessions serve their calls',
    sample: SAMPLE,
    change: changing('GwBackend/several', { mcp: { sessionRouting: 'Stateless' } }),
    async run(gateway) {
      expect((await initialized(gateway, '/several')).headers).not.toHaveProperty('mcp-session-id')
      await withMcp(gateway, { path: '/several' }, async (client) => {
        expect(await toolNames(client)).toEqual([...prefixed('demo', DEMO), ...prefixed('words', WORDS)])
        expect(await callTool(client, 'demo_upper', { text: 'hi' })).toBe('HI')
        expect(await callTool(client, 'words_reverse', { text: 'a b' })).toBe('b a')
      })
      const headers = { accept: 'text/event-stream' }
      expect((await gateway.ask('/several', { headers })).status).toBe(405)
    },
  },
  {
    shortName: 'MCPStateful',
    description: 'a client has one session for all servers, and without it only a first message is accepted',
    sample: SAMPLE,
    change: changing('GwBackend/several', { mcp: { sessionRouting: 'Stateful' } }),
    async run(gateway) {
      const { status, headers } = await initialized(gateway, '/several')
      expect([status, headers['mcp-session-id']]).toEqual([200, expect.stringMatching(/^[\w-]{20,}$/)])
      const without = await gateway.ask('/several', {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body: '{"jsonrpc":"2.0","id":2,"method":"tools/list"}',
      })
      expect(without.status).toBe(400)
    },
  },
  {
    shortName: 'MCPFailClosed',
    description: 'no session starts if one server does not answer',
    sample: SAMPLE,
    change: changing('GwBackend/several', { mcp: { targets: [demo, gone], failureMode: 'FailClosed' } }),
    async run(gateway) {
      const { status, text } = await initialized(gateway, '/several')
      expect([status, JSON.parse(text)]).toMatchObject([
        500,
        { error: { message: 'the MCP server could not be called' } },
      ])
      await expect.poll(() => gateway.log()).toContain('error="gone: 127.0.0.1:1: connect ECONNREFUSED')
    },
  },
  {
    shortName: 'MCPFailOpen',
    description: 'with the mode that ignores failures, the other servers serve',
    sample: SAMPLE,
    change: changing('GwBackend/several', { mcp: { targets: [demo, gone], failureMode: 'FailOpen' } }),
    async run(gateway) {
      await withMcp(gateway, { path: '/several' }, async (client) => {
        expect(await toolNames(client)).toEqual(prefixed('demo', DEMO))
        expect(await callTool(client, 'demo_upper', { text: 'hi' })).toBe('HI')
      })
    },
  },
  {
    shortName: 'MCPProtocolSse',
    description: 'servers over the SSE transport serve alone and beside servers over Streamable HTTP',
    sample: SAMPLE,
    change: all(
      targets('one', { name: 'old', static: at(18_086, { protocol: 'SSE' }) }),
      targets('several', demo, { name: 'old', static: at(18_086, { protocol: 'SSE', path: '/sse' }) }),
    ),
    async run(gateway) {
      await withMcp(gateway, { path: '/one' }, async (client) => {
        expect(await callTool(client, 'reverse', { text: 'a b c' })).toBe('c b a')
      })
      await withMcp(gateway, { path: '/several' }, async (client) => {
        expect(await toolNames(client)).toEqual([...prefixed('demo', DEMO), ...prefixed('old', WORDS)])
        expect(await callTool(client, 'old_echo', { text: 'hi' })).toBe('hi hi')
      })
      const [accepted] = gateway.conditions('GwBackend', 'one')
      expect(accepted).toMatchObject({ type: 'Accepted', status: 'True', reason: 'Accepted' })
    },
  },
  {
    shortName: 'MCPOpenAPI',
    description: 'operations of an HTTP API are tools, and calls have the credential of the target',
    sample: OPENAPI,
    async run(gateway) {
      await withMcp(gateway, { path: '/mcp', headers: { authorization: 'Bearer mine' } }, async (client) => {
        expect(await toolNames(client)).toEqual(['getOrder', 'createOrder'])
        const got = JSON.parse(String(await callTool(client, 'getOrder', { path: { id: 'a/b' } }))) as Echo
        expect(got).toMatchObject({ server: 'echo', method: 'GET', path: '/api/orders/a%2Fb' })
        expect(got.headers).toMatchObject({ authorization: 'Bearer sample-orders-key' })
        const made = JSON.parse(String(await callTool(client, 'createOrder', { body: { item: 'tea' } }))) as Echo
        expect(made).toMatchObject({ method: 'POST', path: '/api/orders', body: '{"item":"tea"}' })
      })
    },
  },
  {
    shortName: 'MCPOpenAPIWithoutDocument',
    description: 'a target without a valid document has no tools, the status reports it, and other targets serve',
    sample: OPENAPI,
    change: changing('GwBackend/orders', {
      mcp: {
        targets: [
          { name: 'orders', static: at(18_081, { openapi: { schema: { configMapRef: { name: 'orders' } } } }) },
          { name: 'gone', static: at(18_081, { openapi: { schema: { configMapRef: { name: 'gone' } } } }) },
          { name: 'old', static: at(18_081, { openapi: { schema: { inline: 'swagger: "2.0"' } } }) },
          demo,
        ],
      },
    }),
    async run(gateway) {
      const [condition] = gateway.conditions('GwBackend', 'orders')
      expect(condition).toMatchObject({ type: 'Accepted', status: 'True', reason: 'PartiallyValid' })
      expect(condition?.message).toContain('targets[1].static.openapi.schema.configMapRef: ConfigMap default/gone not')
      expect(condition?.message).toContain('targets[2].static.openapi.schema.inline: is not an OpenAPI document')
      await withMcp(gateway, { path: '/mcp' }, async (client) => {
        expect(await toolNames(client)).toEqual(['orders_getOrder', 'orders_createOrder', ...prefixed('demo', DEMO)])
        expect(await callTool(client, 'demo_upper', { text: 'hi' })).toBe('HI')
        await expect(client.callTool({ name: 'gone_getOrder' })).rejects.toThrow('Unknown tool')
      })
    },
  },
  {
    shortName: 'MCPToolPinningRefuse',
    description: 'tools with another definition than their pin are hidden, and calls of them are refused',
    sample: SAMPLE,
    change: changing('GwBackend/one', { mcp: { targets: [demo], toolPinning: pinned('Refuse') } }),
    async run(gateway) {
      await withMcp(gateway, { path: '/one' }, async (client) => {
        expect(await toolNames(client)).toEqual(['upper'])
        expect(await callTool(client, 'upper', { text: 'hi' })).toBe('HI')
        await expect(client.callTool({ name: 'add', arguments: { a: 1, b: 1 } })).rejects.toThrow('Unknown tool')
      })
    },
  },
  {
    shortName: 'MCPToolPinningReport',
    description: 'tools with another definition than their pin are served and reported in the access log',
    sample: SAMPLE,
    change: changing('GwBackend/one', { mcp: { targets: [demo], toolPinning: pinned('Report') } }),
    async run(gateway) {
      await withMcp(gateway, { path: '/one' }, async (client) => expect(await toolNames(client)).toEqual(DEMO))
      await expect.poll(() => gateway.log()).toContain('demo: unknown definitions of tools: echo, add')
    },
  },
]
