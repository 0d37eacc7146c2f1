import { describe, expect, it } from 'vitest'
import { jsonSealer } from '../auth/json-sealer.ts'
import { exchangeOf } from '../policy/exchange.testing.ts'
import { madeStream } from '../message/made-stream.ts'
import { rememberedEras } from './bridge/era.ts'
import { callOf, emptyMcpFacts, type McpCall, type McpEndpoint, type McpGuard } from './context.ts'
import { answerRequest } from './dispatch.ts'
import { isRequest, type JsonRpcMessage, type JsonRpcRequest } from './jsonrpc.ts'
import { eventIdSealer } from './legacy/event-ids.ts'
import { sessionCodec } from './legacy/session-id.ts'
import { namingOf } from './names.ts'
import { rememberedOwners } from './owners.ts'
import { rememberedToolHeaders } from './tool-headers.ts'
import type { McpTarget } from './targets/target.ts'

describe('a call', () => {
  it('is guarded before authorization, and its result after the server', async () => {
    const { call, steps } = callOn({
      checkRequest: (_, request, targets) => {
        steps.push(`guard ${JSON.stringify(request.params)} of ${targets.join()}`)
        return undefined
      },
      checkResponse: (_, { result }) => {
        steps.push(`guard ${JSON.stringify(result)}`)
        return undefined
      },
    })
    expect(await sent(call, { method: 'tools/call', params: { name: 'a_x' } })).toEqual({ from: 'a' })
    expect(steps).toEqual(['guard {"name":"x"} of a', 'rules x', 'a tools/call {"name":"x"}', 'guard {"from":"a"}'])
  })

  it('of a tool has its arguments and its result in the facts', async () => {
    const { call } = callOn(undefined)
    await sent(call, { method: 'tools/call', params: { name: 'a_x', arguments: { n: 1 } } })
    expect(call.facts).toMatchObject({ toolArguments: { n: 1 }, toolResult: { from: 'a' } })
  })

  it('to an item that a guardrail put in its place is authorized for that item', async () => {
    const { call, steps } = callOn({
      checkRequest: () => Promise.resolve({ value: { name: 'secret' } }),
      checkResponse: () => undefined,
    })
    expect(await sent(call, { method: 'tools/call', params: { name: 'a_x' } })).toBe('Unknown tool: a_x')
    expect(steps).toEqual(['rules secret'])
  })

  it('has the headers of the arguments that a guardrail put in place', async () => {
    const { call } = callOn({
      checkRequest: () => Promise.resolve({ value: { name: 'x', arguments: { region: 'us' } } }),
      checkResponse: () => undefined,
    })
    const inputSchema = { properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } }
    call.endpoint.toolHeaders.set(call.exchange, 'a', [{ name: 'x', item: { inputSchema } }])
    call.exchange.request.headers.set('mcp-param-region', 'eu')
    await sent(call, { method: 'tools/call', params: { name: 'a_x', arguments: { region: 'eu' } } })
    expect(call.exchange.request.headers.get('mcp-param-region')).toBe('us')
  })

  it('that a guardrail rejects reaches no server', async () => {
    const { call, steps } = callOn({
      checkRequest: () => Promise.resolve({ error: { code: -32_001, message: 'no' } }),
      checkResponse: () => undefined,
    })
    expect(await sent(call, { method: 'tools/call', params: { name: 'a_x' } })).toBe('no')
    expect(await sent(call, { method: 'tools/list' })).toBe('no')
    expect(steps).toEqual([])
    expect(call.facts.errorCode).toBe(-32_001)
  })

  it('gets the result that a guardrail put in its place', async () => {
    const { call } = callOn({
      checkRequest: () => undefined,
      checkResponse: (_, { result, targets }) => Promise.resolve({ value: { ...result, targets } }),
    })
    expect(await sent(call, { method: 'tools/call', params: { name: 'b_x' } })).toEqual({ from: 'b', targets: ['b'] })
    expect(await sent(call, { method: 'ping' })).toEqual({ targets: ['a', 'b'] })
  })

  it('without a server in the table is rejected', async () => {
    const { call, steps } = callOn(undefined)
    expect(await sent(call, { method: 'vendor/extra' })).toBe('Method not found: vendor/extra')
    expect(steps).toEqual([])
  })
})

function callOn(guard: McpGuard | undefined): { readonly call: McpCall; readonly steps: string[] } {
  const steps: string[] = []
  const targets = ['a', 'b'].map((name) => answering(name, steps))
  const settings: McpEndpoint['settings'] = {
    targets: [{ name: 'a' }, { name: 'b' }],
    sessionRouting: 'Stateful',
    prefixMode: 'Conditional',
    failureMode: 'FailClosed',
  }
  const endpoint: McpEndpoint = {
    settings,
    naming: namingOf(settings),
    targets,
    codec: sessionCodec([new Uint8Array(32)]),
    sessionTtlMs: 1000,
    noteSession: () => {},
    watchServers: () => () => {},
    streamIds: jsonSealer({ kind: 4, keys: [new Uint8Array(32)], charactersMax: 100 }),
    eventIds: eventIdSealer([new Uint8Array(32)]),
    requestIds: jsonSealer({ kind: 6, keys: [new Uint8Array(32)], charactersMax: 100 }),
    isAllowed: ({ mcp }) => {
      steps.push(`rules ${mcp?.name}`)
      return mcp?.name !== 'secret'
    },
    bodyBytesMax: 1024,
    eras: rememberedEras(),
    owners: rememberedOwners(),
    toolHeaders: rememberedToolHeaders(),
    pins: undefined,
    guard,
  }
  const exchange = exchangeOf({})
  exchange.mcp = emptyMcpFacts()
  const members = targets.map((target) => ({ target, session: undefined }))
  return { call: callOf({ era: 'Legacy', exchange, endpoint, members }), steps }
}

function answering(name: string, steps: string[]): McpTarget {
  return {
    name,
    send: (_, message) => {
      if (!isRequest(message)) throw new Error('not a request')
      steps.push(`${name} ${message.method} ${JSON.stringify(message.params)}`)
      const reply: JsonRpcMessage = { jsonrpc: '2.0', id: message.id, result: { from: name } }
      return Promise.resolve({
        serverSession: undefined,
        endpoint: undefined,
        messages: madeStream(one(reply), () => {}),
      })
    },
    listen: () => Promise.resolve(undefined),
    end: () => Promise.resolve(),
  }
}

async function* one(message: JsonRpcMessage): AsyncGenerator<JsonRpcMessage> {
  yield message
}

/** The result, or the text of the error. */
async function sent(call: McpCall, request: Pick<JsonRpcRequest, 'method' | 'params'>): Promise<unknown> {
  const { body } = await answerRequest(call, { jsonrpc: '2.0', id: 1, ...request })
  let text = ''
  if (typeof body === 'string' || Buffer.isBuffer(body)) text = String(body)
  else for await (const chunk of body ?? []) text += chunk.toString()
  const { result, error } = JSON.parse(text.replace(/^event: message\ndata: /, ''))
  return result ?? error.message
}
