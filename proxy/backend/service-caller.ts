// Calls a service that policies use (authorization, rate limits) with the machinery of backends: endpoint selection,
// TLS, credentials, timeouts. Never sends a response to a client.
import { messageOf } from '../exchange/diagnosis.ts'
import type { DescMessage } from '@bufbuild/protobuf'
import { derive } from '../exchange/derive.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { GrpcMethod, GrpcStreamUser } from '../grpc/client.ts'
import { GrpcError, GrpcStatus } from '../grpc/status.ts'
import type { StreamBody } from '../message/body.ts'
import { HeaderList } from '../message/headers.ts'
import { HttpRequest, HttpResponse } from '../message/message.ts'
import { isFramingField } from '../message/header-field.ts'
import { runChain } from '../chain/run-chain.ts'
import { type ServiceCaller, ServiceError, type ServiceHttpRequest } from '../chain/service.ts'
import { beginOutbound, type Outbound } from '../exchange/outbound.ts'
import type { CallSubtype, OutboundEnd } from '../exchange/request-span.ts'
import { UpstreamError } from '../upstream/target.ts'
import { chargeFailure } from './health.ts'
import { isCredentialRefused } from './second-try.ts'
import { Charged, type ServiceParts, type ServiceEndpoint } from './service-charge.ts'

/** Data-plane supplement section 7.2; also for gRPC, where it names none. */
export const SERVICE_TIMEOUT_MS = 2000
/** Of token endpoints, data-plane supplement section 8.5, and of guards, section 3.6. */
const LONG_TIMEOUT_MS = 10_000
const HAVE_LONG_TIMEOUT: ReadonlySet<CallSubtype | undefined> = new Set<CallSubtype>(['Oidc', 'Guardrail'])

/** Owned by gRPC itself; values of policies are ignored. */
const GRPC_FIELDS: ReadonlySet<string> = new Set(['te', 'content-type', 'grpc-timeout', 'grpc-accept-encoding', 'host'])

export function serviceCaller(parts: ServiceParts): ServiceCaller {
  return {
    answerMs: timeoutOf(parts),
    async http(exchange, message) {
      const { headers } = message
      const kept = parts.filters.length === 0 ? headers : headers.clone()
      const first = await callHttp(exchange, parts, { ...message, isRenewed: false })
      if (first !== undefined) return first
      const again = await callHttp(exchange, parts, { ...message, headers: kept, isRenewed: true })
      if (again === undefined) throw new ServiceError('the credential was refused again')
      return again
    },
    async unary(exchange, method, message, { headers, isDetached }) {
      const endpoint = pick(parts)
      const request = await preparedGrpc(exchange, parts, { endpoint, isDetached, ...grpcMessage(method, headers) })
      const observed = observe(exchange, parts, { endpoint, request })
      const deadlineMs = isDetached ? performance.now() + timeoutOf(parts) : deadlineOf(exchange, parts)
      const call = new Charged({ exchange, request, endpoint, parts, observed, deadlineMs, isDetached })
      const options = {
        authority: request.host,
        metadata: metadataOf(request.headers),
        deadlineMs,
        signal: isDetached ? undefined : exchange.connection.signal,
        elsewhere: (error: GrpcError) => call.move(error),
      }
      return charged(call, async () => {
        const answer = await parts.grpc.unary(endpoint.target, method, message, options)
        observed?.end({ grpcStatus: GrpcStatus.OK })
        return { answer, response: grpcResponse(GrpcStatus.OK) }
      })
    },
    async stream(exchange, method, user, headers) {
      const endpoint = pick(parts)
      const request = await preparedGrpc(exchange, parts, { endpoint, ...grpcMessage(method, headers) })
      const observed = observe(exchange, parts, { endpoint, request })
      const deadlineMs = exchange.deadlineMs ?? Infinity
      const call = new Charged({ exchange, request, endpoint, parts, observed, deadlineMs })
      const charge = new StreamCharge(call, user)
      const stream = parts.grpc.stream(endpoint.target, method, charge, {
        authority: request.host,
        metadata: metadataOf(request.headers),
        deadlineMs: Infinity,
        signal: exchange.connection.signal,
        elsewhere: (error) => call.move(error),
      })
      return Object.assign(stream, {
        abandon() {
          charge.isBlamed = true
          stream.cancel()
        },
      })
    },
  }
}

