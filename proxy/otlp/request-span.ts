// The span of one sampled request and those of the calls it makes (data-plane supplement section 6.4). A request that
// is not sampled has none, so nothing here costs anything then.
import { create, type MessageInitShape } from '@bufbuild/protobuf'
import type { Exchange } from '../exchange/exchange.ts'
import type { HttpRequest } from '../message/message.ts'
import type { CallSpan, OutboundInit, RequestSpan as ExchangeSpan } from '../exchange/request-span.ts'
import { addCostParts, addFields, addHttp, addOutcome, addPlace, type FieldRule } from '../log/fields.ts'
import { microsAt } from '../log/timestamp.ts'
import { textOf } from '../cel/evaluate.ts'
import { AttributeList } from './attributes.ts'
import {
  Span_SpanKind,
  SpanSchema,
  Status_StatusCode,
  type Span,
} from './gen/opentelemetry/proto/trace/v1/trace.gen.ts'
import type { RecordSink } from './destination.ts'
import {
  newSpanId,
  newTraceId,
  parseTraceparent,
  SAMPLED,
  traceparentOf,
  type TraceContext,
} from '../message/trace-context.ts'

/** What a policy makes of the spans of its requests. */
export interface SpanRule extends FieldRule {
  readonly sink: RecordSink<Span>
  /** The attribute `span.name`; undefined: the default name. */
  readonly name: ((exchange: Exchange) => unknown) | undefined
}

/** Calls of one request that have a span; a request that makes more loses those beyond. */
const CALLS_MAX = 128
const NAME_CHARACTERS_MAX = 256

export class RequestSpan implements ExchangeSpan<Exchange> {
  traceId: string
  readonly spanId = newSpanId()
  /** Label of the match that selected the route, such as `/api/*`. */
  matchLabel: string | undefined = undefined
  #parentId: string | undefined
  #flags: number
  #traceState: string
  readonly #rule: SpanRule
  /** Of calls that ended while the request went on; sent with it, or not at all. */
  readonly #calls: Span[] = []
  #callCount = 0
  #fate: 'open' | 'sent' | 'dropped' = 'open'

