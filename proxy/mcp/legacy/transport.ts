// Sessions of Streamable HTTP (MCP 2024-11-05 to 2025-11-25): POST, GET and DELETE.
import { isRecord } from '#api/json.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { madeStream } from '../../message/made-stream.ts'
import { HttpResponse } from '../../message/message.ts'
import { callOf, type McpCall, type McpEndpoint } from '../context.ts'
import { answerRequest, notifyAll } from '../dispatch.ts'
import { interleave, listenToAll, notify, type Member } from '../fan-out.ts'
import { accepted, EVENT_STREAM, eventStream, jsonAnswer, plain } from '../http-reply.ts'
import { isRequest, isResponse, type JsonRpcMessage, type JsonRpcRequest, type JsonRpcResponse } from '../jsonrpc.ts'
import type { Later } from '../later.ts'
import { locateServerId } from '../names.ts'
import { type ServerStream, shownToClient } from '../server-messages.ts'
import type { MessageStream } from '../targets/target.ts'
import { withOwnTasks } from '../tasks.ts'
import { onDemand } from '../bridge/on-demand.ts'
import { withEnd } from '../ending.ts'
import { LEGACY_VERSION } from '../versions.ts'
import { guardRequest, guardResult } from '../guard.ts'
import { mergeInitialize } from './initialize.ts'
import { healing, isEnded, noteEnded } from './healing.ts'
import { shownSessionId, type SessionClient } from './session-id.ts'
import { mayAsk } from '../server-requests.ts'
import { endSession, openSession, resumeSession } from './session.ts'

export function answerLegacy(exchange: Exchange, endpoint: McpEndpoint, message: JsonRpcMessage): Later<HttpResponse> {
  if (isRequest(message) && message.method === 'initialize') return initialize(exchange, endpoint, message)
  return endpoint.settings.sessionRouting === 'Stateful'
    ? inSession(exchange, endpoint, message)
    : withoutSession(exchange, endpoint, message)
}

async function initialize(exchange: Exchange, endpoint: McpEndpoint, request: JsonRpcRequest): Promise<HttpResponse> {
  const isStateful = endpoint.settings.sessionRouting === 'Stateful'
  const call = callOf({ era: 'Legacy', exchange, endpoint, members: [] })
  const targets = endpoint.targets.map(({ name }) => name)
  const { params: _, ...withoutParams } = request
  const checked = await guardRequest(call, withoutParams, targets)
  if ('error' in checked) return jsonAnswer(checked)
  const { answers, members, session } = await openSession(exchange, endpoint, request)
  const asked = request.params?.['protocolVersion']
  const askedVersion = typeof asked === 'string' ? asked : LEGACY_VERSION
  const [first] = answers
  const result = endpoint.naming.isMultiplexing
    ? mergeInitialize(
        answers.map(({ member, response }) => ({ target: member.target.name, result: response.result ?? {} })),
        { askedVersion, isStateful },
      )
    : (first?.response.result ?? {})
  const response = await guardResult(call, { request, response: { jsonrpc: '2.0', id: request.id, result }, targets })
  const isOpen = isStateful && response.error === undefined
  if (!isOpen) await endSession(exchange, members)
  const client = clientOf(request, result['protocolVersion'])
  return jsonAnswer(response, { sessionId: isOpen ? endpoint.codec.encode({ ...session, client }) : undefined })
}

/** With the version that the client and the servers agreed on. */
function clientOf({ params }: JsonRpcRequest, protocolVersion: unknown): SessionClient | undefined {
  const { capabilities, clientInfo } = params ?? {}
  if (typeof protocolVersion !== 'string' || !isRecord(capabilities) || !isRecord(clientInfo)) return undefined
  return { protocolVersion, capabilities, clientInfo }
}

function inSession(exchange: Exchange, endpoint: McpEndpoint, message: JsonRpcMessage): Later<HttpResponse> {
  const members = sessionMembers(exchange, endpoint, 'session header is required for non-initialize requests')
  return members instanceof HttpResponse
    ? members
    : deliver(callOf({ era: 'Legacy', exchange, endpoint, members }), message)
}

