// The trace of a message between a client, the gateway and a server.
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isRecord } from '#api/json.ts'
import { testProxy } from '#proxy/main.testing.ts'
import { closeServer, listening } from '#test/ports.ts'
import { grpcCollector } from '../otlp/collector.testing.ts'
import { exchangeOf } from '../policy/exchange.testing.ts'
import type { JsonRpcRequest } from './jsonrpc.ts'
import { mcpRoute, upstreamRoute } from './servers.testing.ts'
import { takeTrace, withTrace } from './trace-context.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = 'b7ad6b7169203331'
const OTHER = `00-${'1'.repeat(32)}-${PARENT}-01`
const OWN = `00-${TRACE}-${PARENT}-01`

const call = (meta: object): JsonRpcRequest => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'x', _meta: { progressToken: 1, ...meta } },
})

/** Trace headers, and the trace in the message for the server. */
function passed(headers: Readonly<Record<string, string>>, meta: object) {
  const exchange = exchangeOf({ headers: Object.entries(headers) })
  const message = call(meta)
  takeTrace(exchange, message)
  const sent = withTrace(exchange, message)
  const fields = ['traceparent', 'tracestate', 'baggage'].flatMap((name) => {
    const value = exchange.request.headers.get(name)
    return value === undefined ? [] : [[name, value]]
  })
  return { headers: Object.fromEntries(fields) as object, meta: 'params' in sent ? sent.params?.['_meta'] : undefined }
}

describe('the trace of a message', () => {
  const all = { traceparent: OWN, tracestate: 'a=1', baggage: 'user=ann' }

  it.each<[string, Record<string, string>, object, object]>([
    ['in the message alone', {}, all, all],
    ['in headers alone', all, {}, all],
    [
      'in both: headers win, with their state',
      { traceparent: OTHER },
      all,
      { traceparent: OTHER, baggage: 'user=ann' },
    ],
    ['baggage without a trace', {}, { baggage: 'user=ann' }, { baggage: 'user=ann' }],
    ['state without a trace', {}, { tracestate: 'a=1' }, {}],
    [
      'a trace without state in place of state alone',
      { tracestate: 'b=2' },
      { traceparent: OWN },
      { traceparent: OWN },
    ],
    ['not valid', {}, { traceparent: 'x', tracestate: 'a=1' }, {}],
    ['not text', {}, { traceparent: 1, baggage: {} }, {}],
    ['not a field value', {}, { baggage: 'a=1\r\nx: y' }, {}],
    ['too long', {}, { baggage: 'x'.repeat(8193) }, {}],
    ['nowhere', {}, {}, {}],
  ])('%s', (_, headers, meta, expected) => {
    expect(passed(headers, meta)).toEqual({ headers: expected, meta: { progressToken: 1, ...expected } })
  })

  it('leaves a message without a trace, and responses, as they are', () => {
    const request = call({})
    expect(withTrace(exchangeOf(), request)).toBe(request)
    const response = { jsonrpc: '2.0' as const, id: 1, result: {} }
    expect(withTrace(exchangeOf({ headers: [['traceparent', OWN]] }), response)).toBe(response)
  })
})

describe('a sampled request', () => {
  const seen: { readonly headers: IncomingHttpHeaders; readonly meta: unknown }[] = []
  let server: Server
  let port: number

  beforeAll(async () => {
    server = createServer((request, response) => {
      let text = ''
      request.on('data', (chunk: Buffer) => (text += chunk.toString()))
      request.on('end', () => {
        const { id, params } = JSON.parse(text) as { id: number; params: unknown } // sent by the gateway
        seen.push({ headers: request.headers, meta: isRecord(params) ? params['_meta'] : undefined })
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { protocolVersion: '2025-06-18' } }))
      })
    })
    port = await listening(server)
  })

  afterAll(() => closeServer(server))

  it('joins the trace that its message names, and the server gets the span of the call', async () => {
    const collector = await grpcCollector()
    const gateway = await testProxy({
      routes: [
        upstreamRoute({ port }),
        mcpRoute('one', [{ name: 'a', port }]),
        { name: 'collector', prefix: '/collector', backend: { static: { host: '127.0.0.1', port: collector.port } } },
      ],
      policies: [
        {
          key: 'telemetry',
          name: { kind: 'GwPolicy', namespace: 'ns', name: 'telemetry' },
          target: { gateway: { namespace: 'ns', name: 'gw' } },
          policy: {
            frontend: {
              tracing: {
                target: { service: { backend: 'ns/collector' }, protocol: 'GRPC' },
                randomSampling: 'true',
                add: [],
                remove: [],
                resources: [],
              },
            },
          },
        },
      ],
    })
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } }
    const meta = { traceparent: OWN, tracestate: 'a=1', baggage: 'user=ann' }
    const response = await fetch(`${gateway.url}/one`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { ...params, _meta: meta } }),
    })
    expect(response.status).toBe(200)
    await response.text()
    // What is gathered leaves at the end.
    await gateway.proxy.stop()
    collector.stop()
    const [first] = seen
    const span = collector.spans.find(({ parentSpanId }) => parentSpanId === PARENT)
    const client = collector.spans.find(({ parentSpanId }) => parentSpanId === span?.spanId)
    expect(span).toMatchObject({ name: 'initialize', traceId: TRACE, traceState: 'a=1' })
    const traceparent = `00-${TRACE}-${client?.spanId}-01`
    expect(first).toMatchObject({
      headers: { traceparent, tracestate: 'a=1', baggage: 'user=ann' },
      meta: { traceparent, tracestate: 'a=1', baggage: 'user=ann' },
    })
  })
})
