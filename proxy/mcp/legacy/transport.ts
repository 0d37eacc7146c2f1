// Sessions of Streamable HTTP (MCP 2024-11-05 to 2025-11-25): POST, GET and DELETE.
import { isRecord } from '#api/json.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { openSessions } from '../../exchange/open-sessions.ts'
import { madeStream } from '../../message/made-stream.ts'
import { HttpResponse } from '../../message/message.ts'
import { callOf, type McpCall, type McpEndpoint } from '../context.ts'
import { answerRequest, notifyAll } from '../dispatch.ts'
import { listenToAll, notify, type Member } from '../fan-out.ts'
import { interleave } from '../interleave.ts'
import { accepted, EVENT_STREAM, jsonAnswer, plain, resumableStream } from '../http-reply.ts'
import {
  isRequest,
  isResponse,
  type JsonRpcId,
  type JsonRpcMessage,
  type JsonRpcRequest,
  type JsonRpcResponse,
} from '../jsonrpc.ts'
import type { Later } from '../later.ts'
import { locateServerId } from '../names.ts'
import { type ServerStream, shownToClient } from '../server-messages.ts'
import { relayRest } from '../relay.ts'
import { listChanged, LISTS } from '../subscription.ts'
import { MessageQueue } from '../targets/message-queue.ts'
import { type EventStream, type ServerEvent, TargetError } from '../targets/target.ts'
import { withOwnTasks } from '../tasks.ts'
import { onDemand } from '../bridge/on-demand.ts'
import { askedRequest } from '../bridge/session-requests.ts'
import { atEnd, isStream, withEnd } from '../ending.ts'
import { LEGACY_VERSION } from '../versions.ts'
import { guardRequest, guardResult } from '../guard.ts'
import { type EventIds, eventIdsOf } from './event-ids.ts'
import { mergeInitialize } from './initialize.ts'
import { healing, isEnded, noteEnded } from './healing.ts'
import { IdleSessions, type UsedSession } from './idle-sessions.ts'
import { ownCall } from './own-call.ts'
import { type McpSession, shownSessionId, type SessionClient } from './session-id.ts'
import { mayAsk } from '../server-requests.ts'
import {
  endSession,
  hasItsServers,
  type OpenedSession as OpenedServers,
  openSession,
  resumeSession,
} from './session.ts'

interface LegacyClient {
  /** It can continue streams after the last id of an event. */
  readonly canResume: boolean
}

/** At least those of one notification. */
const LIST_CHANGED_BYTES = 100

const RESUMING: LegacyClient = { canResume: true }

/** Of this worker: sessions outlive the configuration that opened them. */
const idle = new IdleSessions()
openSessions.list = () => idle.report(isEnded)

export function answerLegacy(
  exchange: Exchange,
  endpoint: McpEndpoint,
  message: JsonRpcMessage,
  client: LegacyClient = RESUMING,
): Later<HttpResponse> {
  if (isRequest(message) && message.method === 'initialize') return initialize(exchange, endpoint, message)
  return endpoint.settings.sessionRouting === 'Stateful'
    ? inSession(exchange, endpoint, { message, client })
    : withoutSession(exchange, endpoint, message)
}

async function initialize(exchange: Exchange, endpoint: McpEndpoint, request: JsonRpcRequest): Promise<HttpResponse> {
  const call = callOf({ era: 'Legacy', exchange, endpoint, members: [] })
  const targets = endpoint.targets.map(({ name }) => name)
  const { params: _, ...withoutParams } = request
  const checked = await guardRequest(call, withoutParams, targets)
  if ('error' in checked) return jsonAnswer(checked)
  const opened = await openSession(exchange, endpoint, request)
  try {
    return await introduce(call, request, opened)
  } catch (error) {
    await endSession(exchange, opened.members)
    throw error
  }
}

/** The servers as one, with the id of the session. @throws {TargetError} */
async function introduce(
  call: McpCall,
  request: JsonRpcRequest,
  { answers, members, session }: OpenedServers,
): Promise<HttpResponse> {
  const { exchange, endpoint } = call
  const isStateful = endpoint.settings.sessionRouting === 'Stateful'
  const targets = endpoint.targets.map(({ name }) => name)
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
  if (exchange.connection.signal.aborted) throw new TargetError('the client has left')
  const isOpen = isStateful && response.error === undefined
  if (!isOpen) await endSession(exchange, members)
  const client = clientOf(request, result['protocolVersion'])
  const opened = { ...session, client }
  const sessionId = isOpen ? endpoint.codec.encode(opened) : undefined
  if (sessionId !== undefined) watchIdle(exchange, endpoint, { sessionId, session: opened })
  return jsonAnswer(response, { sessionId })
}

