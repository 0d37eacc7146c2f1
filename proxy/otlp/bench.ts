// What tracing costs each request: `node proxy/otlp/bench.ts`. Prints nanoseconds of CPU time per request, the best of
// several passes: without a policy, not sampled, sampled and not exported, and exported with its encoding.
import { create, toBinary } from '@bufbuild/protobuf'
import type { Exchange } from '../exchange/exchange.ts'
import { exchangeOf, upstreamResponse } from '../policy/exchange.testing.ts'
import { ExportTraceServiceRequestSchema } from './gen/opentelemetry/proto/collector/trace/v1/trace_service.gen.ts'
import type { Span } from './gen/opentelemetry/proto/trace/v1/trace.gen.ts'
import { beginSpan, type TracingRule } from './sampler.ts'

const ROUNDS = 20_000
const PASSES = 4
const BATCH = 512
const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331'

const HEADERS: [string, string][] = [
  ['user-agent', 'bench'],
  ['accept', '*/*'],
  ['x-request-id', '1'],
]

function exchanges(flags: string | undefined): Exchange[] {
  const headers = flags === undefined ? HEADERS : [...HEADERS, ['traceparent', `${TRACEPARENT}-${flags}`] as const]
  return Array.from({ length: 100 }, (_, i) => {
    const exchange = exchangeOf({ path: `/things/${i}`, headers })
    exchange.response = upstreamResponse()
    exchange.backendProtocol = 'http'
    exchange.endpoint = '10.0.0.1:80'
    return exchange
  })
}

function ruleOf(parts: Partial<TracingRule>, sink: (span: Span) => void): TracingRule {
  return {
    filter: undefined,
    dropped: undefined,
    added: [],
    name: undefined,
    randomSampling: undefined,
    clientSampling: undefined,
    sink: { add: sink },
    ...parts,
  }
}

function measure(name: string, all: readonly Exchange[], rule: TracingRule | undefined): void {
  const once = (i: number): void => {
    const exchange = all[i % all.length]
    if (exchange === undefined) return
    if (rule !== undefined) beginSpan(exchange, rule)
    if (exchange.span !== undefined) {
      exchange.span.callBackend(exchange, () => undefined)(exchange)
      exchange.span.finish(exchange, exchange.startMs + 1)
    }
  }
  let nanos = Infinity
  for (let pass = 0; pass <= PASSES; pass++) {
    const start = process.threadCpuUsage()
    for (let i = 0; i < ROUNDS; i++) once(i)
    const { user, system } = process.threadCpuUsage(start)
    if (pass > 0) nanos = Math.min(nanos, ((user + system) * 1000) / ROUNDS)
  }
  process.stdout.write(`${name.padEnd(44)} ${nanos.toFixed(0).padStart(6)} ns\n`)
}

let batch: Span[] = []
let bytes = 0
const send = (span: Span): void => {
  batch.push(span)
  if (batch.length < BATCH) return
  const message = create(ExportTraceServiceRequestSchema, { resourceSpans: [{ scopeSpans: [{ spans: batch }] }] })
  bytes += toBinary(ExportTraceServiceRequestSchema, message).length
  batch = []
}

measure('no policy', exchanges(undefined), undefined)
measure('policy, no trace, no random sampling', exchanges(undefined), ruleOf({}, send))
measure('policy, trace, client sampling false', exchanges('01'), ruleOf({ clientSampling: () => false }, send))
measure('sampled, not exported (flag of the client)', exchanges('00'), ruleOf({}, send))
measure('request and call exported, encoded', exchanges('01'), ruleOf({}, send))
if (bytes === 0) throw new Error('nothing was sent')
