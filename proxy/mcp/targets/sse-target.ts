// A server reached over the legacy SSE transport (MCP 2024-11-05): a GET opens its event stream, the first event names
// the path to which messages are posted, and all messages of the server arrive on the stream.
import type { Endpoint } from '../../backend/handler.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { madeStream } from '../../message/made-stream.ts'
import { single } from '../http-reply.ts'
import {
  errorResponse,
  isRequest,
  isResponse,
  METHOD_NOT_FOUND,
  type JsonRpcMessage,
  type JsonRpcRequest,
} from '../jsonrpc.ts'
import { ERROR_BODY_BYTES_MAX, httpError } from './http-target.ts'
import { eventsOf } from './events.ts'
import { askedProgress } from './progress.ts'
import {
  callServer,
  compileHttpTarget,
  type CompiledTarget,
  HEAD_TIMEOUT_MS,
  type HttpTargetOptions,
} from './server-call.ts'
import { SseLink, type LinkCall } from './sse-link.ts'
import { LINKS_MAX, SseLinks, type Purpose, type UsedLink } from './sse-links.ts'
import {
  MESSAGE_BYTES_MAX,
  type McpTarget,
  type MessageStream,
  TargetError,
  TargetHttpError,
  type TargetReply,
  type TargetSession,
} from './target.ts'

/** For the head of the stream, and again for its first event. */
const OPEN_TIMEOUT_MS = 10_000
const STREAM_TYPE = 'text/event-stream'

/** Of this worker: streams outlive the configuration that opened them. */
const links = new SseLinks()

export function sseTarget(settings: HttpTargetOptions): McpTarget {
  const { name, policies } = settings
  const options = compileHttpTarget(settings)
  return {
    name,
    answerMs: policies.http?.requestTimeoutMs,
    async send(exchange, message, session, deadlineMs = Infinity): Promise<TargetReply> {
      if (session !== undefined)
        return sendOver(exchange, options, { link: session.serverSession, message, deadlineMs })
      // Such servers have only versions with sessions.
      if (isRequest(message) && message.method !== 'initialize') return unknownMethod(message)
      const link = await openLink(exchange, options)
      try {
        const reply = await sendOver(exchange, options, { link, message, deadlineMs })
        return { ...reply, messages: untilOpened(reply.messages, link) }
      } catch (error) {
        links.close(link)
        throw error
      }
    },
    async listen(_exchange, { serverSession }) {
      const { messages } = await usedLink(serverSession, 'Listener')
      return eventsOf(messages)
    },
    end(_exchange, { serverSession }) {
      if (serverSession !== undefined) links.close(serverSession)
      return Promise.resolve()
    },
  }
}

interface Sent {
  /** undefined: the session has none. */
  readonly link: string | undefined
  readonly message: JsonRpcMessage
  readonly deadlineMs: number
}

async function sendOver(
  exchange: Exchange,
  target: CompiledTarget,
  { link, message, deadlineMs }: Sent,
): Promise<TargetReply> {
  const { path, endpoint, messages } = await usedLink(link, isRequest(message) ? callOf(message) : 'Post')
  try {
    await post(exchange, { ...target, path }, { message, endpoint, deadlineMs })
  } catch (error) {
    messages.cancel()
    throw error
  }
  if (isRequest(message)) {
    const { connection, deadlineMs: routeMs = Infinity } = exchange
    messages.limit({
      idleMs: HEAD_TIMEOUT_MS,
      deadlineMs: Math.min(deadlineMs, routeMs),
      signal: connection.signal,
    })
  } else messages.cancel()
  return { serverSession: link, endpoint, messages }
}

/** A session that its server does not confirm, or whose client has left before, is over. */
function untilOpened(messages: MessageStream, link: string): MessageStream {
  let isOpen = false
  const end = (): void => {
    messages.cancel()
    if (!isOpen) links.close(link)
  }
  async function* opening(): AsyncGenerator<JsonRpcMessage> {
    try {
      for await (const message of messages) {
        isOpen ||= isResponse(message)
        yield message
      }
    } finally {
      // Also if the messages end by themselves.
      end()
    }
  }
  return madeStream(opening(), end)
}

function unknownMethod({ id, method }: JsonRpcRequest): TargetReply {
  const error = { code: METHOD_NOT_FOUND, message: `Method not found: ${method}` }
  return { serverSession: undefined, endpoint: undefined, messages: single(errorResponse(id, error)) }
}

/** As if the server no longer had the session: the client opens a new one. */
async function usedLink(id: string | undefined, purpose: Purpose): Promise<UsedLink> {
  const used = id === undefined ? undefined : await links.use(id, purpose)
  if (used === undefined) throw new TargetHttpError(404, 'text/plain', Buffer.from('session not found'))
  return used
}

function callOf(request: JsonRpcRequest): LinkCall {
  return { id: request.id, progressToken: askedProgress(request) }
}

/** The id of a new link, whose server has named the path for messages. */
async function openLink(exchange: Exchange, target: CompiledTarget): Promise<string> {
  const { name, path } = target
  if (links.isFull) throw new TargetError(`${name}: more than ${LINKS_MAX} sessions with servers over SSE`)
  const { response, endpoint } = await callServer(exchange, target, {
    method: 'GET',
    session: undefined,
    message: undefined,
    body: undefined,
    timeoutMs: OPEN_TIMEOUT_MS,
    // The stream does not end with the request that opens it.
    limits: { deadlineMs: performance.now() + OPEN_TIMEOUT_MS, signal: undefined },
  })
  if (response.status >= 300) throw await httpError(response, false)
  if (response.headers.get('content-type')?.startsWith(STREAM_TYPE) !== true) {
    response.body.cancel()
    throw new TargetError(`${name}: the server did not answer with an event stream`)
  }
  const id = links.newId()
  const link = new SseLink({
    name,
    endpoint: endpoint.label,
    body: response.body,
    messageBytesMax: MESSAGE_BYTES_MAX,
    pathOf: (data) => messagePath(data, path, endpoint),
    onClosed: () => links.remove(id),
  })
  links.add(id, link)
  const timer = setTimeout(() => link.close(), OPEN_TIMEOUT_MS)
  try {
    await link.path
  } finally {
    clearTimeout(timer)
  }
  return id
}

/** A server must not make the gateway send messages, with the credentials for this server, to another one. */
function messagePath(data: string, path: string, { target, authority }: Endpoint): string {
  const base = new URL(path, `${target.tls === undefined ? 'http' : 'https'}://${authority}`)
  const url = URL.parse(data, base.href)
  if (url === null || url.origin !== base.origin) {
    throw new TargetError('the server named an address for messages that is not its own')
  }
  return url.pathname + url.search
}

async function post(
  exchange: Exchange,
  target: CompiledTarget,
  { message, endpoint, deadlineMs }: Omit<Sent, 'link'> & { readonly endpoint: string },
): Promise<void> {
  // Pinned to the endpoint of the stream. The path is the session.
  const session: TargetSession = {
    target: target.name,
    serverSession: undefined,
    endpoint,
    isSkipped: false,
    isModern: false,
  }
  const { response } = await callServer(exchange, target, {
    method: 'POST',
    session,
    message,
    body: Buffer.from(JSON.stringify(message)),
    timeoutMs: HEAD_TIMEOUT_MS,
    ...(deadlineMs < Infinity && { deadlineMs }),
  })
  if (response.status >= 300) throw await httpError(response, false)
  // Some servers confirm with a short text.
  await response.body.collect(ERROR_BODY_BYTES_MAX)
}