/** Ends the session at its servers if the client leaves it. */
function watchIdle(
  exchange: Exchange,
  endpoint: McpEndpoint,
  { sessionId, session }: { readonly sessionId: string; readonly session: McpSession },
): void {
  const id = shownSessionId(sessionId)
  const own = ownCall(exchange, { method: 'DELETE', session: sessionId, signal: new AbortController().signal })
  own.deadlineMs = undefined
  idle.opened({ id, session }, endpoint.sessionTtlMs, async () => {
    const opened = isEnded(id) ? undefined : openedSession(own, endpoint, '')
    if (opened === undefined || opened instanceof HttpResponse) return
    for (const { target } of opened.members) endpoint.noteSession('expired', target.name)
    await endSession(own, opened.members)
    idle.forget(id)
  })
}

/** With the version that the client and the servers agreed on. */
function clientOf({ params }: JsonRpcRequest, protocolVersion: unknown): SessionClient | undefined {
  const { capabilities, clientInfo } = params ?? {}
  if (typeof protocolVersion !== 'string' || !isRecord(capabilities) || !isRecord(clientInfo)) return undefined
  return { protocolVersion, capabilities, clientInfo }
}

function inSession(
  exchange: Exchange,
  endpoint: McpEndpoint,
  { message, client }: { readonly message: JsonRpcMessage; readonly client: LegacyClient },
): Later<HttpResponse> {
  const session = openedSession(exchange, endpoint, 'session header is required for non-initialize requests')
  if (session instanceof HttpResponse) return session
  const { members } = session
  const eventIds = client.canResume ? session.eventIds : undefined
  const response = deliver(callOf({ era: 'Legacy', exchange, endpoint, members, eventIds }), message)
  if (!(response instanceof Promise)) return whileOpen(response, endpoint, session)
  // A server may need longer than the time after which a session is idle.
  const release = idle.hold(session, endpoint.sessionTtlMs)
  return response.then(
    (ready) => {
      const open = whileOpen(ready, endpoint, session)
      release()
      return open
    },
    (error: unknown) => {
      release()
      throw error
    },
  )
}

/** The session is in use as long as the stream is open. */
function whileOpen(response: HttpResponse, endpoint: McpEndpoint, session: UsedSession): HttpResponse {
  if (!isStream(response)) return response
  const release = idle.hold(session, endpoint.sessionTtlMs)
  return atEnd(response, () => Promise.resolve(release()))
}

function withoutSession(exchange: Exchange, endpoint: McpEndpoint, message: JsonRpcMessage): Later<HttpResponse> {
  if (isResponse(message)) {
    return respond({ exchange, endpoint }, message, (name, shown) => {
      const asked = askedRequest(endpoint.requestIds, exchange, shown)
      const target = endpoint.targets.find((one) => one.name === name && name === asked?.session.target)
      return asked && target && { member: { target, session: asked.session }, id: asked.id }
    })
  }
  // A notification belongs to a session that does not exist.
  if (!isRequest(message)) return accepted()
  const { members, end } = onDemand(exchange, endpoint, 'Legacy')
  return withEnd(async () => answerRequest(callOf({ era: 'Legacy', exchange, endpoint, members }), message), end)
}

function deliver(call: McpCall, message: JsonRpcMessage): Later<HttpResponse> {
  return isRequest(message) ? answerRequest(call, message) : deliverOther(call, message)
}

async function deliverOther(call: McpCall, message: Exclude<JsonRpcMessage, JsonRpcRequest>): Promise<HttpResponse> {
  if (isResponse(message)) {
    return respond(call, message, (name, id) => {
      const member = call.members.find(({ target }) => target.name === name)
      return member && { member, id }
    })
  }
  await notifyAll(call, message)
  return accepted()
}

interface Asking {
  readonly member: Member
  /** Of its request. */
  readonly id: JsonRpcId
}

/** The client responds to a request of a server: its id identifies the server. */
async function respond(
  { exchange, endpoint }: Pick<McpCall, 'exchange' | 'endpoint'>,
  message: JsonRpcResponse,
  askingOf: (target: string, shownId: JsonRpcId) => Asking | undefined,
): Promise<HttpResponse> {
  const [only] = endpoint.targets
  const located = endpoint.naming.isMultiplexing
    ? locateServerId(message.id)
    : only && { target: only.name, id: message.id }
  const asking = located && askingOf(located.target, located.id)
  if (asking === undefined) return accepted()
  const { result } = message
  const own = result && { result: withOwnTasks(endpoint.naming, asking.member.target.name, result) }
  await notify(exchange, asking.member, { ...message, ...own, id: asking.id })
  return accepted()
}

