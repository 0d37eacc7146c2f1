// Rules of backends with several servers, for every method with an item and every list, in both eras.
import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { isRecord, recordOf } from '#api/json.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { closeServer, listening } from '#test/ports.ts'
import { mcpRoute, upstreamRoute } from './servers.testing.ts'

type Json = Readonly<Record<string, unknown>>

/** Names that the rules hide of server b, and of no other server. */
const NAMES = {
  tool: 'secret-tool',
  prompt: 'secret-prompt',
  resource: 'doc://secret',
  template: 'doc://secret/{page}',
  task: 'secret-task',
} as const
const RULES = [
  `mcp.tool.target == "b" && mcp.tool.name == "${NAMES.tool}"`,
  `mcp.prompt.target == "b" && mcp.prompt.name == "${NAMES.prompt}"`,
  `mcp.resource.target == "b" && mcp.resource.name in ["${NAMES.resource}", "${NAMES.template}"]`,
  `mcp.task.target == "b" && mcp.task.name == "${NAMES.task}"`,
]

/** Requests for items that have reached a server: its name, the method and its own name of the item. */
const reached: string[] = []
const servers: Server[] = []
let gateway: TestProxy

const LISTS: Readonly<Record<string, object>> = {
  'tools/list': { tools: [NAMES.tool, 'open'].map((name) => ({ name, inputSchema: { type: 'object' } })) },
  'prompts/list': { prompts: [NAMES.prompt, 'open'].map((name) => ({ name })) },
  'resources/list': { resources: [NAMES.resource, 'doc://open'].map((uri) => ({ uri, name: 'n' })) },
  'resources/templates/list': { resourceTemplates: [{ uriTemplate: NAMES.template, name: 'n' }] },
  'tasks/list': { tasks: [NAMES.task, 'open'].map((taskId) => ({ taskId, status: 'working' })) },
}

function resultOf(server: string, era: 'legacy' | 'modern', method: string, params: Json): object | undefined {
  const capabilities = { tools: {}, prompts: {}, resources: { subscribe: true }, completions: {}, tasks: { list: {} } }
  const serverInfo = { name: server, version: '1' }
  if (method === 'initialize') {
    return era === 'legacy' ? { protocolVersion: '2025-11-25', capabilities, serverInfo } : undefined
  }
  if (method === 'server/discover') {
    return era === 'modern' ? { supportedVersions: ['2026-07-28'], capabilities, serverInfo } : undefined
  }
  const listed = LISTS[method]
  if (listed !== undefined) return listed
  const ref = recordOf(params['ref'])
  const name = params['name'] ?? params['uri'] ?? params['taskId'] ?? ref['name'] ?? ref['uri']
  reached.push(`${server} ${method} ${String(name)}`)
  return {}
}

async function upstream(server: string, era: 'legacy' | 'modern') {
  const http = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk: Buffer) => (text += chunk.toString()))
    request.on('end', () => {
      const { id, method, params } = recordOf(text === '' ? {} : (JSON.parse(text) as unknown))
      const result = id === undefined ? undefined : resultOf(server, era, String(method), recordOf(params))
      const error = { code: -32_601, message: 'Method not found' }
      const status = id === undefined ? 202 : result === undefined ? 404 : 200
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(id === undefined ? '' : JSON.stringify({ jsonrpc: '2.0', id, ...(result ? { result } : { error }) }))
    })
  })
  servers.push(http)
  return { name: server, port: await listening(http) }
}

beforeAll(async () => {
  const legacy = await Promise.all(['a', 'b'].map((name) => upstream(name, 'legacy')))
  const modern = await Promise.all(['a', 'b'].map((name) => upstream(name, 'modern')))
  const deny = (expression: string, index: number) => ({
    key: `rule-${index}`,
    name: { kind: 'GwPolicy', namespace: 'ns', name: `rule-${index}` },
    target: { gateway: { namespace: 'ns', name: 'gw' } },
    policy: { backend: { mcpAuthorization: { action: 'Deny' as const, matchExpressions: [expression] } } },
  })
  gateway = await testProxy({
    routes: [...[...legacy, ...modern].map(upstreamRoute), mcpRoute('legacy', legacy), mcpRoute('modern', modern)],
    policies: RULES.map(deny),
  })
})

afterAll(async () => {
  await gateway.stop()
  for (const server of servers) closeServer(server)
})

beforeEach(() => void reached.splice(0))

type Ask = (method: string, params?: Json) => Promise<{ readonly status: number; readonly body: Json }>

