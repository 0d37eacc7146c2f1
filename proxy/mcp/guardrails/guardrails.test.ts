// Guardrails of MCP with services that run @grpc/grpc-js.
import { create, type MessageInitShape } from '@bufbuild/protobuf'
import { afterEach, describe, expect, it } from 'vitest'
import type { MCPGuardrailsProcessor } from '#api/ir/types.gen.ts'
import { grpcServer, unaryMethod, type GrpcTestServer } from '../../grpc/server.testing.ts'
import { exchangeOf, expression } from '../../policy/exchange.testing.ts'
import { testService, type TestService } from '../../policy/external/service.testing.ts'
import { evaluate } from '../../cel/evaluate.ts'
import { callOf, emptyMcpFacts, type GuardVerdict, type McpCall } from '../context.ts'
import {
  CheckRequestOutputSchema,
  CheckResponseOutputSchema,
  ExtMcp,
  type CheckRequestInput,
  type CheckResponseInput,
} from './gen/gw/dev/ext_mcp/ext_mcp.gen.ts'
import { mcpGuardrails } from './guardrails.ts'

type RequestAnswer = MessageInitShape<typeof CheckRequestOutputSchema>
type ResponseAnswer = MessageInitShape<typeof CheckResponseOutputSchema>

interface Service {
  readonly requests: CheckRequestInput[]
  readonly responses: CheckResponseInput[]
  readonly caller: TestService['caller']
}

const running: { server: GrpcTestServer; service: TestService }[] = []

afterEach(() => {
  for (const { server, service } of running.splice(0)) {
    service.close()
    server.kill()
  }
})

/** `Silent`: it never answers. */
async function serviceWith(
  answer: RequestAnswer | 'Silent',
  result: ResponseAnswer = { result: { case: 'pass', value: {} } },
): Promise<Service> {
  const requests: CheckRequestInput[] = []
  const responses: CheckResponseInput[] = []
  const server = await grpcServer([
    unaryMethod(ExtMcp.method.checkRequest, (call, reply) => {
      requests.push(call.request)
      if (answer !== 'Silent') reply(null, create(CheckRequestOutputSchema, answer))
    }),
    unaryMethod(ExtMcp.method.checkResponse, (call, reply) => {
      responses.push(call.request)
      reply(null, create(CheckResponseOutputSchema, result))
    }),
  ])
  const service = testService(server.port, { subtype: 'Guardrail', ...(answer === 'Silent' && { timeoutMs: 50 }) })
  running.push({ server, service })
  return { requests, responses, caller: service.caller }
}

type Settings = Partial<Omit<MCPGuardrailsProcessor, 'service'>>

/** `undefined` in place of a service: its reference has no target. */
function guardOf(...processors: (readonly [Service | undefined, Settings?])[]) {
  const settings = processors.map(([, more], index) => ({
    service: { backend: String(index) },
    failureMode: 'FailClosed' as const,
    methods: [{ method: '*', phase: 'Full' as const }],
    ...more,
  }))
  return mcpGuardrails(
    { processors: settings },
    { expression, service: ({ backend }) => processors[Number(backend)]?.[0]?.caller },
  )
}

function callWith(headers: readonly (readonly [string, string])[] = []): McpCall {
  const exchange = exchangeOf({ method: 'POST', path: '/mcp', headers })
  exchange.mcp = { ...emptyMcpFacts(), kind: 'tool', target: 'a', name: 'x' }
  // Guardrails read no settings of the endpoint.
  return callOf({ exchange, endpoint: undefined as never, era: 'Legacy', members: [] })
}

const REQUEST = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x', arguments: { n: 1 } } } as const
const RESULT = { content: [{ type: 'text', text: 'hi' }] }
const PASS: RequestAnswer = { result: { case: 'pass', value: {} } }
const json = (value: unknown): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(JSON.stringify(value)))
const shown = (bytes: Uint8Array | undefined): unknown => JSON.parse(Buffer.from(bytes ?? []).toString('utf8'))
const denial = (error: object): RequestAnswer => ({ result: { case: 'error', value: error } })

async function requestVerdict(guard: ReturnType<typeof guardOf>, call = callWith()): Promise<GuardVerdict | undefined> {
  return guard.checkRequest(call, REQUEST, ['a'])
}

