// One call of a server over HTTP: its endpoint, the policies of the target, and the limits of the call.
import type { BackendReference } from '#api/ir/types.gen.ts'
import { OwnCallEndpoints } from '../../backend/failover.ts'
import type { BackendEnvironment, Endpoint, EndpointPicker } from '../../backend/handler.ts'
import { chargeAnswer, chargeFailure } from '../../backend/health.ts'
import { dropBody, isCredentialRefused } from '../../backend/second-try.ts'
import type { EffectiveBackend } from '../../chain/effective.ts'
import type { NamedFilter } from '../../chain/filter.ts'
import { runChain } from '../../chain/run-chain.ts'
import { derive } from '../../exchange/derive.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import type { HealthRule } from '../../exchange/slots.ts'
import { arrivedBody } from '../../message/arrived-body.ts'
import { HttpRequest, HttpResponse } from '../../message/message.ts'
import { type SendOptions, UpstreamError, type UpstreamResponse } from '../../upstream/target.ts'
import type { JsonRpcMessage } from '../jsonrpc.ts'
import type { Later } from '../later.ts'
import { RequestHeaders } from './request-headers.ts'
import { MESSAGE_BYTES_MAX, NoServerError, TargetError, type TargetSession, UnreachableError } from './target.ts'

/** A tool may take long before its server sends the head of the response. */
export const HEAD_TIMEOUT_MS = 300_000
/** At the deadline the client gets 504, or its response is cut; the calls for it end later. */
export const CUT_MS = 30

export interface HttpTargetOptions {
  readonly name: string
  readonly path: string
  readonly ref: BackendReference
  readonly picker: EndpointPicker
  readonly policies: EffectiveBackend
  readonly environment: BackendEnvironment
  /** Clients may sign in at the server itself: it is the only one, and no policy of the gateway authenticates. */
  readonly passesSignIn: boolean
}

export interface CompiledTarget extends HttpTargetOptions {
  /** Policies of the target, compiled once. */
  readonly filters: readonly NamedFilter[]
  readonly health: HealthRule | undefined
  readonly headers: RequestHeaders
}

interface Call {
  readonly method: 'POST' | 'GET' | 'DELETE' | 'HEAD' | 'OPTIONS'
  /** undefined: the request is for the MCP endpoint. */
  readonly document?: { readonly path: string; readonly query: string }
  readonly session: TargetSession | undefined
  /** Id of the event after which a stream continues. */
  readonly last?: string | undefined
  /** undefined: GET and DELETE. */
  readonly message: JsonRpcMessage | undefined
  readonly body: Buffer | string | undefined
  /** An answer that has arrived is read before it is copied. */
  readonly readsAnswer?: boolean
  readonly timeoutMs: number
  /** Until the end of the body; undefined: it has no limit of its own. */
  readonly deadlineMs?: number | undefined
  /** undefined: those of the client's request. */
  readonly limits?: SendOptions
}

export function compileHttpTarget(settings: HttpTargetOptions): CompiledTarget {
  const { environment, policies, ref } = settings
  const filters = environment.filters(policies, { ref }).request
  return { ...settings, filters, health: environment.health(policies), headers: new RequestHeaders() }
}

/** Sends one message under the policies of the target. */
export async function callServer(
  exchange: Exchange,
  target: CompiledTarget,
  call: Call,
): Promise<Answered & { readonly endpoint: Endpoint }> {
  const { name, picker } = target
  const { timeoutMs, session } = call
  let endpoint = pickEndpoint(picker, session)
  if (endpoint === undefined) throw new NoServerError(`${name}: no endpoint is ready`)
  const preparing = targetRequest(exchange, target, call)
  let prepared = preparing instanceof Promise ? await preparing : preparing
  let startMs = performance.now()
  const limits = limitsOf(exchange, call, startMs + timeoutMs)
  let others: OwnCallEndpoints<Endpoint> | undefined
  for (;;) {
    try {
      const { request, own } = prepared
      const { response, arrived } = await callEndpoint(exchange, target, { call, request, endpoint, limits, startMs })
      if (!isRefused(own, response)) return { response, arrived, endpoint }
      dropBody(response.body)
      prepared = await targetRequest(exchange, target, call)
      startMs = performance.now()
      // Once for a call.
      if (prepared.own !== undefined) prepared.own.isCredentialRenewed = true
    } catch (error) {
      others ??= new OwnCallEndpoints(endpoint, {
        exchange,
        // The other endpoints do not have a session that its server keeps.
        other: isKept(session) ? undefined : (failed) => picker.other(failed),
        deadlineMs: limits.deadlineMs,
      })
      const next = others.next(error)
      if (next === undefined) throw failureOf(name, error)
      if (exchange.endpoint === endpoint.label) exchange.endpoint = undefined
      endpoint = next
      startMs = performance.now()
    }
  }
}

function isRefused(own: Exchange | undefined, response: UpstreamResponse): boolean {
  return own?.credential !== undefined && isCredentialRefused(own, response)
}

interface PreparedRequest {
  readonly request: HttpRequest
  /** The exchange of its policies; undefined: it has no policies. */
  readonly own: Exchange | undefined
}

