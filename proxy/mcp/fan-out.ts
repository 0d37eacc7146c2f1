// Sends one message to several servers, and merges their responses (data-plane supplement section 4.4).
import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '../exchange/diagnosis.ts'
import type { MCPBackend } from '#api/ir/types.gen.ts'
import { reportIfBug } from '../exchange/defects.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { madeStream } from '../message/made-stream.ts'
import {
  isResponse,
  METHOD_NOT_FOUND,
  type JsonRpcMessage,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
} from './jsonrpc.ts'
import { messagesOf, resumed } from './targets/events.ts'
import { rpcErrorIn } from './targets/rpc-error.ts'
import { DROPPED_MAX, noteDropped } from './server-messages.ts'
import {
  type EventStream,
  type McpTarget,
  type MessageStream,
  NoServerError,
  type ServerEvent,
  TargetError,
  TargetHttpError,
  type TargetReply,
  type TargetSession,
} from './targets/target.ts'

export interface Member {
  readonly target: McpTarget
  readonly session: TargetSession | undefined
}

type FailureMode = MCPBackend['failureMode']

export interface Answer {
  readonly member: Member
  readonly response: JsonRpcResponse
  readonly serverSession: string | undefined
  readonly endpoint: string | undefined
}

/** For the part of one server, with all pages of a list; `backend.http.requestTimeout` of its backend replaces it. */
const ANSWER_MS = 30_000
/** For the stream of one of several servers, before those of the others are shown. */
const SOON_MS = 1000
/** A server with more fails, and the log reports it. */
const LIST_PAGES_MAX = 256
const LIST_ITEMS_MAX = 32_768

/** Sends one request and reads until its response; other messages in between are dropped. */
export async function ask(
  exchange: Exchange,
  member: Member,
  request: JsonRpcRequest,
  deadlineMs = deadlineOf(member.target),
): Promise<Answer> {
  const reply = await member.target.send(exchange, request, member.session, deadlineMs)
  return answerIn(exchange, member, { request, reply })
}

/** As `ask`, of a request that has been sent. */
export async function answerIn(
  exchange: Exchange,
  member: Member,
  { request, reply }: { readonly request: JsonRpcRequest; readonly reply: TargetReply },
): Promise<Answer> {
  const { target } = member
  const { events, whole } = reply
  const sent = { target, request }
  const response =
    whole === undefined
      ? await responseIn(exchange, {
          ...sent,
          messages: events === undefined ? reply.messages : messagesOf(resumed(exchange, { ...member, events })),
        })
      : asResponse(exchange, sent, whole.message)
  if (response !== undefined) {
    return { member, response, serverSession: reply.serverSession, endpoint: reply.endpoint }
  }
  throw new TargetError(`${target.name}: the server closed its stream without a response to ${request.method}`)
}

interface Asked {
  readonly target: McpTarget
  readonly request: JsonRpcRequest
}

/** undefined: it is not the response to the request. */
function asResponse(
  exchange: Exchange,
  { target, request }: Asked,
  message: JsonRpcMessage,
): JsonRpcResponse | undefined {
  if (!isResponse(message)) return undefined
  if (message.id === request.id) return message
  noteDropped(exchange, target.name)
  return undefined
}

async function responseIn(
  exchange: Exchange,
  asked: Asked & { readonly messages: MessageStream },
): Promise<JsonRpcResponse | undefined> {
  const { target, messages } = asked
  let others = 0
  try {
    for await (const message of messages) {
      const response = asResponse(exchange, asked, message)
      if (response !== undefined) return response
      if (++others > DROPPED_MAX) {
        throw new TargetError(`${target.name}: more than ${DROPPED_MAX} messages came before the response`)
      }
    }
  } catch (error) {
    if (error instanceof TargetError) throw error
    reportIfBug('mcp', error)
    throw new TargetError(`${target.name}: ${messageOf(error)}`)
  }
  return undefined
}

export function deadlineOf({ answerMs = ANSWER_MS }: McpTarget): number {
  return performance.now() + answerMs
}

export async function notify(
  exchange: Exchange,
  member: Member,
  message: JsonRpcNotification | JsonRpcResponse,
): Promise<void> {
  const reply = await member.target.send(exchange, message, member.session, deadlineOf(member.target))
  // The response to a notification has no content, even if it is a stream.
  reply.messages.cancel()
}

/**
 * Opens the streams of all servers that have one, after their events in `positions`; none stays open if the call fails
 * as a whole. Of several servers, one that does not answer soon joins later: the others have messages meanwhile.
 */
