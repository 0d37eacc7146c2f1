import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeServer, listening } from '#test/ports.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { namingOf } from './names.ts'
import { mcpRoute, upstreamRoute } from './servers.testing.ts'
import { withOwnTasks, withShownTasks } from './tasks.ts'

const RELATED = 'io.modelcontextprotocol/related-task'
const naming = namingOf({
  targets: [{ name: 'a' }, { name: 'b' }],
  sessionRouting: 'Stateful',
  prefixMode: 'Conditional',
  failureMode: 'FailClosed',
})

describe('ids of tasks', () => {
  it.each([
    ['a created task', { task: { taskId: 't', status: 'working' } }, { task: { taskId: 'a+t', status: 'working' } }],
    ['a task', { taskId: 't', status: 'working' }, { taskId: 'a+t', status: 'working' }],
    [
      'a related task',
      { _meta: { [RELATED]: { taskId: 't' }, x: 1 } },
      { _meta: { [RELATED]: { taskId: 'a+t' }, x: 1 } },
    ],
    ['a field of a tool', { taskId: 't' }, { taskId: 't' }],
    ['a request for a task', { task: { ttl: 1 } }, { task: { ttl: 1 } }],
  ])('of %s name their server', (_, own, shown) => {
    expect(withShownTasks(naming, 'a', own)).toEqual(shown)
    expect(withOwnTasks(naming, 'a', shown)).toEqual(own)
  })

  it('of another server never reach a server', () => {
    const related = { _meta: { [RELATED]: { taskId: 'b+t' } } }
    expect(withOwnTasks(naming, 'a', related)).toEqual({ _meta: { [RELATED]: {} } })
  })
})

const servers: Server[] = []
let gateway: TestProxy

interface Asked {
  readonly id?: number
  readonly method: string
  readonly params?: { readonly taskId?: string }
}

const CAPABILITIES = { tools: {}, tasks: { list: {}, requests: { tools: { call: {} } } } }

/** Its only task is `one`. */
function answerOf(name: string, { method, params }: Asked): object {
  const task = { taskId: 'one', status: 'completed', ttl: 1, createdAt: '', lastUpdatedAt: '' }
  if (method === 'initialize') {
    return {
      protocolVersion: '2025-11-25',
      capabilities: name === 'a' ? CAPABILITIES : { tasks: { cancel: {} } },
      serverInfo: { name, version: '1' },
    }
  }
  if (method === 'tasks/list') return { tasks: [task] }
  if (method === 'tools/call') return { task }
  return { ...task, taskId: params?.taskId, answeredBy: name }
}

beforeAll(async () => {
  const upstreams = await Promise.all(
    ['a', 'b'].map(async (name) => {
      const server = createServer((request, response) => {
        const chunks: Buffer[] = []
        request.on('data', (chunk: Buffer) => chunks.push(chunk))
        request.on('end', () => {
          // Messages of the gateway.
          const asked = JSON.parse(Buffer.concat(chunks).toString()) as Asked
          if (asked.id === undefined) return void response.writeHead(202).end()
          response.writeHead(200, { 'content-type': 'application/json' })
          return void response.end(JSON.stringify({ jsonrpc: '2.0', id: asked.id, result: answerOf(name, asked) }))
        })
      })
      servers.push(server)
      return { name, port: await listening(server) }
    }),
  )
  gateway = await testProxy({
    workers: 1,
    routes: [
      ...upstreams.map(upstreamRoute),
      mcpRoute('two', upstreams),
      mcpRoute('ruled', upstreams, {
        inlinePolicies: { mcpAuthorization: { action: 'Deny', matchExpressions: ['mcp.task.target == "a"'] } },
      }),
    ],
  })
})

afterAll(async () => {
  await gateway.stop()
  for (const server of servers) closeServer(server)
})

type Send = (method: string, params?: object) => Promise<unknown>

/** The result, or the error. */
async function session(route: string): Promise<{ readonly send: Send; readonly initialized: unknown }> {
  const headers: Record<string, string> = {
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
  }
  const send: Send = async (method, params = {}) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const response = await fetch(`${gateway.url}/${route}`, { method: 'POST', headers, body })
    headers['mcp-session-id'] ??= response.headers.get('mcp-session-id') ?? ''
    const text = await response.text()
    const { result, error } = JSON.parse(text.slice(text.indexOf('{')))
    return result ?? error
  }
  const clientInfo = { name: 't', version: '1' }
  const initialized = await send('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
  return { send, initialized }
}

describe('tasks of several servers', () => {
  it('are announced, created, listed and found', async () => {
    const { send, initialized } = await session('two')
    expect(initialized).toMatchObject({
      capabilities: { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
    })
    expect(await send('tools/call', { name: 'b_x', task: {} })).toMatchObject({ task: { taskId: 'b+one' } })
    expect(await send('tasks/list')).toMatchObject({ tasks: [{ taskId: 'a+one' }, { taskId: 'b+one' }] })
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
      expect(await send(method, { taskId: 'b+one' })).toMatchObject({ taskId: 'b+one', answeredBy: 'b' })
    }
    expect(await send('tasks/get', { taskId: 'one' })).toMatchObject({ message: 'Unknown task: one' })
  })

  it('are hidden by rules', async () => {
    const { send } = await session('ruled')
    expect(await send('tasks/list')).toMatchObject({ tasks: [{ taskId: 'b+one' }] })
    expect(await send('tasks/get', { taskId: 'a+one' })).toMatchObject({ message: 'Unknown task: a+one' })
  })
})
