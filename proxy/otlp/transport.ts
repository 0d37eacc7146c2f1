// How batches reach a collector: OTLP over gRPC or HTTP, through the machinery of backends, and what its answer means
// (OTLP specification, "Failures" of both protocols). Never throws.
import { create, fromBinary, toBinary, type DescMessage, type MessageShape } from '@bufbuild/protobuf'
import { ServiceError, type ServiceCaller } from '../chain/service.ts'
import { Exchange, type Connection } from '../exchange/exchange.ts'
import type { GrpcMethod } from '../grpc/client.ts'
import { GrpcError, GrpcStatus } from '../grpc/status.ts'
import { HeaderList } from '../message/headers.ts'
import { HttpRequest } from '../message/message.ts'
import type { SendOutcome } from './batch-exporter.ts'
import { retryAfterMs, retryInfoMs } from './retry-info.ts'

export interface OtlpChannel {
  /** undefined: the reference names nothing that can be called. */
  readonly caller: ServiceCaller | undefined
  readonly protocol: 'GRPC' | 'HTTP'
  /** HTTP only. */
  readonly path: string
}

/** One signal: its method, and what its answers say. */
export interface OtlpSignal<I extends DescMessage, O extends DescMessage> {
  readonly method: GrpcMethod<I, O>
  /** Records that were not taken. */
  readonly rejected: (answer: MessageShape<O>) => number
}

const ANSWER_BYTES_MAX = 65_536
const CONTENT_TYPE = 'application/x-protobuf'
/** OTLP/gRPC, "Failures"; RESOURCE_EXHAUSTED only with a RetryInfo. */
const RETRYABLE_GRPC: ReadonlySet<number> = new Set([
  GrpcStatus.CANCELLED,
  GrpcStatus.DEADLINE_EXCEEDED,
  10,
  11,
  GrpcStatus.UNAVAILABLE,
  15,
])
/** OTLP/HTTP, "Retryable Response Codes". */
const RETRYABLE_HTTP: ReadonlySet<number> = new Set([429, 502, 503, 504])

/** Calls of exporters belong to no client. */
const NO_CLIENT: Connection = {
  id: 0,
  sourceAddress: '',
  sourcePort: 0,
  localAddress: '',
  localPort: 0,
  isTls: false,
  sni: undefined,
  signal: new AbortController().signal,
  close: () => undefined,
  cut: () => true,
}

export async function sendBatch<I extends DescMessage, O extends DescMessage>(
  { caller, protocol, path }: OtlpChannel,
  { method, rejected }: OtlpSignal<I, O>,
  message: MessageShape<I>,
  timeoutMs: number,
): Promise<SendOutcome> {
  if (caller === undefined) return { kind: 'Refused', detail: 'the collector does not exist' }
  const exchange = exchangeUntil(timeoutMs)
  try {
    if (protocol === 'GRPC') {
      const answer = await caller.unary(exchange, method, message, { headers: new HeaderList(), isDetached: false })
      return { kind: 'Accepted', rejected: rejected(answer) }
    }
    const response = await caller.http(exchange, {
      method: 'POST',
      authority: undefined,
      path,
      query: '',
      headers: HeaderList.of([['content-type', CONTENT_TYPE]]),
      body: Buffer.from(toBinary(method.input, message)),
      answerBytesMax: ANSWER_BYTES_MAX,
    })
    const { status, headers, body } = response
    if (status >= 200 && status < 300) {
      return { kind: 'Accepted', rejected: rejected(answerOf(method.output, body)) }
    }
    const detail = `the collector answered ${status}`
    if (!RETRYABLE_HTTP.has(status)) return { kind: 'Refused', detail }
    return { kind: 'Later', afterMs: retryAfterMs(headers.get('retry-after'), Date.now()), detail }
  } catch (error) {
    return failureOf(error)
  }
}

function exchangeUntil(timeoutMs: number): Exchange {
  const now = performance.now()
  const request = new HttpRequest({
    method: 'POST',
    path: '/',
    query: '',
    host: '',
    scheme: 'http',
    version: 'HTTP/1.1',
    headers: new HeaderList(),
  })
  const exchange = new Exchange(NO_CLIENT, request, now)
  exchange.deadlineMs = now + timeoutMs
  return exchange
}

/** An answer that does not decode was a success all the same. */
function answerOf<O extends DescMessage>(schema: O, body: unknown): MessageShape<O> {
  try {
    return fromBinary(schema, Buffer.isBuffer(body) ? body : new Uint8Array())
  } catch {
    return create(schema)
  }
}

function failureOf(error: unknown): SendOutcome {
  const detail = error instanceof Error ? error.message : String(error)
  if (!(error instanceof ServiceError)) return { kind: 'Refused', detail }
  const { cause } = error
  // No gRPC status: no peer was reached, or the peer sent no response.
  if (!(cause instanceof GrpcError)) return { kind: 'Later', afterMs: undefined, detail }
  const afterMs = retryInfoMs(cause.statusDetails)
  const isRetryable =
    RETRYABLE_GRPC.has(cause.status) || (cause.status === GrpcStatus.RESOURCE_EXHAUSTED && afterMs !== undefined)
  return isRetryable ? { kind: 'Later', afterMs, detail } : { kind: 'Refused', detail }
}