interface Answered {
  readonly response: UpstreamResponse
  /** With `readsAnswer`, if the answer has arrived. */
  readonly arrived: Buffer | string | undefined
}

interface EndpointCall {
  readonly call: Call
  readonly request: HttpRequest
  readonly endpoint: Endpoint
  readonly limits: SendOptions
  readonly startMs: number
}

function callEndpoint(
  exchange: Exchange,
  { name, health, environment }: CompiledTarget,
  { call: { method, body, readsAnswer }, request, endpoint, limits, startMs }: EndpointCall,
): Promise<Answered> {
  exchange.upstreamStartMs ??= startMs
  exchange.endpoint ??= endpoint.label
  const { state } = endpoint
  state.begin()
  const trace = exchange.trace?.scoped(name)
  if (trace !== undefined) {
    const sent = { method, pathAndQuery: request.pathAndQuery, host: endpoint.authority, headers: request.headers }
    trace.backendStart(exchange, { target: endpoint.label, sent, body })
  }
  const answered = (response: UpstreamResponse): Answered => {
    // The body is streamed; a condition cannot read it.
    const answer = new HttpResponse(response.status, response.headers, undefined, false)
    const headMs = performance.now()
    chargeAnswer(state, health, { exchange, request, response: answer, latencyMs: headMs - startMs })
    exchange.upstreamHeadMs ??= headMs
    trace?.upstreamAnswered(exchange, response)
    const isRead = readsAnswer === true && response.status < 300
    return { response, arrived: isRead ? arrivedBody(response.body, MESSAGE_BYTES_MAX) : undefined }
  }
  const failed = (error: unknown): void => {
    chargeUnanswered(state, health, exchange)
    trace?.backendResult({ status: undefined, error: String(error) })
  }
  const { pathAndQuery, headers, signer } = request
  const { authority, target } = endpoint
  return new Promise((resolve, reject) => {
    environment.client.call(target, { method, pathAndQuery, authority, headers, body, signer }, limits, {
      answered(response) {
        try {
          resolve(answered(response))
        } catch (error) {
          reject(error)
        }
      },
      failed(error) {
        failed(error)
        reject(error)
      },
    })
  })
}

/** Failures of the connection, for the client; other errors stay as they are. */
function failureOf(name: string, error: unknown): unknown {
  if (!(error instanceof UpstreamError)) return error
  const text = `${name}: ${error.message}`
  return error.isMovable ? new UnreachableError(text) : new TargetError(text)
}

function isKept(session: TargetSession | undefined): boolean {
  return session?.endpoint !== undefined && session.serverSession !== undefined
}

/** A session is ended for the server: also if the client has disconnected, or its time is up. */
function limitsOf(
  { connection, deadlineMs = Infinity }: Exchange,
  { method, limits, deadlineMs: ownMs = Infinity }: Call,
  latestMs: number,
): SendOptions {
  if (limits !== undefined) return limits
  if (method === 'DELETE') return { deadlineMs: latestMs, signal: undefined }
  const bodyDeadlineMs = Math.min(deadlineMs + CUT_MS, ownMs)
  return {
    deadlineMs: Math.min(latestMs, bodyDeadlineMs),
    bodyDeadlineMs: bodyDeadlineMs === Infinity ? undefined : bodyDeadlineMs,
    signal: connection.signal,
  }
}

/** A client that disconnects has no effect on the endpoint. */
function chargeUnanswered(state: Endpoint['state'], health: HealthRule | undefined, { connection }: Exchange): void {
  if (connection.signal.aborted) state.release()
  else chargeFailure(state, health)
}

/**
 * The request to the server: the client's headers without those of its own connection, with the target's policies
 * applied. Filters need an exchange, so each call has its own: fan-out runs several at once.
 */
function targetRequest(
  exchange: Exchange,
  target: CompiledTarget,
  { method, session, message, document, last }: Call,
): Later<PreparedRequest> {
  const { name, filters } = target
  const { path, query } = document ?? { path: target.path, query: '' }
  const { host, scheme, headers: clientHeaders } = exchange.request
  const isDocument = document !== undefined
  const headers = target.headers.of(clientHeaders, { method, isDocument, session, last, message })
  const request = new HttpRequest({ method, path, query, host, scheme, version: 'HTTP/1.1', headers })
  if (filters.length === 0) return { request, own: undefined }
  return filtered(derive(exchange, { request, scope: name }), filters)
}

async function filtered(own: Exchange, filters: readonly NamedFilter[]): Promise<PreparedRequest> {
  const { promise, resolve } = Promise.withResolvers<void>()
  runChain(filters, own, 0, () => resolve())
  await promise
  if (own.response !== undefined) throw new TargetError(own.errorDetail ?? 'a backend policy rejected the call')
  return { request: own.request, own }
}

/** A pinned endpoint that was removed is an error only if the server kept a session there; the server returns 404. */
function pickEndpoint(picker: EndpointPicker, session: TargetSession | undefined): Endpoint | undefined {
  const pinned = session?.endpoint === undefined ? undefined : picker.find(session.endpoint)
  return pinned ?? picker.pick()
}