describe('a guardrail service', () => {
  it('gets target, method, params, headers and metadata', async () => {
    const service = await serviceWith(PASS)
    const metadata = [
      { name: 'tool', expression: 'mcp.tool.name' },
      { name: 'absent', expression: 'jwt.sub' },
    ]
    const call = callWith([
      ['x-a', '1'],
      ['x-a', '2'],
    ])
    expect(await requestVerdict(guardOf([service, { metadata }]), call)).toEqual({ value: undefined })
    const [request] = service.requests
    expect(request).toMatchObject({ serviceNames: ['a'], method: 'tools/call', metadataContext: { tool: 'x' } })
    expect(shown(request?.mcpRequest)).toEqual(REQUEST.params)
    const headers = request?.headers.map(({ key, value }) => `${key}=${Buffer.from(value).toString()}`)
    expect(headers).toEqual([':method=POST', ':scheme=http', ':authority=example.com', ':path=/mcp', 'x-a=1', 'x-a=2'])
  })

  it('gets all headers, credentials included, or those that the settings allow', async () => {
    const service = await serviceWith(PASS)
    const sent = async (settings: Settings): Promise<unknown> => {
      const call = callWith([
        ['authorization', 'secret'],
        ['x-a', '1'],
        ['x-b', '2'],
      ])
      call.exchange.request.hideFields(['authorization'])
      await requestVerdict(guardOf([service, settings]), call)
      return service.requests.at(-1)?.headers.map(({ key }) => key)
    }
    const pseudo = [':method', ':scheme', ':authority', ':path']
    expect(await sent({})).toEqual([...pseudo, 'authorization', 'x-a', 'x-b'])
    expect(await sent({ disallowedRequestHeaders: ['authorization', 'x-b', ':method', ':scheme', ':path'] })).toEqual([
      ':authority',
      'x-a',
    ])
    const allowedRequestHeaders = ['authorization', 'x-a', ':path']
    expect(await sent({ allowedRequestHeaders })).toEqual([':path', 'authorization', 'x-a'])
    expect(await sent({ allowedRequestHeaders, disallowedRequestHeaders: ['x-a'] })).toEqual([':path', 'authorization'])
  })

  it('gets the names of all targets and no params, and cannot change them', async () => {
    const service = await serviceWith({ result: { case: 'mutated', value: json({ a: 1 }) } })
    const request = { jsonrpc: '2.0', id: 1, method: 'tools/list' } as const
    expect(await guardOf([service]).checkRequest(callWith(), request, ['a', 'b'])).toEqual({ value: undefined })
    expect(service.requests[0]).toMatchObject({ serviceNames: ['a', 'b'] })
    expect(service.requests[0]?.mcpRequest).toBeUndefined()
  })

  it('is not called for methods and phases that are off', async () => {
    const service = await serviceWith(PASS)
    const guard = guardOf([
      service,
      {
        methods: [
          { method: 'tools/call', phase: 'Response' },
          { method: 'ping', phase: 'Off' },
        ],
      },
    ])
    expect(guard.checkRequest(callWith(), REQUEST, ['a'])).toBeUndefined()
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' } as const
    expect(guard.checkRequest(callWith(), ping, ['a'])).toBeUndefined()
    expect(guard.checkResponse(callWith(), { request: ping, result: {}, targets: ['a'] })).toBeUndefined()
    expect(await guard.checkResponse(callWith(), { request: REQUEST, result: RESULT, targets: ['a'] })).toEqual({
      value: undefined,
    })
    expect(service.requests).toEqual([])
    expect(shown(service.responses[0]?.mcpResponse)).toEqual(RESULT)
  })

  it('changes params, headers and CEL mcpGuardrails; the next service gets them', async () => {
    const first = await serviceWith({
      result: { case: 'mutated', value: json({ name: 'y' }) },
      headerMutation: {
        set: [
          { key: 'X-Tenant', value: new Uint8Array(Buffer.from('acme')) },
          { key: 'host', value: new Uint8Array(Buffer.from('evil')) },
        ],
        remove: ['x-a'],
      },
      metadata: { tenant: 'acme', level: 3 },
    })
    const second = await serviceWith({ ...PASS, metadata: { level: 4 } })
    const metadata = [{ name: 'tenant', expression: 'mcpGuardrails.tenant' }]
    const call = callWith([['x-a', '1']])
    expect(await requestVerdict(guardOf([first], [second, { metadata }]), call)).toEqual({ value: { name: 'y' } })
    expect(shown(second.requests[0]?.mcpRequest)).toEqual({ name: 'y' })
    expect(second.requests[0]?.metadataContext).toEqual({ tenant: 'acme' })
    expect(call.exchange.request.headers.fields).toEqual(['x-tenant', 'acme'])
    expect(evaluate(expression('mcpGuardrails.tenant == "acme" && mcpGuardrails.level == 4'), call.exchange)).toBe(true)
    expect(call.exchange.mcp?.guards).toMatchObject([
      { phase: 'Request', action: 'Mask', count: 1 },
      { phase: 'Request', action: 'Allow', count: 1 },
    ])
  })

  it('changes results', async () => {
    const service = await serviceWith(PASS, { result: { case: 'mutated', value: json({ content: [] }) } })
    const checked = { request: REQUEST, result: RESULT, targets: ['a'] }
    expect(await guardOf([service]).checkResponse(callWith(), checked)).toEqual({ value: { content: [] } })
  })

  it('keeps numbers that a double cannot represent', async () => {
    const value = new Uint8Array(Buffer.from('{"n":12345678901234567890}'))
    const service = await serviceWith({ result: { case: 'mutated', value } })
    expect(JSON.stringify(await requestVerdict(guardOf([service])))).toBe('{"value":{"n":12345678901234567890}}')
  })
})

