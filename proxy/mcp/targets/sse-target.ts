// A server reached over the legacy SSE transport (MCP 2024-11-05): a GET opens its event stream, the first event names
// the path to which messages are posted, and all messages of the server arrive on the stream.
import type { Endpoint } from '../../backend/handler.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { single } from '../http-reply.ts'
import { errorResponse, isRequest, METHOD_NOT_FOUND, type JsonRpcMessage, type JsonRpcRequest } from '../jsonrpc.ts'
import {
  callServer,
  compileHttpTarget,
  type CompiledTarget,
  ERROR_BODY_BYTES_MAX,
  HEAD_TIMEOUT_MS,
  httpError,
  type HttpTargetOptions,
} from './http-target.ts'
import { eventsOf } from './events.ts'
import { SseLink, type LinkCall } from './sse-link.ts'
import { LINKS_MAX, SseLinks, type Purpose, type UsedLink } from './sse-links.ts'
import {
  MESSAGE_BYTES_MAX,
  type McpTarget,
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
      const isOpening = session === undefined
      // Such servers have only versions with sessions.
      if (isOpening && isRequest(message) && message.method !== 'initialize') return unknownMethod(message)
      const serverSession = isOpening ? await openLink(exchange, options) : session.serverSession
      const used = await usedLink(serverSession, isRequest(message) ? callOf(message) : 'Post')
      const { path, endpoint, messages } = used
      try {
        await post(exchange, { ...options, path }, { message, endpoint })
      } catch (error) {
        messages.cancel()
        if (isOpening && serverSession !== undefined) links.close(serverSession)
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
      return { serverSession, endpoint, messages }
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

function callOf({ id, params }: JsonRpcRequest): LinkCall {
  const meta = params?.['_meta']
  const hasToken = typeof meta === 'object' && meta !== null && 'progressToken' in meta
  return { id, progressToken: hasToken ? JSON.stringify(meta.progressToken) : undefined }
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
  { message, endpoint }: { readonly message: JsonRpcMessage; readonly endpoint: string },
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
  })
  if (response.status >= 300) throw await httpError(response, false)
  // Some servers confirm with a short text.
  await response.body.collect(ERROR_BODY_BYTES_MAX)
}
