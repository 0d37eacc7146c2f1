import { describe, expect, it } from 'vitest'
import { evaluate, FAILED, isTrue } from '../cel/evaluate.ts'
import { exchangeOf, expression, fieldsOf, upstreamResponse } from '../policy/exchange.testing.ts'
import type { Span } from './gen/opentelemetry/proto/trace/v1/trace.gen.ts'
import { beginSpan, isChosen, type TracingRule } from './sampler.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = 'b7ad6b7169203331'
const INCOMING = `00-${TRACE}-${PARENT}-01`

interface Sampling {
  readonly random?: string
  readonly client?: string
  readonly filter?: string
}

function ruleOf({ random, client, filter }: Sampling, spans: Span[]): TracingRule {
  const optional = (source: string | undefined): TracingRule['randomSampling'] => {
    if (source === undefined) return undefined
    const compiled = expression(source)
    return (exchange) => {
      const value = evaluate(compiled, exchange)
      return value === FAILED ? undefined : value
    }
  }
  return {
    filter: filter === undefined ? undefined : (exchange) => isTrue(expression(filter), exchange),
    dropped: undefined,
    added: [],
    name: undefined,
    randomSampling: optional(random),
    clientSampling: optional(client),
    sink: { add: (span) => void spans.push(span) },
  }
}

function run(sampling: Sampling, traceparent: string | undefined, tracestate = 'a=1') {
  const spans: Span[] = []
  const headers: [string, string][] = [['tracestate', tracestate]]
  if (traceparent !== undefined) headers.push(['traceparent', traceparent])
  const exchange = exchangeOf({ path: '/plain', headers })
  beginSpan(exchange, ruleOf(sampling, spans))
  exchange.response = upstreamResponse()
  exchange.span?.finish(exchange, performance.now())
  return { exchange, spans, fields: fieldsOf(exchange.request.headers) }
}

describe('sampling', () => {
  it.each<[string, Sampling, string | undefined, boolean, number]>([
    ['no trace, no random sampling', {}, undefined, false, 0],
    ['random sampling of 0', { random: '0.0' }, undefined, false, 0],
    ['random sampling of 1 as an integer', { random: '1' }, undefined, true, 1],
    ['random sampling of 1 as a uint', { random: '1u' }, undefined, true, 1],
    ['random sampling true', { random: 'request.path == "/plain"' }, undefined, true, 1],
    ['random sampling that fails', { random: 'jwt.sub == "x"' }, undefined, false, 0],
    ['random sampling that does not compile', { random: '((' }, undefined, false, 0],
    ['random sampling of a text', { random: '"1.0"' }, undefined, false, 0],
    ['a trace', {}, INCOMING, true, 1],
    ['a trace, client sampling false', { client: 'false' }, INCOMING, false, 0],
    ['a trace does not ask random sampling', { client: 'true', random: 'false' }, INCOMING, true, 1],
    ['a trace that is not recorded', {}, INCOMING.replace(/01$/, '00'), true, 0],
    ['a broken header starts no trace', {}, '00-0-0-01', false, 0],
    ['a filter that is false', { random: 'true', filter: 'response.code >= 500' }, undefined, true, 0],
    ['a filter that is true', { random: 'true', filter: 'response.code == 200' }, undefined, true, 1],
    ['a filter that fails', { random: 'true', filter: 'jwt.sub == ""' }, undefined, true, 0],
  ])('%s', (_, sampling, traceparent, isSampled, exported) => {
    const { exchange, spans } = run(sampling, traceparent)
    expect(exchange.span !== undefined).toBe(isSampled)
    expect(spans).toHaveLength(exported)
  })

  it('leaves what is not sampled as it came', () => {
    expect(run({ client: 'false' }, INCOMING).fields).toEqual(['tracestate: a=1', `traceparent: ${INCOMING}`])
    expect(run({}, 'broken').fields).toEqual(['tracestate: a=1', 'traceparent: broken'])
  })

  it('keeps the trace state of a valid trace, and drops it without one', () => {
    const kept = run({}, INCOMING)
    expect(kept.fields[0]).toBe('tracestate: a=1')
    expect(kept.spans[0]?.traceState).toBe('a=1')
    expect(kept.fields[1]).toMatch(new RegExp(`^traceparent: 00-${TRACE}-(?!${PARENT})[0-9a-f]{16}-01$`))
    expect(run({ random: 'true' }, undefined).fields).toEqual([expect.stringMatching(/^traceparent: 00-.*-01$/)])
  })

  it('draws by share', () => {
    expect([isChosen(0.5, () => 0.49), isChosen(0.5, () => 0.5), isChosen(2, () => 0.99)]).toEqual([true, false, true])
  })

  it('bounds the calls of one request', () => {
    const spans: Span[] = []
    const exchange = exchangeOf()
    beginSpan(exchange, ruleOf({ random: 'true' }, spans))
    const { request } = exchange
    for (let i = 0; i < 200; i++) {
      exchange.span?.call({ kind: 'Policy', subtype: 'RateLimit', target: 'x:1', request }).end({ grpcStatus: 0 })
    }
    const late = exchange.span?.call({ kind: 'Mirror', subtype: 'Http', target: 'x:1', request })
    exchange.span?.finish(exchange, performance.now())
    late?.end({ status: 200 })
    expect(spans).toHaveLength(129)
  })
})