describe('a rejection', () => {
  it.each([
    [1, -32_001],
    [2, -32_003],
    [3, -32_600],
    [0, -32_603],
    [99, -32_603],
  ])('with code %i has the JSON-RPC code %i, and ends the chain', async (code, expected) => {
    const first = await serviceWith(denial({ code, reason: 'not you', mcpError: json({ why: [1] }) }))
    const second = await serviceWith(PASS)
    const call = callWith()
    expect(await requestVerdict(guardOf([first], [second]), call)).toEqual({
      error: { code: expected, message: 'not you', data: { why: [1] } },
    })
    expect(second.requests).toEqual([])
    expect(call.exchange).toMatchObject({ reason: 'Guardrail', errorDetail: 'a guardrail rejected the request' })
    expect(call.exchange.mcp?.guards).toMatchObject([{ phase: 'Request', action: 'Reject' }])
  })

  it('without a reason, or with invalid data, still rejects', async () => {
    const service = await serviceWith(denial({ code: 1, mcpError: new Uint8Array(Buffer.from('{')) }))
    expect(await requestVerdict(guardOf([service, { failureMode: 'FailOpen' }]))).toEqual({
      error: { code: -32_001, message: 'rejected by a guardrail' },
    })
  })

  it('has a reason of at most 1024 characters', async () => {
    const service = await serviceWith(denial({ reason: 'x'.repeat(5000) }))
    expect(await requestVerdict(guardOf([service]))).toMatchObject({ error: { message: 'x'.repeat(1024) } })
  })

  it('of a result replaces it', async () => {
    const service = await serviceWith(PASS, { result: { case: 'error', value: { code: 1, reason: 'leak' } } })
    const checked = { request: REQUEST, result: RESULT, targets: ['a'] }
    expect(await guardOf([service]).checkResponse(callWith(), checked)).toEqual({
      error: { code: -32_001, message: 'leak' },
    })
  })
})

describe('a service that fails', () => {
  const bytes = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(text))
  const mutation = (key: string): RequestAnswer => ({ ...PASS, headerMutation: { set: [{ key, value: bytes('v') }] } })
  const FAULTS: readonly (readonly [string, RequestAnswer | 'Silent' | undefined, string])[] = [
    ['does not exist', undefined, 'the service does not exist'],
    ['does not answer in time', 'Silent', 'gRPC status 4'],
    ['answers nothing', {}, 'none of pass, mutated, error'],
    ['returns invalid JSON', { result: { case: 'mutated', value: bytes('{') } }, 'not a JSON object'],
    ['returns a list', { result: { case: 'mutated', value: bytes('[]') } }, 'not a JSON object'],
    ['returns an invalid header name', mutation('a b'), 'header mutation is invalid'],
    ['returns a pseudo-header', mutation(':path'), 'header mutation is invalid'],
  ]

  it.each(FAULTS)(
    'and %s: FailClosed rejects, FailOpen continues with the request as it was',
    async (_, answer, detail) => {
      const service = answer === undefined ? undefined : await serviceWith(answer)
      const next = await serviceWith(PASS)
      const closed = callWith([['x-a', '1']])
      expect(await requestVerdict(guardOf([service], [next]), closed)).toEqual({
        error: { code: -32_603, message: 'a guardrail could not check the message' },
      })
      expect(next.requests).toEqual([])
      expect(closed.exchange.reason).toBe('Guardrail')
      expect(closed.exchange.errorDetail).toContain(detail)
      expect(closed.exchange.mcp?.guards).toMatchObject([{ action: 'FailClosed' }])

      const open = callWith([['x-a', '1']])
      expect(await requestVerdict(guardOf([service, { failureMode: 'FailOpen' }], [next]), open)).toEqual({
        value: undefined,
      })
      expect(shown(next.requests[0]?.mcpRequest)).toEqual(REQUEST.params)
      expect(open.exchange.request.headers.fields).toEqual(['x-a', '1'])
      expect(open.exchange.mcp?.guards).toMatchObject([{ action: 'FailOpen' }, { action: 'Allow' }])
    },
  )

  it('is not skipped because the deadline of the request is over', async () => {
    const service = await serviceWith('Silent')
    const call = callWith()
    call.exchange.deadlineMs = performance.now() + 20
    const verdict = await requestVerdict(guardOf([service, { failureMode: 'FailOpen' }]), call)
    expect(verdict).toMatchObject({ error: { code: -32_603 } })
  })
})