/** undefined: the service refused the credential, and there is another one. */
async function callHttp(
  exchange: Exchange,
  parts: ServiceParts,
  { body, answerBytesMax, detached, isRenewed, ...message }: ServiceHttpRequest & { readonly isRenewed: boolean },
): Promise<HttpResponse | undefined> {
  const endpoint = pick(parts)
  const isDetached = detached !== undefined
  const { request, own } = await prepared(exchange, parts, { ...message, endpoint, isDetached })
  const signal = detached ?? exchange.connection.signal
  const deadlineMs = isDetached ? performance.now() + timeoutOf(parts) : deadlineOf(exchange, parts)
  const observed = observe(exchange, parts, { endpoint, request })
  const call = new Charged({ exchange, request, endpoint, parts, observed, deadlineMs, isDetached })
  const answer = await charged(call, async () => {
    const sent = {
      method: request.method,
      pathAndQuery: request.pathAndQuery,
      authority: request.host,
      headers: request.headers,
      body,
      signer: request.signer,
    }
    const response = await call.reach((target) => parts.client.send(target, sent, { deadlineMs, signal }))
    const bytes = await collectWithin(response.body, { bytesMax: answerBytesMax, deadlineMs, signal })
    observed?.end({ status: response.status })
    const received = new HttpResponse(response.status, response.headers, bytes, false)
    return { answer: received, response: received }
  })
  if (own?.credential === undefined) return answer
  own.isCredentialRenewed = isRenewed
  return isCredentialRefused(own, answer) ? undefined : answer
}

function grpcMessage<I extends DescMessage, O extends DescMessage>(method: GrpcMethod<I, O>, headers: HeaderList) {
  const path = `/${method.parent.typeName}/${method.name}`
  return { authority: undefined, method: 'POST', path, query: '', headers } as const
}

/** Load and health of the endpoint of a stream. Its latency is that of the first answer: streams may be long. */
class StreamCharge<O> implements GrpcStreamUser<O> {
  isBlamed = false
  readonly #call: Charged
  readonly #user: GrpcStreamUser<O>
  #answerMs: number | undefined = undefined

  constructor(call: Charged, user: GrpcStreamUser<O>) {
    this.#call = call
    this.#user = user
    call.begin()
  }

  message(message: O): void {
    this.#answerMs ??= performance.now() - this.#call.begunMs
    this.#user.message(message)
  }

  drained(): void {
    this.#user.drained()
  }

