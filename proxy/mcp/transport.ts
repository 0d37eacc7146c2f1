// Streamable HTTP towards the client: the checks of the data-plane supplement section 4.1 in their order, then the
// method.
import { BodyTooLarge, type Cancellable } from '../message/body.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { madeStream } from '../message/made-stream.ts'
import { HttpResponse } from '../message/message.ts'
import { emptyMcpFacts, type McpCall, type McpEndpoint } from './context.ts'
import { interleave, listenToAll, notify, onEach, type Member } from './fan-out.ts'
import { accepted, eventStream, passedThrough, plain, rpcError, SESSION_FIELDS, single } from './http-reply.ts'
import { mergeInitialize } from './initialize.ts'
import {
  INTERNAL_ERROR,
  INVALID_REQUEST,
  isRequest,
  isResponse,
  parseMessage,
  type JsonRpcMessage,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
} from './jsonrpc.ts'
import { answerRequest } from './methods.ts'
import { locateServerId } from './names.ts'
import { type ServerStream, shownToClient } from './server-messages.ts'
import { shownSessionId } from './session-id.ts'
import { endSession, openSession, resumeSession, temporarySession } from './session.ts'
import { type MessageStream, TargetError, TargetHttpError } from './target.ts'

const PROTOCOL_VERSIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']
const EVENT_STREAM = 'text/event-stream'

export async function answerMcp(exchange: Exchange, endpoint: McpEndpoint): Promise<HttpResponse> {
  const isStateful = endpoint.settings.sessionRouting === 'Stateful'
  const { method } = exchange.request
  exchange.mcp = emptyMcpFacts()
  exchange.request.hideFields(SESSION_FIELDS)
  if (method === 'POST') return guarded(exchange, null, () => answerPost(exchange, endpoint))
  if (method === 'GET' && isStateful) return guarded(exchange, null, () => answerGet(exchange, endpoint))
  if (method === 'DELETE' && isStateful) return guarded(exchange, null, () => answerDelete(exchange, endpoint))
  return exchange.fail('methodNotAllowed')
}

async function answerPost(exchange: Exchange, endpoint: McpEndpoint): Promise<HttpResponse> {
  const refusal = checkHeaders(exchange)
  if (refusal !== undefined) return refusal
  const body = await readBody(exchange, endpoint.bodyBytesMax)
  if (!Buffer.isBuffer(body)) return body
  const message = parseMessage(body.toString('utf8'))
  if (message === undefined) {
    return rpcError(400, null, { code: INVALID_REQUEST, message: 'the body is not a single JSON-RPC 2.0 message' })
  }
  const version = checkVersion(exchange, message)
  if (version !== undefined) return version
  if (exchange.mcp !== undefined && 'method' in message) exchange.mcp.methodName = message.method
  const id = isRequest(message) ? message.id : null
  return guarded(exchange, id, () => {
    if (isRequest(message) && message.method === 'initialize') return initialize(exchange, endpoint, message)
    return endpoint.settings.sessionRouting === 'Stateful'
      ? inSession(exchange, endpoint, message)
      : withoutSession(exchange, endpoint, message)
  })
}

async function initialize(exchange: Exchange, endpoint: McpEndpoint, request: JsonRpcRequest): Promise<HttpResponse> {
  const isStateful = endpoint.settings.sessionRouting === 'Stateful'
  const { answers, members, session } = await openSession(exchange, endpoint, request)
  const asked = request.params?.['protocolVersion']
  const askedVersion = typeof asked === 'string' ? asked : (PROTOCOL_VERSIONS.at(-1) ?? '')
  const [first] = answers
  const result = endpoint.naming.isMultiplexing
    ? mergeInitialize(answers, { askedVersion, isStateful })
    : (first?.response.result ?? {})
  if (!isStateful) await endSession(exchange, members)
  const response: JsonRpcResponse = { jsonrpc: '2.0', id: request.id, result }
  return eventStream(single(response), isStateful ? endpoint.codec.encode(session) : undefined)
}

async function inSession(exchange: Exchange, endpoint: McpEndpoint, message: JsonRpcMessage): Promise<HttpResponse> {
  const members = sessionMembers(exchange, endpoint, 'session header is required for non-initialize requests')
  return members instanceof HttpResponse ? members : deliver(callOf(exchange, endpoint, members), message)
}

async function withoutSession(
  exchange: Exchange,
  endpoint: McpEndpoint,
  message: JsonRpcMessage,
): Promise<HttpResponse> {
  // Notifications and responses belong to a session that does not exist.
  if (!isRequest(message)) return accepted()
  const members = await temporarySession(exchange, endpoint)
  const response = await deliver(callOf(exchange, endpoint, members), message).catch(async (error: unknown) => {
    await endSession(exchange, members)
    throw error
  })
  const { body } = response
  if (body === undefined || typeof body === 'string' || Buffer.isBuffer(body)) await endSession(exchange, members)
  else response.body = endingSession(exchange, members, body)
  return response
}

/** Ends the session of one request once, at the end of the response or when the client cancels it. */
function endingSession(exchange: Exchange, members: readonly Member[], body: Cancellable<Buffer>): Cancellable<Buffer> {
  let ending: Promise<void> | undefined
  const end = (): Promise<void> => (ending ??= endSession(exchange, members))
  return madeStream(thenEnding(body, end), () => {
    body.cancel()
    void end()
  })
}

