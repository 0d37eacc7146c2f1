// A server reached over Streamable HTTP (MCP 2025-06-18, "Transports").
import { messageOf } from '../../exchange/diagnosis.ts'
import type { BackendReference } from '#api/ir/types.gen.ts'
import type { EffectiveBackend } from '../../chain/effective.ts'
import { setTimeout as delay } from 'node:timers/promises'
import type { BackendEnvironment, Endpoint, EndpointPicker } from '../../backend/handler.ts'
import { chargeAnswer, chargeFailure } from '../../backend/health.ts'
import type { HealthRule } from '../../exchange/slots.ts'
import { OwnCallEndpoints } from '../../backend/failover.ts'
import { dropBody, isCredentialRefused } from '../../backend/second-try.ts'
import { derive } from '../../exchange/derive.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { arrivedBody } from '../../message/arrived-body.ts'
import { HttpRequest, HttpResponse } from '../../message/message.ts'
import { runChain } from '../../chain/run-chain.ts'
import type { NamedFilter } from '../../chain/filter.ts'
import { type SendOptions, UpstreamError, type UpstreamResponse } from '../../upstream/target.ts'
import { single } from '../http-reply.ts'
import { isRequest, type JsonRpcMessage } from '../jsonrpc.ts'
import type { Later } from '../later.ts'
import { messagesOf } from './events.ts'
import { RequestHeaders } from './request-headers.ts'
import { eventsIn, wholeReply } from './response-messages.ts'
import {
  type EventStream,
  type McpTarget,
  MESSAGE_BYTES_MAX,
  type MessageStream,
  NoServerError,
  TargetError,
  TargetHttpError,
  type TargetReply,
  type TargetSession,
  UnreachableError,
  type WholeMessage,
} from './target.ts'

/** A tool may take long before its server sends the head of the response. */
export const HEAD_TIMEOUT_MS = 300_000
const END_TIMEOUT_MS = 5000
/**
 * Servers allow one client to listen to a session (409 for others). A client may reconnect before the end of
 * its previous stream, which may be on another worker.
 */
