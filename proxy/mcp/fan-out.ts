// Sends one message to several servers, and merges their responses (data-plane supplement section 4.4).
import type { MCPBackend } from '#api/ir/types.gen.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { madeStream } from '../message/made-stream.ts'
import {
  isResponse,
  type JsonRpcMessage,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
} from './jsonrpc.ts'
import { noteDropped } from './server-messages.ts'
import { type McpTarget, type MessageStream, NoServerError, TargetError, type TargetSession } from './targets/target.ts'

export interface Member {
  readonly target: McpTarget
  readonly session: TargetSession | undefined
}

export interface Answer {
  readonly member: Member
  readonly response: JsonRpcResponse
  readonly serverSession: string | undefined
  readonly endpoint: string | undefined
}

/** Limit of pages of a list; a server with more fails, and the log reports it. */
const LIST_PAGES_MAX = 64

/** Sends one request and reads until its response; other messages in between are dropped. */
export async function ask(exchange: Exchange, member: Member, request: JsonRpcRequest): Promise<Answer> {
  const { target, session } = member
  const reply = await target.send(exchange, request, session)
  for await (const message of reply.messages) {
    if (!isResponse(message)) continue
    if (message.id === request.id) {
      return { member, response: message, serverSession: reply.serverSession, endpoint: reply.endpoint }
    }
    noteDropped(exchange, target.name)
  }
  throw new TargetError(`${target.name}: the server closed its stream without a response to ${request.method}`)
}

export async function notify(
  exchange: Exchange,
  member: Member,
  message: JsonRpcNotification | JsonRpcResponse,
): Promise<void> {
  const reply = await member.target.send(exchange, message, member.session)
  // The response to a notification has no content, even if it is a stream.
  reply.messages.cancel()
}

/** Opens the streams of all servers that have one; none stays open if the call fails as a whole. */
export async function listenToAll(
  exchange: Exchange,
  members: readonly Member[],
  failureMode: MCPBackend['failureMode'],
): Promise<{ readonly name: string; readonly stream: MessageStream }[]> {
  const opened: { readonly name: string; readonly stream: MessageStream }[] = []
  try {
    await onEach(exchange, members, failureMode, async ({ target, session }) => {
      const stream = session === undefined ? undefined : await target.listen(exchange, session)
      if (stream !== undefined) opened.push({ name: target.name, stream })
    })
    return opened
  } catch (error) {
    for (const { stream } of opened) stream.cancel()
    throw error
  }
}

/**
 * Runs `work` on every member at once. FailClosed: the first failure fails all. FailOpen: failed members are skipped,
 * with a note in the log; if all fail, the first failure counts.
 * @throws {NoServerError} `members` is empty.
 */
export async function onEach<T>(
  exchange: Exchange,
  members: readonly Member[],
  failureMode: MCPBackend['failureMode'],
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

function noteFailure(exchange: Exchange, { target }: Member, reason: unknown): void {
  const text = reason instanceof Error ? reason.message : String(reason)
  const note = text.startsWith(`${target.name}:`) ? text : `${target.name}: ${text}`
  exchange.errorDetail = exchange.errorDetail === undefined ? note : `${exchange.errorDetail}; ${note}`
}

/** A list with all its pages. Servers without the method have an empty list. */
export async function listAll(
  exchange: Exchange,
  member: Member,
  request: JsonRpcRequest,
  key: string,
): Promise<unknown[]> {
  const items: unknown[] = []
  let cursor: unknown
  for (let page = 0; page < LIST_PAGES_MAX; page++) {
    const params = { ...request.params, ...(cursor === undefined ? {} : { cursor }) }
    const { response } = await ask(exchange, member, { ...request, params })
    if (response.error !== undefined) {
      if (response.error.code === -32_601) return items
      throw new TargetError(`${member.target.name}: ${request.method} failed: ${response.error.message}`)
    }
    const part = response.result?.[key]
    if (Array.isArray(part)) items.push(...(part as unknown[]))
    cursor = response.result?.['nextCursor']
    if (typeof cursor !== 'string' || cursor === '') return items
  }
  throw new TargetError(`${member.target.name}: ${request.method} has more than ${LIST_PAGES_MAX} pages`)
}

/** Messages of several streams in the order of arrival. Ends when all have ended; cancelling it cancels all. */
export function interleave(streams: readonly MessageStream[]): MessageStream {
  return madeStream(interleaved(streams), () => cancelAll(streams))
}

async function* interleaved(streams: readonly MessageStream[]): AsyncGenerator<JsonRpcMessage> {
  const iterators = streams.map((stream) => stream[Symbol.asyncIterator]())
  const pending = new Map<number, Promise<{ index: number; step: IteratorResult<JsonRpcMessage> }>>()
  const advance = (index: number): void => {
    const step = iterators[index]?.next()
    if (step !== undefined)
      pending.set(
        index,
        step.then((result) => ({ index, step: result })),
      )
  }
  for (const index of iterators.keys()) advance(index)
  try {
    while (pending.size > 0) {
      const { index, step } = await Promise.race(pending.values())
      pending.delete(index)
      if (step.done === true) continue
      yield step.value
      advance(index)
    }
  } finally {
    for (const step of pending.values()) step.catch(() => {})
    cancelAll(streams)
  }
}

function cancelAll(streams: readonly MessageStream[]): void {
  for (const stream of streams) stream.cancel()
}
