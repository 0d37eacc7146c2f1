// The transport of MCP 2024-11-05 towards clients (data-plane supplement section 4.1): a GET of a path that ends with
// `/sse` opens an event stream, whose first event names the address for messages; each message is a POST, answered with
// 202, and all messages for the client are events of the stream.
import type { JsonSealer } from '../../auth/json-sealer.ts'
import { failByDefect, reportIfBug } from '../../exchange/defects.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { HttpResponse } from '../../message/message.ts'
import type { McpEndpoint } from '../context.ts'
import { withFailures } from '../failures.ts'
import { accepted, eventOf, plain, streamOf } from '../http-reply.ts'
import {
  errorResponse,
  INTERNAL_ERROR,
  INVALID_REQUEST,
  isRequest,
  type JsonRpcId,
  type JsonRpcMessage,
  parseMessage,
} from '../jsonrpc.ts'
import type { Later } from '../later.ts'
import { isModern } from '../modern/transport.ts'
import { principalOf } from '../principal.ts'
import { requestMessage } from '../request-message.ts'
import { type ClientStream, ClientStreams, STREAMS_MAX, type UsedStream } from './client-streams.ts'
import { ownCall } from './own-call.ts'
import { scopeOf } from './session.ts'
import { answerDelete, answerGet, answerLegacy } from './transport.ts'

const PARAMETER = 'sessionId'
const NOT_FOUND =
  'session not found: its event stream has ended, or another replica of the gateway has it. Open the stream again'

/** A client that lost its stream opens another one, and another session. */
const NOT_RESUMING = { canResume: false }

/** Of this worker: streams outlive the configuration that opened them. */
const streams = new ClientStreams()

/** undefined: the request does not use this transport. */
export function answerSse(exchange: Exchange, endpoint: McpEndpoint): Promise<HttpResponse> | undefined {
  const { method, headers, query } = exchange.request
  if (!pathOf(exchange).endsWith('/sse')) return undefined
  if (method === 'GET' && !headers.has('mcp-session-id')) return Promise.resolve(openStream(exchange, endpoint))
  const ids = method === 'POST' ? new URLSearchParams(query).getAll(PARAMETER) : []
  const [id] = ids
  if (id === undefined) return undefined
  if (ids.length > 1) return Promise.resolve(plain(422, `the query has more than one ${PARAMETER}`))
  return receive(exchange, endpoint, id)
}

/** As the client sent it. */
function pathOf({ mcpPath, request }: Exchange): string {
  return mcpPath ?? request.path
}

function openStream(exchange: Exchange, endpoint: McpEndpoint): HttpResponse {
  if (streams.isFull) return plain(503, `the worker has ${STREAMS_MAX} event streams of clients, and accepts no more`)
  const stream: ClientStream = streams.open({
    onInitialized: (session) =>
      void relayOwn(ownCall(exchange, { method: 'GET', session, signal: stream.signal }), endpoint, stream),
    onNote: (detail) => void (exchange.errorDetail ??= detail),
    onEnd: (session) => {
      if (session !== undefined)
        void end(ownCall(exchange, { method: 'DELETE', session, signal: stream.signal }), endpoint)
    },
  })
  const id = endpoint.streamIds.seal({ i: stream.id, k: scopeOf(exchange), p: principalOf(exchange) })
  stream.send(`event: endpoint\ndata: ${pathOf(exchange)}?${PARAMETER}=${id}\n\n`)
  return streamOf(stream.events)
}

/** One message of the client. */
async function receive(exchange: Exchange, endpoint: McpEndpoint, id: string): Promise<HttpResponse> {
  const message = await requestMessage(exchange, endpoint.bodyBytesMax)
  if (message instanceof HttpResponse) return message
  if (isModern(exchange, message)) return plain(400, 'this transport has only protocol versions with sessions')
  const streamId = idIn(exchange, endpoint.streamIds, id)
  const stream = streamId === undefined ? undefined : await streams.use(streamId)
  if (stream === undefined) return plain(404, NOT_FOUND)
  const { session } = stream
  // A server may have opened its session already: the gateway waits for the id, to end it.
  const signal = isInitialize(message) ? new AbortController().signal : stream.signal
  const own = ownCall(exchange, { method: 'POST', session, signal })
  own.mcp = exchange.mcp
  const served = serve(own, endpoint, { stream, message })
    .catch((error: unknown) => reportIfBug('mcp', error))
    .finally(() => stream.release())
  // Servers get the other messages in the order of the client. Some clients send nothing until they have the 202.
  if (!isRequest(message)) await served
  return accepted()
}

