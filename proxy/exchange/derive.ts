// A separate exchange for a call that the proxy makes for a request: to an MCP server, a service of a policy, or a
// mirror. Policies and expressions of the call can read the client, but change nothing of the request.
import type { HttpRequest } from '../message/message.ts'
import { type Connection, Exchange } from './exchange.ts'

export interface DerivedParts {
  /** The request to send. */
  readonly request: HttpRequest
  /** Default: the value of the original request. */
  readonly startMs?: number
  /** Name of the call in the trace; unset: the trace does not show the call. */
  readonly scope?: string
  /** The call outlives the request: it ends with this signal, in place of the client's connection. */
  readonly signal?: AbortSignal
}

/**
 * The new exchange has the connection, place, deadline, span and request id of `exchange`, and a copy of the results of
 * policies: the attributes (`jwt`, `apiKey`, …) and `metadata`. It has no response, no backend, no facts of LLM, MCP or
 * A2A, and its own budget for expressions. With `signal`, it has no span, and `deadlineMs` only limits its own waits.
 */
export function derive(exchange: Exchange, parts: DerivedParts): Exchange {
  const { request, startMs = exchange.startMs, scope, signal } = parts
  const { connection } = exchange
  const own = new Exchange(signal === undefined ? connection : endingWith(connection, signal), request, startMs)
  own.place = exchange.place
  own.deadlineMs = exchange.deadlineMs
  if (signal === undefined) {
    own.deadline = exchange.deadline
    own.span = exchange.span
  }
  own.attributes = copyOf(exchange.attributes)
  own.metadata = copyOf(exchange.metadata)
  own.requestId = exchange.requestId
  if (scope !== undefined) own.trace = exchange.trace?.scoped(scope)
  return own
}

/** The same client, without its socket. */
function endingWith(connection: Connection, signal: AbortSignal): Connection {
  const { id, sourceAddress, sourcePort, localAddress, localPort, isTls, sni, peer, origin } = connection
  const client = { id, sourceAddress, sourcePort, localAddress, localPort, isTls, sni, peer, origin }
  return { ...client, signal, close: () => {}, cut: () => false }
}

function copyOf(values: Record<string, unknown> | undefined): Record<string, unknown> | undefined {
  // The declared shape of both fields, which have no prototype; Object.create has no better type.
  return values && Object.assign(Object.create(null) as Record<string, unknown>, values)
}
