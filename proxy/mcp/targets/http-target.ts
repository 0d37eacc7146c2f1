// A server reached over Streamable HTTP (MCP 2025-06-18, "Transports").
import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '../../exchange/diagnosis.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { HttpResponse } from '../../message/message.ts'
import type { UpstreamResponse } from '../../upstream/target.ts'
import { single } from '../http-reply.ts'
import { isRequest, type JsonRpcRequest } from '../jsonrpc.ts'
import { messagesOf } from './events.ts'
import { LATE_MS, Opening } from './opening.ts'
import { eventsIn, eventsOrWhole, wholeReply } from './response-messages.ts'
import {
  callServer,
  type CompiledTarget,
  compileHttpTarget,
  CUT_MS,
  HEAD_TIMEOUT_MS,
  type HttpTargetOptions,
} from './server-call.ts'
import {
  type EventStream,
  type McpTarget,
  type MessageStream,
  TargetError,
  TargetHttpError,
  type TargetReply,
  type TargetSession,
  type WholeMessage,
} from './target.ts'

const END_TIMEOUT_MS = 5000
/**
 * Servers allow one client to listen to a session (409 for others). A client may reconnect before the end of
 * its previous stream, which may be on another worker.
 */
const LISTEN_AGAIN_MS = [20, 80, 200, 400]
export const ERROR_BODY_BYTES_MAX = 65_536
const DOCUMENT_MS_MAX = 10_000
const DOCUMENT_BYTES_MAX = 256 * 1024
const SIGN_IN_FIELDS = ['www-authenticate', 'location']
const OF_CONNECTION = ['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'upgrade']
/** Attributes of policies that identify the client. */
const AUTHENTICATED = ['jwt', 'apiKey', 'basicAuth']

export function httpTarget(settings: HttpTargetOptions): McpTarget {
  const { name, policies } = settings
  const options = compileHttpTarget(settings)
  return {
    name,
    answerMs: policies.http?.requestTimeoutMs,
    async send(exchange, message, session, deadlineMs): Promise<TargetReply> {
      if (isRequest(message) && message.method === 'initialize')
        return openSession(exchange, options, { message, deadlineMs })
      const body = JSON.stringify(message)
      const { response, endpoint, arrived } = await callServer(exchange, options, {
        method: 'POST',
        session,
        message,
        body,
        readsAnswer: isRequest(message),
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
    end: (exchange, session) => endSession(exchange, options, session),
    ...(settings.passesSignIn && { document: (exchange: Exchange) => documentOf(exchange, options) }),
  }
}

interface OpeningRequest {
  readonly message: JsonRpcRequest
  readonly deadlineMs: number | undefined
}

/** The head of the answer has the id of the session. A session that no caller gets is ended. */
async function openSession(
  exchange: Exchange,
  target: CompiledTarget,
  { message, deadlineMs: ownMs = Infinity }: OpeningRequest,
): Promise<TargetReply> {
  const { name } = target
  const { connection, deadlineMs: routeMs = Infinity } = exchange
  const deadlineMs = Math.min(performance.now() + HEAD_TIMEOUT_MS, routeMs + CUT_MS, ownMs)
  const opening = new Opening({ name, client: connection.signal, deadlineMs })
  const calling = callServer(exchange, target, {
    method: 'POST',
    session: undefined,
    message,
    body: JSON.stringify(message),
    readsAnswer: true,
    timeoutMs: HEAD_TIMEOUT_MS,
    limits: { deadlineMs: deadlineMs + LATE_MS, bodyDeadlineMs: deadlineMs, signal: opening.signal },
  })
  const { response, endpoint, arrived } = await opening.head(calling, (unused) => {
    const serverSession = unused.response.headers.get('mcp-session-id')
    if (serverSession === undefined) return
    const session = { target: name, serverSession, endpoint: unused.endpoint.label, isSkipped: false, isModern: false }
    void endSession(exchange, target, session)
  })
  if (response.status >= 300) throw await httpError(response, passesSignIn(exchange, target))
  return {
    serverSession: response.headers.get('mcp-session-id'),
    endpoint: endpoint.label,
    messages: messagesOf(eventsOrWhole(name, response, arrived)),
  }
}

/** Also for a client that has left, or whose time is up. */
async function endSession(exchange: Exchange, target: CompiledTarget, session: TargetSession): Promise<void> {
  try {
    const { response } = await callServer(exchange, target, {
      method: 'DELETE',
      session,
      message: undefined,
      body: undefined,
      timeoutMs: END_TIMEOUT_MS,
    })
    await response.body.collect(ERROR_BODY_BYTES_MAX)
  } catch {
    // The server drops the session by itself.
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

/** Clients that the gateway has authenticated cannot use a challenge of the server. */
function passesSignIn({ attributes = {} }: Exchange, settings: HttpTargetOptions): boolean {
  return settings.passesSignIn && !AUTHENTICATED.some((name) => Object.hasOwn(attributes, name))
}

export async function httpError(response: UpstreamResponse, isSignIn: boolean): Promise<TargetHttpError> {
  const { status, headers } = response
  const body = await response.body.collect(ERROR_BODY_BYTES_MAX).catch(() => Buffer.alloc(0))
  const fields = isSignIn
    ? SIGN_IN_FIELDS.flatMap((name) => headers.getAll(name).map((value) => [name, value] as const))
    : []
  return new TargetHttpError(status, headers.get('content-type'), body, fields)
}