/** undefined: the stream belongs elsewhere or to another client. */
function idIn(exchange: Exchange, streamIds: JsonSealer, id: string): string | undefined {
  const sealed = streamIds.open(id)
  if (sealed === undefined || sealed === 'UnknownKey') return undefined
  const isOwn = sealed['k'] === scopeOf(exchange) && sealed['p'] === principalOf(exchange)
  return isOwn && typeof sealed['i'] === 'string' ? sealed['i'] : undefined
}

interface Received {
  readonly stream: UsedStream
  readonly message: JsonRpcMessage
}

/** As a POST of Streamable HTTP, whose response becomes events of the stream. */
async function serve(own: Exchange, endpoint: McpEndpoint, { stream, message }: Received): Promise<void> {
  const id = isRequest(message) ? message.id : null
  const problem = orderProblem(endpoint, stream, message)
  if (problem !== undefined) {
    if (id !== null) stream.send(errorEvent(id, INVALID_REQUEST, problem))
    return
  }
  const response = await responseOf(own, id, () => answerLegacy(own, endpoint, message, NOT_RESUMING))
  const session = response.headers.get('mcp-session-id')
  if (session !== undefined && !(await stream.setSession(session))) {
    await end(ownCall(own, { method: 'DELETE', session, signal: stream.signal }), endpoint)
    return
  }
  await sendAll(stream, response, id)
  if (own.errorDetail !== undefined) stream.note(own.errorDetail)
  if ('method' in message && message.method === 'notifications/initialized') stream.initialized()
}

/** Failures are responses. */
async function responseOf(own: Exchange, id: JsonRpcId | null, work: () => Later<HttpResponse>): Promise<HttpResponse> {
  try {
    return await withFailures(own, id, work)
  } catch (error) {
    return failByDefect(own, 'mcp', error)
  }
}

function orderProblem({ settings }: McpEndpoint, { session }: UsedStream, message: JsonRpcMessage): string | undefined {
  if (isInitialize(message))
    return session === undefined ? undefined : 'the session of this event stream is initialized already'
  if (session !== undefined || settings.sessionRouting === 'Stateless') return undefined
  return 'this event stream has no session: send initialize first'
}

function isInitialize(message: JsonRpcMessage): boolean {
  return isRequest(message) && message.method === 'initialize'
}

/** Messages that servers send on their own. */
async function relayOwn(own: Exchange, endpoint: McpEndpoint, stream: ClientStream): Promise<void> {
  const response = await responseOf(own, null, () => answerGet(own, endpoint, NOT_RESUMING))
  if (response.status === 200) await sendAll(stream, response, null)
  // 405: no server has a stream.
  else if (response.status !== 405 && own.errorDetail !== undefined) stream.note(own.errorDetail)
}

async function end(own: Exchange, endpoint: McpEndpoint): Promise<void> {
  await responseOf(own, null, () => answerDelete(own, endpoint))
}

/** `id`: of the request; null: the client waits for no response. */
async function sendAll(stream: UsedStream, response: HttpResponse, id: JsonRpcId | null): Promise<void> {
  const { body, status, isLocal } = response
  if (typeof body === 'string' || Buffer.isBuffer(body) || body === undefined) {
    const text = body?.toString() ?? ''
    if (text !== '' && parseMessage(text) !== undefined) stream.send(eventOf(text))
    else if (id !== null) {
      stream.send(errorEvent(id, INTERNAL_ERROR, isLocal ? text : `the MCP server answered ${status}`))
    }
    return
  }
  const cancel = (): void => body.cancel()
  stream.signal.addEventListener('abort', cancel)
  try {
    for await (const events of body) stream.send(events.toString())
  } finally {
    stream.signal.removeEventListener('abort', cancel)
  }
}

function errorEvent(id: JsonRpcId, code: number, message: string): string {
  return eventOf(JSON.stringify(errorResponse(id, { code, message })))
}