  closed(error: GrpcError | undefined): void {
    const { parts, observed } = this.#call
    const durationMs = performance.now() - this.#call.startMs
    if (this.isBlamed) chargeFailure(this.#call.endpoint.state, parts.health)
    else this.#call.settle(error ?? grpcResponse(GrpcStatus.OK), this.#answerMs)
    observed?.end(error === undefined ? { grpcStatus: GrpcStatus.OK } : failureOf(error))
    if (parts.subtype !== undefined) parts.called?.(parts.subtype, durationMs)
    this.#user.closed(error)
  }
}

function pick({ picker }: ServiceParts): ServiceEndpoint {
  const endpoint = picker.pick()
  if (endpoint === undefined) throw new ServiceError('no endpoint of the service is ready')
  return endpoint
}

function timeoutOf({ timeoutMs, subtype }: ServiceParts): number {
  return timeoutMs ?? (HAVE_LONG_TIMEOUT.has(subtype) ? LONG_TIMEOUT_MS : SERVICE_TIMEOUT_MS)
}

function deadlineOf(exchange: Exchange, parts: ServiceParts): number {
  return Math.min(performance.now() + timeoutOf(parts), exchange.deadlineMs ?? Infinity)
}

/** The call in the request's trace and span; undefined: neither is recorded. Propagates the trace to the service. */
function observe(
  exchange: Exchange,
  { subtype }: ServiceParts,
  { endpoint: { target }, request }: { endpoint: ServiceEndpoint; request: HttpRequest },
): Outbound | undefined {
  if (subtype === undefined || (exchange.trace === undefined && exchange.span === undefined)) return undefined
  const outbound = beginOutbound(exchange, {
    kind: 'Policy',
    subtype,
    target: target.unixPath ?? `${target.host}:${target.port}`,
    request,
  })
  if (outbound.traceparent !== undefined) request.headers.set('traceparent', outbound.traceparent)
  return outbound
}

/** Health and load of the endpoint; every failure becomes a ServiceError. */
async function charged<T>(call: Charged, run: () => Promise<{ answer: T; response: HttpResponse }>): Promise<T> {
  const { parts, observed } = call
  call.begin()
  try {
    const { answer, response } = await run()
    call.settle(response)
    return answer
  } catch (error) {
    observed?.end(failureOf(error))
    call.settle(error)
    if (error instanceof GrpcError)
      throw new ServiceError(`gRPC status ${error.status}: ${error.message}`, { cause: error })
    if (error instanceof UpstreamError) throw new ServiceError(error.message)
    throw error
  } finally {
    if (parts.subtype !== undefined) parts.called?.(parts.subtype, performance.now() - call.startMs)
  }
}

/** What expressions see of an answer by gRPC. */
function grpcResponse(status: number): HttpResponse {
  const headers = new HeaderList()
  headers.set('grpc-status', String(status))
  return new HttpResponse(200, headers, undefined, false)
}

function failureOf(error: unknown): OutboundEnd {
  if (error instanceof GrpcError) return { grpcStatus: error.status, error: error.message }
  return { error: messageOf(error) }
}

/** The service's own policies need an exchange, so each call has its own. */
async function prepared(
  exchange: Exchange,
  { filters }: ServiceParts,
  parts: Omit<ServiceHttpRequest, 'body' | 'answerBytesMax' | 'detached'> & {
    endpoint: ServiceEndpoint
    isDetached?: boolean
  },
): Promise<{ readonly request: HttpRequest; readonly own: Exchange | undefined }> {
  const { endpoint, isDetached, authority = endpoint.authority, ...message } = parts
  const scheme = endpoint.target.tls === undefined ? 'http' : 'https'
  const request = new HttpRequest({ ...message, host: authority, scheme, version: 'HTTP/1.1' })
  if (filters.length === 0) return { request, own: undefined }
  const own = derive(exchange, { request })
  if (isDetached === true) own.deadlineMs = own.deadline = undefined
  const { promise, resolve } = Promise.withResolvers<void>()
  runChain(filters, own, 0, () => resolve())
  await promise
  if (own.response !== undefined) throw new ServiceError(own.errorDetail ?? 'a backend policy rejected the call')
  return { request, own }
}

/** Messages of gRPC are framed after this, so that a signature over the body cannot be made. */
async function preparedGrpc(...call: Parameters<typeof prepared>): Promise<HttpRequest> {
  const { request } = await prepared(...call)
  if (request.signer !== undefined) throw new ServiceError('calls over gRPC cannot be signed')
  return request
}

function metadataOf({ fields }: HeaderList): string[] {
  const metadata: string[] = []
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i] ?? ''
    if (!GRPC_FIELDS.has(name) && !isFramingField(name)) metadata.push(name, fields[i + 1] ?? '')
  }
  return metadata
}

/** The deadline of a call covers its body as well. */
async function collectWithin(
  body: StreamBody,
  { bytesMax, deadlineMs, signal }: { bytesMax: number; deadlineMs: number; signal: AbortSignal },
): Promise<Buffer> {
  const iterator = body[Symbol.asyncIterator]()
  const { promise: tooLate, reject } = Promise.withResolvers<never>()
  const onAbort = (): void => reject(new ServiceError('the call was given up'))
  const timer = setTimeout(
    () => reject(new ServiceError('the response body did not arrive in time')),
    Math.max(0, deadlineMs - performance.now()),
  )
  signal.addEventListener('abort', onAbort, { once: true })
  const chunks: Buffer[] = []
  let bytes = 0
  let isWhole = false
  try {
    for (;;) {
      const { done, value } = await Promise.race([iterator.next(), tooLate])
      if (done === true) break
      bytes += value.length
      if (bytes > bytesMax) throw new ServiceError(`the response is larger than ${bytesMax} bytes`)
      chunks.push(value)
    }
    isWhole = true
    return Buffer.concat(chunks, bytes)
  } catch (error) {
    throw error instanceof ServiceError ? error : new ServiceError(`the response ended early: ${String(error)}`)
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
    if (!isWhole) await iterator.return?.()
  }
}
