// Which messages of a server reach the client: one of several servers cannot respond for another one, or report on
// requests of another one. Stateless: a response belongs on the stream of its request, and nowhere else.
import type { Exchange } from '../exchange/exchange.ts'
import {
  isRequest,
  isResponse,
  type JsonRpcId,
  type JsonRpcMessage,
  type JsonRpcNotification,
  type JsonRpcRequest,
} from './jsonrpc.ts'
import { type Naming, showServerId } from './names.ts'
import { withShownTasks } from './tasks.ts'

export interface ServerStream {
  readonly exchange: Exchange
  readonly naming: Naming
  readonly target: string
  /** The request that the stream answers; undefined: the server's own stream (GET). */
  readonly request: JsonRpcRequest | undefined
}

/** The message for the client; undefined: it is dropped. */
export function shownToClient(stream: ServerStream, message: JsonRpcMessage): JsonRpcMessage | undefined {
  const { naming, target, request } = stream
  if (isResponse(message)) return message.id === request?.id ? message : dropped(stream)
  const named = naming.hasUriTargets ? withShownNames(stream, message) : message
  if (!naming.isMultiplexing) return named
  if (isRequest(named)) return { ...named, id: showServerId(target, named.id) }
  return shownNotification(stream, named)
}

/** Resources and tasks, with their server. */
function withShownNames<T extends JsonRpcRequest | JsonRpcNotification>(stream: ServerStream, message: T): T {
  const { naming, target } = stream
  if (message.params === undefined) return message
  const params = withShownTasks(naming, target, message.params)
  const { uri } = params
  if (message.method !== 'notifications/resources/updated' || typeof uri !== 'string') return { ...message, params }
  return { ...message, params: { ...params, uri: naming.showUri(target, uri) } }
}

/** Of one of several servers. */
function shownNotification(stream: ServerStream, message: JsonRpcNotification): JsonRpcNotification | undefined {
  const { target, request } = stream
  const { params } = message
  switch (message.method) {
    case 'notifications/progress':
      return isSameToken(params?.['progressToken'], progressTokenOf(request)) ? message : dropped(stream)
    case 'notifications/cancelled': {
      const id = params?.['requestId']
      return isId(id) ? { ...message, params: { ...params, requestId: showServerId(target, id) } } : dropped(stream)
    }
    default:
      return message
  }
}

/** Before the response to one request: a server that sends more has failed, and its stream is read no further. */
export const DROPPED_MAX = 10_000

/** The reason for the log; undefined: the server has not sent too many messages that are not for the client. */
export function floodOf({ mcp }: Exchange, target: string): string | undefined {
  if (mcp?.dropped === undefined || (mcp.dropped.get(target) ?? 0) <= DROPPED_MAX) return undefined
  return `${target}: the server sent more than ${DROPPED_MAX} messages that are not for the client`
}

/** Counted for metrics, and named in the log of the request. */
export function noteDropped({ mcp }: Exchange, target: string): void {
  if (mcp === undefined) return
  mcp.dropped ??= new Map()
  mcp.dropped.set(target, (mcp.dropped.get(target) ?? 0) + 1)
}

function dropped({ exchange, target }: ServerStream): undefined {
  noteDropped(exchange, target)
  exchange.errorDetail ??= `${target}: dropped messages about requests that were not sent to this server`
}

/** Equals no token: a request without one has no progress. */
const NO_TOKEN = Symbol('no token')

function progressTokenOf(request: JsonRpcRequest | undefined): unknown {
  const meta = request?.params?.['_meta']
  const hasToken = typeof meta === 'object' && meta !== null && 'progressToken' in meta
  return hasToken ? meta.progressToken : NO_TOKEN
}

/** By text: a long number is an object that `JSON.stringify` writes as it came. */
function isSameToken(given: unknown, asked: unknown): boolean {
  return asked !== NO_TOKEN && given !== undefined && JSON.stringify(given) === JSON.stringify(asked)
}

function isId(value: unknown): value is JsonRpcId {
  return typeof value === 'string' || Number.isInteger(value)
}