/** Requests of a client of the era. */
function asker(era: 'legacy' | 'modern', route: string): Ask {
  const headers: Record<string, string> = {
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
  }
  const send: Ask = async (method, params = {}) => {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const name = params['name'] ?? params['uri'] ?? params['taskId']
    const own =
      era === 'legacy'
        ? {}
        : {
            'mcp-protocol-version': '2026-07-28',
            'mcp-method': method,
            ...(name !== undefined && { 'mcp-name': name }),
          }
    const response = await fetch(`${gateway.url}/${route}`, {
      method: 'POST',
      headers: { ...headers, ...(own as Record<string, string>) }, // names of this file
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: era === 'legacy' ? params : { ...params, _meta } }),
    })
    const session = response.headers.get('mcp-session-id')
    if (session !== null) headers['mcp-session-id'] = session
    const text = await response.text()
    return { status: response.status, body: recordOf(JSON.parse(text.slice(text.indexOf('{')))) }
  }
  if (era === 'modern') return send
  const clientInfo = { name: 't', version: '1' }
  const opened = send('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
  return async (method, params) => {
    await opened
    return send(method, params)
  }
}

const ITEMS: readonly (readonly [method: string, of: (target: string) => Json, own: string])[] = [
  ['tools/call', (target) => ({ name: `${target}_${NAMES.tool}` }), NAMES.tool],
  ['prompts/get', (target) => ({ name: `${target}_${NAMES.prompt}` }), NAMES.prompt],
  ['resources/read', (target) => ({ uri: `${target}+${NAMES.resource}` }), NAMES.resource],
  [
    'completion/complete',
    (target) => ({
      ref: { type: 'ref/prompt', name: `${target}_${NAMES.prompt}` },
      argument: { name: 'x', value: '' },
    }),
    NAMES.prompt,
  ],
  [
    'completion/complete',
    (target) => ({
      ref: { type: 'ref/resource', uri: `${target}+${NAMES.template}` },
      argument: { name: 'x', value: '' },
    }),
    NAMES.template,
  ],
  ['tasks/get', (target) => ({ taskId: `${target}+${NAMES.task}` }), NAMES.task],
  ['tasks/result', (target) => ({ taskId: `${target}+${NAMES.task}` }), NAMES.task],
  ['tasks/update', (target) => ({ taskId: `${target}+${NAMES.task}` }), NAMES.task],
  ['tasks/cancel', (target) => ({ taskId: `${target}+${NAMES.task}` }), NAMES.task],
]
const LEGACY_ITEMS: typeof ITEMS = [
  ['resources/subscribe', (target) => ({ uri: `${target}+${NAMES.resource}` }), NAMES.resource],
  ['resources/unsubscribe', (target) => ({ uri: `${target}+${NAMES.resource}` }), NAMES.resource],
]

/** The names in a list. */
function namesIn(body: Json, key: string, field: string): unknown[] {
  const items = recordOf(body['result'])[key]
  return Array.isArray(items) ? items.map((item: unknown) => (isRecord(item) ? item[field] : undefined)) : []
}

describe.each([
  ['legacy', 'legacy', [...ITEMS, ...LEGACY_ITEMS]],
  ['modern', 'modern', ITEMS],
] as const)('rules for clients of the %s era', (era, route, items) => {
  it.each(items)('decide about %s: %o', async (method, of, own) => {
    const ask = asker(era, route)
    await ask('tools/list')
    const denied = await ask(method, of('b'))
    expect(denied).toMatchObject({ status: 400, body: { error: { code: -32_602 } } })
    expect(reached).toEqual([])
    expect(await ask(method, of('a'))).toMatchObject({ status: 200, body: { result: {} } })
    expect(reached).toEqual([`a ${method} ${own}`])
  })

  it.each([
    ['tools/list', 'tools', 'name', [`a_${NAMES.tool}`, 'a_open', 'b_open']],
    ['prompts/list', 'prompts', 'name', [`a_${NAMES.prompt}`, 'a_open', 'b_open']],
    ['resources/list', 'resources', 'uri', [`a+${NAMES.resource}`, 'a+doc://open', 'b+doc://open']],
    ['resources/templates/list', 'resourceTemplates', 'uriTemplate', [`a+${NAMES.template}`]],
    ['tasks/list', 'tasks', 'taskId', [`a+${NAMES.task}`, 'a+open', 'b+open']],
  ])('filter %s', async (method, key, field, expected) => {
    const { status, body } = await asker(era, route)(method)
    expect(status).toBe(200)
    expect(namesIn(body, key, field)).toEqual(expected)
  })

  it('cannot be avoided by a reference with a name and a URI', async () => {
    const ref = { type: 'ref/prompt', name: NAMES.prompt, uri: 'b+doc://open' }
    const { status } = await asker(era, route)('completion/complete', { ref, argument: { name: 'x', value: '' } })
    expect(status).toBe(400)
    expect(reached).toEqual([])
  })
})