async function* thenEnding(body: Cancellable<Buffer>, end: () => Promise<void>): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of body) yield chunk
  } finally {
    await end()
  }
}

async function deliver(call: McpCall, message: JsonRpcMessage): Promise<HttpResponse> {
  if (isRequest(message)) return answerRequest(call, message)
  if (isResponse(message)) await deliverResponse(call, message)
  else await deliverNotification(call, message)
  return accepted()
}

async function deliverNotification(
  { exchange, endpoint, members }: McpCall,
  message: JsonRpcNotification,
): Promise<void> {
  await onEach(exchange, members, endpoint.settings.failureMode, (member) => notify(exchange, member, message))
}

/** The client responds to a request of a server: its id identifies the server. */
async function deliverResponse({ exchange, endpoint, members }: McpCall, message: JsonRpcResponse): Promise<void> {
  const located = endpoint.naming.isMultiplexing
    ? locateServerId(message.id)
    : { target: members[0]?.target.name, id: message.id }
  const member = members.find(({ target }) => target.name === located?.target)
  if (located === undefined || member === undefined) return
  await notify(exchange, member, { ...message, id: located.id })
}

async function answerGet(exchange: Exchange, endpoint: McpEndpoint): Promise<HttpResponse> {
  if (!(exchange.request.headers.get('accept') ?? '').includes(EVENT_STREAM)) return plain(406, 'not acceptable')
  const members = sessionMembers(exchange, endpoint, 'session ID is required')
  if (members instanceof HttpResponse) return members
  const { naming, settings } = endpoint
  const opened = await listenToAll(exchange, members, settings.failureMode)
  const streams = opened.map(({ name, stream }) =>
    shown({ exchange, naming, target: name, request: undefined }, stream),
  )
  if (streams.length === 0) return exchange.fail('methodNotAllowed', 'no server of the session has a stream')
  return eventStream(interleave(streams))
}

function shown(stream: ServerStream, messages: MessageStream): MessageStream {
  return madeStream(showing(stream, messages), () => messages.cancel())
}

async function* showing(stream: ServerStream, messages: MessageStream): AsyncGenerator<JsonRpcMessage> {
  for await (const sent of messages) {
    const message = shownToClient(stream, sent)
    if (message !== undefined) yield message
  }
}

async function answerDelete(exchange: Exchange, endpoint: McpEndpoint): Promise<HttpResponse> {
  const members = sessionMembers(exchange, endpoint, 'session ID is required')
  if (members instanceof HttpResponse) return members
  await endSession(exchange, members)
  return accepted()
}

function sessionMembers(
  exchange: Exchange,
  endpoint: McpEndpoint,
  whenMissing: string,
): readonly Member[] | HttpResponse {
  const id = exchange.request.headers.get('mcp-session-id')
  if (id === undefined) return plain(400, whenMissing)
  const session = endpoint.codec.decode(id)
  if (session === undefined) return plain(400, 'session ID is not valid')
  if (exchange.mcp !== undefined) exchange.mcp.sessionId = shownSessionId(id)
  const members = session === 'Over' ? undefined : resumeSession(exchange, endpoint, session)
  return members ?? plain(404, 'session not found')
}

function checkHeaders({ request }: Exchange): HttpResponse | undefined {
  const accept = request.headers.getAll('accept').join(',')
  if (!accept.includes('application/json') || !accept.includes(EVENT_STREAM)) {
    return plain(406, 'Accept must list application/json and text/event-stream')
  }
  if (request.headers.get('content-type')?.startsWith('application/json') !== true) {
    return plain(415, 'Content-Type must be application/json')
  }
  return undefined
}

function checkVersion({ request }: Exchange, message: JsonRpcMessage): HttpResponse | undefined {
  const requested = request.headers.get('mcp-protocol-version')
  if (requested === undefined || PROTOCOL_VERSIONS.includes(requested)) return undefined
  return rpcError(400, isRequest(message) ? message.id : null, {
    code: INVALID_REQUEST,
    message: 'unsupported protocol version',
    data: { supported: PROTOCOL_VERSIONS, requested },
  })
}

async function readBody(exchange: Exchange, bytesMax: number): Promise<Buffer | HttpResponse> {
  const { body } = exchange.request
  if (body === undefined || Buffer.isBuffer(body)) return body ?? Buffer.alloc(0)
  try {
    return await body.collect(bytesMax)
  } catch (error) {
    return exchange.fail(error instanceof BodyTooLarge ? 'bodyTooLarge' : 'invalidRequest')
  }
}

function callOf(exchange: Exchange, endpoint: McpEndpoint, members: readonly Member[]): McpCall {
  return { exchange, endpoint, members, facts: exchange.mcp ?? emptyMcpFacts() }
}

/** Failures of servers become responses; the client learns that one failed, the log names it and the reason. */
async function guarded(
  exchange: Exchange,
  id: JsonRpcRequest['id'] | null,
  work: () => Promise<HttpResponse>,
): Promise<HttpResponse> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof TargetHttpError) {
      exchange.reason = 'MCP'
      return passedThrough(error)
    }
    if (!(error instanceof TargetError)) throw error
    exchange.reason = 'MCP'
    exchange.errorDetail ??= error.message
    if (exchange.mcp !== undefined) exchange.mcp.errorCode = INTERNAL_ERROR
    return rpcError(500, id, { code: INTERNAL_ERROR, message: 'the MCP server could not be called' })
  }
}