function withoutSession(exchange: Exchange, endpoint: McpEndpoint, message: JsonRpcMessage): Later<HttpResponse> {
  // Notifications and responses belong to a session that does not exist.
  if (!isRequest(message)) return accepted()
  const { members, end } = onDemand(exchange, endpoint, 'Legacy')
  return withEnd(async () => answerRequest(callOf({ era: 'Legacy', exchange, endpoint, members }), message), end)
}

function deliver(call: McpCall, message: JsonRpcMessage): Later<HttpResponse> {
  return isRequest(message) ? answerRequest(call, message) : deliverOther(call, message)
}

async function deliverOther(call: McpCall, message: Exclude<JsonRpcMessage, JsonRpcRequest>): Promise<HttpResponse> {
  if (isResponse(message)) await deliverResponse(call, message)
  else await notifyAll(call, message)
  return accepted()
}

/** The client responds to a request of a server: its id identifies the server. */
async function deliverResponse({ exchange, endpoint, members }: McpCall, message: JsonRpcResponse): Promise<void> {
  const located = endpoint.naming.isMultiplexing
    ? locateServerId(message.id)
    : { target: members[0]?.target.name, id: message.id }
  const member = members.find(({ target }) => target.name === located?.target)
  if (located === undefined || member === undefined) return
  const { result } = message
  const own = result && { result: withOwnTasks(endpoint.naming, member.target.name, result) }
  await notify(exchange, member, { ...message, ...own, id: located.id })
}

export async function answerGet(exchange: Exchange, endpoint: McpEndpoint): Promise<HttpResponse> {
  if (!(exchange.request.headers.get('accept') ?? '').includes(EVENT_STREAM)) return plain(406, 'not acceptable')
  const members = sessionMembers(exchange, endpoint, 'session ID is required')
  if (members instanceof HttpResponse) return members
  const { naming, settings } = endpoint
  const opened = await listenToAll(exchange, members, settings.failureMode)
  const streams = opened.map(({ member, stream }) => {
    const { name: target } = member.target
    return shown({ endpoint, member, stream: { exchange, naming, target, request: undefined } }, stream)
  })
  if (streams.length === 0) return exchange.fail('methodNotAllowed', 'no server of the session has a stream')
  return eventStream(interleave(streams))
}

/** The stream of one server of the session. */
interface Listened {
  readonly endpoint: McpEndpoint
  readonly member: Member
  readonly stream: ServerStream
}

function shown(listened: Listened, messages: MessageStream): MessageStream {
  return madeStream(showing(listened, messages), () => messages.cancel())
}

async function* showing(
  { endpoint, member, stream }: Listened,
  messages: MessageStream,
): AsyncGenerator<JsonRpcMessage> {
  const { exchange } = stream
  for await (const sent of messages) {
    if (isRequest(sent) && !(await mayAsk({ endpoint, exchange }, member, sent))) continue
    endpoint.owners.note(sent)
    const message = shownToClient(stream, sent)
    if (message !== undefined) yield message
  }
}

export async function answerDelete(exchange: Exchange, endpoint: McpEndpoint): Promise<HttpResponse> {
  const members = sessionMembers(exchange, endpoint, 'session ID is required')
  if (members instanceof HttpResponse) return members
  noteEnded(shownSessionId(exchange.request.headers.get('mcp-session-id') ?? ''))
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
  const shownId = shownSessionId(id)
  if (exchange.mcp !== undefined) exchange.mcp.sessionId = shownId
  // Servers may have missed the first DELETE.
  const isOver = session === 'Over' || (isEnded(shownId) && exchange.request.method !== 'DELETE')
  if (isOver) return plain(404, 'session not found')
  const members = resumeSession(exchange, endpoint, session)
  return members?.map((member) => healing(shownId, session.client, member)) ?? plain(404, 'session not found')
}