  /** `parent`: the client's trace; undefined: this request begins one. */
  constructor(rule: SpanRule, parent: TraceContext | undefined, traceState: string | undefined) {
    this.#rule = rule
    this.traceId = parent?.traceId ?? newTraceId()
    this.#parentId = parent?.parentId
    this.#flags = parent?.flags ?? SAMPLED
    this.#traceState = traceState ?? ''
    // The caller said that its trace is not recorded: only the ids are passed on.
    if ((this.#flags & SAMPLED) === 0) this.#fate = 'dropped'
  }

  get traceparent(): string {
    return this.#traceparentOf(this.spanId)
  }

  join({ headers }: HttpRequest, traceparent: string, traceState: string | undefined): boolean {
    const parent = parseTraceparent(traceparent)
    if (parent === undefined || this.#parentId !== undefined) return false
    this.traceId = parent.traceId
    this.#parentId = parent.parentId
    this.#flags = parent.flags
    this.#traceState = traceState ?? ''
    if ((this.#flags & SAMPLED) === 0) this.#fate = 'dropped'
    for (const call of this.#calls) call.traceId = bytesOf(this.traceId)
    // The span of the call, if it has begun.
    const { parentId: spanId = this.spanId } = parseTraceparent(headers.get('traceparent')) ?? {}
    headers.set('traceparent', this.#traceparentOf(spanId))
    return true
  }

  /** For the handler of the backend: trace headers of the call, and its end as the handler reports it. */
  callBackend(exchange: Exchange, done: (exchange: Exchange) => void): (exchange: Exchange) => void {
    const subtype = subtypeOf(exchange.backendProtocol)
    const call = this.call({ kind: 'Primary', subtype, target: '', request: exchange.request })
    exchange.request.headers.set('traceparent', call.traceparent)
    return (answered) => {
      const { response, errorDetail, reason, endpoint } = answered
      const status = response?.isLocal === false ? response.status : undefined
      const failure = status === undefined ? (errorDetail ?? reason) : undefined
      call.end({ status, error: failure }, endpoint)
      done(answered)
    }
  }

  /** @returns a span that does nothing when there are too many. */
  call({ kind, subtype, target, request }: OutboundInit): CallSpan {
    const spanId = newSpanId()
    const startMs = performance.now()
    const { method, host, path } = request
    const isKept = this.#callCount++ < CALLS_MAX
    const end: CallSpan['end'] = ({ status, grpcStatus, error }, endpoint = target) => {
      if (!isKept || this.#fate === 'dropped') return
      const list = new AttributeList(undefined)
      list.plain('gw.outbound.kind', kind)
      list.plain('gw.outbound.subtype', subtype)
      list.text('http.method', method)
      list.text('http.host', host)
      list.text('http.path', path)
      list.number('http.status', status)
      list.number('grpc.status', grpcStatus)
      const hasFailed = error !== undefined || (status ?? 0) >= 500
      if (hasFailed) list.plain('error.type', status === undefined ? errorType(grpcStatus) : String(status))
      this.#callEnded(
        this.#span(list, {
          spanId,
          parentSpanId: bytesOf(this.spanId),
          name: cut(kind === 'Primary' && subtype === 'Http' ? `${method} ${endpoint}` : subtype),
          kind: Span_SpanKind.CLIENT,
          startMs,
          endMs: performance.now(),
          failure: hasFailed ? (error ?? `status ${status}`) : undefined,
        }),
      )
    }
    return { traceparent: this.#traceparentOf(spanId), end }
  }

  /** The response is over. */
  finish(exchange: Exchange, endMs: number): void {
    const { filter, dropped, sink } = this.#rule
    if (this.#fate === 'dropped' || (filter !== undefined && !filter(exchange))) {
      this.#fate = 'dropped'
      return
    }
    this.#fate = 'sent'
    const list = new AttributeList(dropped)
    if (exchange.place !== undefined) addPlace(list, exchange.place)
    addHttp(list, exchange)
    addOutcome(list, exchange, endMs - exchange.startMs)
    if (exchange.llm !== undefined) addCostParts(list, exchange.llm)
    list.plain('url.scheme', exchange.request.scheme)
    list.plain(
      'network.protocol.version',
      exchange.request.version === 'HTTP/2' ? '2' : exchange.request.version.slice(5),
    )
    addFields(list, this.#rule, exchange)
    sink.add(
      this.#span(list, {
        spanId: this.spanId,
        ...(this.#parentId !== undefined && { parentSpanId: bytesOf(this.#parentId) }),
        name: this.#nameOf(exchange),
        kind: Span_SpanKind.SERVER,
        startMs: exchange.startMs,
        endMs,
        failure: exchange.errorDetail,
      }),
    )
    for (const call of this.#calls) sink.add(call)
  }

  #callEnded(span: Span): void {
    if (this.#fate === 'sent') this.#rule.sink.add(span)
    else this.#calls.push(span)
  }

  #nameOf(exchange: Exchange): string {
    const { name } = this.#rule
    const chosen = name === undefined ? undefined : textOf(name(exchange))
    if (chosen !== undefined && chosen !== '') return cut(chosen)
    const { request, mcp } = exchange
    if (mcp?.methodName !== undefined) return cut(mcp.methodName)
    if (exchange.isGrpc) return cut(request.path.slice(1))
    return this.matchLabel === undefined ? 'unknown' : cut(`${request.method} ${this.matchLabel}`)
  }

  #traceparentOf(spanId: string): string {
    return traceparentOf({ traceId: this.traceId, spanId, flags: this.#flags })
  }

  #span(list: AttributeList, parts: SpanParts): Span {
    const { spanId, startMs, endMs, failure, ...rest } = parts
    return create(SpanSchema, {
      ...rest,
      traceId: bytesOf(this.traceId),
      spanId: bytesOf(spanId),
      traceState: this.#traceState,
      flags: this.#flags,
      startTimeUnixNano: nanosAt(startMs),
      endTimeUnixNano: nanosAt(endMs),
      attributes: list.attributes,
      droppedAttributesCount: list.dropped,
      ...(failure !== undefined && { status: { code: Status_StatusCode.ERROR, message: failure.toWellFormed() } }),
    })
  }
}

interface SpanParts extends Pick<MessageInitShape<typeof SpanSchema>, 'name' | 'kind' | 'parentSpanId'> {
  readonly spanId: string
  readonly startMs: number
  readonly endMs: number
  /** undefined: the call succeeded, or its result is unknown. */
  readonly failure: string | undefined
}

export function nanosAt(monotonicMs: number): bigint {
  return BigInt(microsAt(monotonicMs)) * 1000n
}

export function bytesOf(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.from(hex, 'hex'))
}

function subtypeOf(protocol: string | undefined): 'Http' | 'Llm' | 'Mcp' {
  if (protocol === 'llm') return 'Llm'
  return protocol === 'mcp' ? 'Mcp' : 'Http'
}

/** OpenTelemetry semantic conventions: a status, or a class of failures of bounded number. */
function errorType(grpcStatus: number | undefined): string {
  return grpcStatus === undefined ? 'transport' : `grpc ${grpcStatus}`
}

function cut(name: string): string {
  return name.slice(0, NAME_CHARACTERS_MAX).toWellFormed()
}