const LISTEN_AGAIN_MS = [20, 80, 200, 400]
/** At the deadline the client gets 504, or its response is cut; the calls for it end later. */
const CUT_MS = 30
export const ERROR_BODY_BYTES_MAX = 65_536
const DOCUMENT_MS_MAX = 10_000
const DOCUMENT_BYTES_MAX = 256 * 1024
const SIGN_IN_FIELDS = ['www-authenticate', 'location']
const OF_CONNECTION = ['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'upgrade']
/** Attributes of policies that identify the client. */
const AUTHENTICATED = ['jwt', 'apiKey', 'basicAuth']
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
  /** The session that the server opens is ended if the client has left: its id is of use. */
  readonly isOpening?: boolean
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

export function httpTarget(settings: HttpTargetOptions): McpTarget {
  const { name, policies } = settings
  const options = compileHttpTarget(settings)
  return {
    name,
    answerMs: policies.http?.requestTimeoutMs,
    async send(exchange, message, session, deadlineMs): Promise<TargetReply> {
      const body = JSON.stringify(message)
      const { response, endpoint, arrived } = await callServer(exchange, options, {
        method: 'POST',
        session,
        message,
        body,
        readsAnswer: isRequest(message),
        isOpening: isRequest(message) && message.method === 'initialize',
        timeoutMs: HEAD_TIMEOUT_MS,
        deadlineMs,
      })
      if (response.status >= 300) throw await httpError(response, passesSignIn(exchange, settings))
      const reading = isRequest(message) ? wholeReply(name, response, arrived) : undefined
      const whole = reading instanceof Promise ? await reading : reading
      const serverSession = response.headers.get('mcp-session-id')
      if (whole === undefined) {
        const events = eventsIn(name, response, arrived)
        return { serverSession, endpoint: endpoint.label, events, messages: messagesOf(events) }
      }
      return new WholeReply(serverSession, endpoint.label, whole)
    },
    listen: (exchange, session, last) => openStream(exchange, options, { session, last }),
    resume: (exchange, session, last) => openStream(exchange, options, { session, last }),
    async end(exchange, session) {
      try {
        const request: Call = {
          method: 'DELETE',
          session,
          message: undefined,
          body: undefined,
          timeoutMs: END_TIMEOUT_MS,
        }
        const { response } = await callServer(exchange, options, request)
        await response.body.collect(ERROR_BODY_BYTES_MAX)
      } catch {
        // The server drops the session by itself.
      }
    },
    ...(settings.passesSignIn && { document: (exchange: Exchange) => documentOf(exchange, options) }),
  }
}

class WholeReply implements TargetReply {
  readonly serverSession: string | undefined
  readonly endpoint: string
  readonly whole: WholeMessage

  constructor(serverSession: string | undefined, endpoint: string, whole: WholeMessage) {
    this.serverSession = serverSession
    this.endpoint = endpoint
    this.whole = whole
  }

  get messages(): MessageStream {
    return single(this.whole.message)
  }
}

/** undefined: the server has no streams. */
async function openStream(
  exchange: Exchange,
  target: CompiledTarget,
  { session, last }: { readonly session: TargetSession | undefined; readonly last: string | undefined },
): Promise<EventStream | undefined> {
  for (let attempt = 0; ; attempt++) {
    const { response } = await callServer(exchange, target, {
      method: 'GET',
      session,
      last,
      message: undefined,
      body: undefined,
      timeoutMs: HEAD_TIMEOUT_MS,
    })
    if (response.status < 300) return eventsIn(target.name, response)
    const error = await httpError(response, passesSignIn(exchange, target))
    if (error.status === 405) return undefined
    const waitMs = LISTEN_AGAIN_MS[attempt]
    if (error.status !== 409 || waitMs === undefined) throw error
    await delay(waitMs)
  }
}

async function documentOf(exchange: Exchange, target: CompiledTarget): Promise<HttpResponse> {
  const { method, path, query } = exchange.request
  const { response } = await callServer(exchange, target, {
    method: method === 'HEAD' || method === 'OPTIONS' ? method : 'GET',
    document: { path, query },
    session: undefined,
    message: undefined,
    body: undefined,
    timeoutMs: DOCUMENT_MS_MAX,
  })
  const headers = response.headers.clone()
  for (const field of OF_CONNECTION) headers.remove(field)
  return new HttpResponse(response.status, headers, await documentBody(target.name, response), false)
}

async function documentBody(name: string, { body }: UpstreamResponse): Promise<Buffer> {
  try {
    return await body.collect(DOCUMENT_BYTES_MAX)
  } catch (error) {
    throw new TargetError(`${name}: ${messageOf(error)}`)
  }
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
  { method, limits, isOpening, deadlineMs: ownMs = Infinity }: Call,
  latestMs: number,
): SendOptions {
  if (limits !== undefined) return limits
  if (method === 'DELETE') return { deadlineMs: latestMs, signal: undefined }
  const bodyDeadlineMs = Math.min(deadlineMs + CUT_MS, ownMs)
  return {
    deadlineMs: Math.min(latestMs, bodyDeadlineMs),
    bodyDeadlineMs: bodyDeadlineMs === Infinity ? undefined : bodyDeadlineMs,
    signal: isOpening === true ? undefined : connection.signal,
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

/** Clients that the gateway has authenticated cannot use a challenge of the server. */
function passesSignIn({ attributes = {} }: Exchange, settings: HttpTargetOptions): boolean {
  return settings.passesSignIn && !AUTHENTICATED.some((name) => Object.hasOwn(attributes, name))
}

/** A pinned endpoint that was removed is an error only if the server kept a session there; the server returns 404. */
function pickEndpoint(picker: EndpointPicker, session: TargetSession | undefined): Endpoint | undefined {
  const pinned = session?.endpoint === undefined ? undefined : picker.find(session.endpoint)
  return pinned ?? picker.pick()
}

export async function httpError(response: UpstreamResponse, isSignIn: boolean): Promise<TargetHttpError> {
  const { status, headers } = response
  const body = await response.body.collect(ERROR_BODY_BYTES_MAX).catch(() => Buffer.alloc(0))
  const fields = isSignIn
    ? SIGN_IN_FIELDS.flatMap((name) => headers.getAll(name).map((value) => [name, value] as const))
    : []
  return new TargetHttpError(status, headers.get('content-type'), body, fields)
}