export async function answerGet(
  exchange: Exchange,
  endpoint: McpEndpoint,
  client: LegacyClient = RESUMING,
): Promise<HttpResponse> {
  const { headers } = exchange.request
  if (!(headers.get('accept') ?? '').includes(EVENT_STREAM)) return plain(406, 'not acceptable')
  const session = openedSession(exchange, endpoint, 'session ID is required')
  if (session instanceof HttpResponse) return session
  const { members } = session
  const eventIds = client.canResume ? session.eventIds : undefined
  const position = positionOf(headers.get('last-event-id'), eventIds)
  if (position === undefined) return plain(400, 'Last-Event-ID is not an id of this session')
  if ('target' in position) {
    return relayRest(callOf({ era: 'Legacy', exchange, endpoint, members, eventIds }), position)
  }
  const { failureMode } = endpoint.settings
  const opened = await listenToAll(exchange, members, { failureMode, positions: position })
  if (opened.length === 0) return exchange.fail('methodNotAllowed', 'no server of the session has a stream')
  const positions = new Map(position)
  const streams = opened.map(({ member, stream: events }) => {
    const stream: ServerStream = { exchange, naming: endpoint.naming, target: member.target.name, request: undefined }
    return madeStream(showing({ endpoint, member, stream, positions, eventIds }, events), () => events.cancel())
  })
  if (!hasItsServers(endpoint, session.session)) streams.push(madeStream(changedLists(), () => {}))
  return client.canResume ? untilChanged(streams, endpoint, session) : noting(streams, endpoint, session)
}

/** undefined: not an id of this session. */
function positionOf(last: string | undefined, eventIds: EventIds | undefined): ReturnType<EventIds['read']> {
  return last === undefined || eventIds === undefined ? new Map() : eventIds.read(last)
}

/** Clients continue with a stream of the servers that the backend has then. */
function untilChanged(streams: readonly EventStream[], endpoint: McpEndpoint, session: UsedSession): HttpResponse {
  const events = interleave(streams)
  const stop = endpoint.watchServers(() => events.cancel())
  return atEnd(whileOpen(resumableStream(events), endpoint, session), () => Promise.resolve(stop()))
}

/** Clients would lose their session with the stream. */
function noting(streams: readonly EventStream[], endpoint: McpEndpoint, session: UsedSession): HttpResponse {
  return whileOpen(resumableStream(interleave([...streams, laterChanges(endpoint)])), endpoint, session)
}

async function* changedLists(): AsyncGenerator<ServerEvent> {
  for (const list of LISTS) yield { message: listChanged(list) }
}

/** For each change of the servers of the backend; without end. */
function laterChanges(endpoint: McpEndpoint): EventStream {
  const queue = new MessageQueue<ServerEvent>(() => stop())
  const stop = endpoint.watchServers(() => {
    for (const list of LISTS) queue.push({ message: listChanged(list) }, LIST_CHANGED_BYTES)
  })
  return queue
}

/** The stream of one server of the session. */
interface Listened {
  readonly endpoint: McpEndpoint
  readonly member: Member
  readonly stream: ServerStream
  /** Of all servers: the client names only its last event. */
  readonly positions: Map<string, string>
  readonly eventIds: EventIds | undefined
}

async function* showing(
  { endpoint, member, stream, positions, eventIds }: Listened,
  events: EventStream,
): AsyncGenerator<ServerEvent> {
  const { exchange, target } = stream
  for await (const { message: sent, id, retryMs } of events) {
    if (id !== undefined) positions.set(target, id)
    if (sent !== undefined && isRequest(sent) && !(await mayAsk({ endpoint, exchange }, member, sent))) continue
    if (sent !== undefined) endpoint.owners.note(sent)
    const message = sent && shownToClient(stream, sent)
    yield eventIds === undefined ? { message } : { message, id: id && eventIds.ofStreams(positions), retryMs }
  }
}

export async function answerDelete(exchange: Exchange, endpoint: McpEndpoint): Promise<HttpResponse> {
  const session = openedSession(exchange, endpoint, 'session ID is required')
  if (session instanceof HttpResponse) return session
  noteEnded(session.id)
  idle.forget(session.id)
  await endSession(exchange, session.members)
  return accepted()
}

interface OpenedSession {
  /** Digest of its id. */
  readonly id: string
  /** As its id has it. */
  readonly session: McpSession
  readonly members: readonly Member[]
  readonly eventIds: EventIds
}

/** A rejection if the session cannot be used. */
function openedSession(exchange: Exchange, endpoint: McpEndpoint, whenMissing: string): OpenedSession | HttpResponse {
  const id = exchange.request.headers.get('mcp-session-id')
  if (id === undefined) return plain(400, whenMissing)
  const session = endpoint.codec.decode(id)
  if (session === undefined) return plain(400, 'session ID is not valid')
  const shownId = endpoint.codec.shown(id)
  if (exchange.mcp !== undefined) exchange.mcp.sessionId = shownId
  // Servers may have missed the first DELETE.
  const isOver = session === 'Over' || (isEnded(shownId) && exchange.request.method !== 'DELETE')
  if (isOver) return plain(404, 'session not found')
  const members = resumeSession(exchange, endpoint, session)
  if (members === undefined) return plain(404, 'session not found')
  const onReopened = (server: string): void => {
    endpoint.noteSession('reopened', server)
    watchIdle(exchange, endpoint, { sessionId: id, session })
  }
  const healed = { id: shownId, client: session.client, onReopened }
  const opened: OpenedSession = {
    id: shownId,
    session,
    members: members.map((member) => healing(healed, member)),
    eventIds: eventIdsOf(endpoint.eventIds, shownId),
  }
  idle.use(opened, endpoint.sessionTtlMs)
  return opened
}