export async function listenToAll(
  exchange: Exchange,
  members: readonly Member[],
  { failureMode, positions }: { readonly failureMode: FailureMode; readonly positions: ReadonlyMap<string, string> },
): Promise<{ readonly member: Member; readonly stream: EventStream }[]> {
  const opened: { readonly member: Member; readonly stream: EventStream }[] = []
  try {
    await onEach(exchange, members, failureMode, async (member) => {
      const { target, session } = member
      if (session === undefined) return
      const opening = target.listen(exchange, session, positions.get(target.name))
      const stream = members.length === 1 ? await opening : await soon(exchange, member, opening)
      if (stream !== undefined) opened.push({ member, stream })
    })
    return opened
  } catch (error) {
    for (const { stream } of opened) stream.cancel()
    throw error
  }
}

/** A stream that has not been opened within `SOON_MS` follows in the returned one. */
async function soon(
  exchange: Exchange,
  member: Member,
  opening: Promise<EventStream | undefined>,
): Promise<EventStream | undefined> {
  const late = Symbol('late')
  const first = await Promise.race([opening, delay(SOON_MS, late, { ref: false })])
  if (typeof first !== 'symbol') return first
  const over = Promise.withResolvers<undefined>()
  let isOver = false
  let opened: EventStream | undefined
  const following = opening.then(
    (stream) => {
      opened = stream
      if (isOver) stream?.cancel()
      return stream
    },
    (error: unknown) => {
      reportIfBug('mcp stream', error)
      noteFailure(exchange, member, error)
      return undefined
    },
  )
  return madeStream(eventsOnce(Promise.race([following, over.promise])), () => {
    isOver = true
    over.resolve(undefined)
    opened?.cancel()
  })
}

async function* eventsOnce(opening: Promise<EventStream | undefined>): AsyncGenerator<ServerEvent> {
  const stream = await opening
  if (stream !== undefined) yield* stream
}

/**
 * Runs `work` on every member at once. FailClosed: the first failure fails all. FailOpen: failed members are skipped,
 * with a note in the log; if all fail, the first failure counts.
 * @throws {NoServerError} `members` is empty.
 */
export async function onEach<T>(
  exchange: Exchange,
  members: readonly Member[],
  failureMode: FailureMode,
  work: (member: Member) => Promise<T>,
): Promise<{ member: Member; value: T }[]> {
  if (members.length === 0) throw new NoServerError('the backend has no server')
  const results = await Promise.allSettled(members.map((member) => work(member)))
  const done: { member: Member; value: T }[] = []
  let failure: unknown
  for (const [index, result] of results.entries()) {
    const member = members[index]
    if (member === undefined) continue
    if (result.status === 'fulfilled') done.push({ member, value: result.value })
    else {
      failure ??= result.reason
      noteFailure(exchange, member, result.reason)
    }
  }
  if (failure !== undefined && (failureMode === 'FailClosed' || done.length === 0)) throw failure
  return done
}

/** For the log: errors of servers may name theirs already. */
export function serverReason(name: string, error: unknown): string {
  const text = messageOf(error)
  return text.startsWith(`${name}:`) ? text : `${name}: ${text}`
}

function noteFailure(exchange: Exchange, { target }: Member, reason: unknown): void {
  const note = serverReason(target.name, reason)
  exchange.errorDetail = exchange.errorDetail === undefined ? note : `${exchange.errorDetail}; ${note}`
}

/** A list with all its pages, until one deadline. Servers without the method have an empty list. */
export async function listAll(
  exchange: Exchange,
  member: Member,
  request: JsonRpcRequest,
  key: string,
): Promise<unknown[]> {
  const items: unknown[] = []
  const deadlineMs = deadlineOf(member.target)
  let cursor: unknown
  for (let pages = 0; pages < LIST_PAGES_MAX; pages++) {
    const params = { ...request.params, ...(cursor === undefined ? {} : { cursor }) }
    const { result, error } = await page(exchange, member, { request: { ...request, params }, deadlineMs })
    if (error !== undefined) {
      if (error.code === METHOD_NOT_FOUND) return items
      throw new TargetError(`${member.target.name}: ${request.method} failed: ${error.message}`)
    }
    const part: unknown = result?.[key]
    if (Array.isArray(part)) for (const item of part as unknown[]) items.push(item)
    if (items.length > LIST_ITEMS_MAX) {
      throw new TargetError(`${member.target.name}: ${request.method} has more than ${LIST_ITEMS_MAX} items`)
    }
    cursor = result?.['nextCursor']
    if (typeof cursor !== 'string' || cursor === '') return items
  }
  throw new TargetError(`${member.target.name}: ${request.method} has more than ${LIST_PAGES_MAX} pages`)
}

/** A server may send the error with an HTTP status. */
async function page(
  exchange: Exchange,
  member: Member,
  options: { readonly request: JsonRpcRequest; readonly deadlineMs: number },
): Promise<Pick<JsonRpcResponse, 'result' | 'error'>> {
  try {
    return (await ask(exchange, member, options.request, options.deadlineMs)).response
  } catch (error) {
    const sent = error instanceof TargetHttpError ? rpcErrorIn(error) : undefined
    if (sent?.code !== METHOD_NOT_FOUND) throw error
    return { error: sent }
  }
}
