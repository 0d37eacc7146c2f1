// An exchange of its own for a call that is made for a request: of an MCP server, a service that a policy asks, a
// mirror. Policies and expressions of that call see the client, and change nothing of the request.
import type { HttpRequest } from '../message/message.ts'
import { Exchange } from './exchange.ts'

export interface DerivedParts {
  /** What is sent. */
  readonly request: HttpRequest
  /** Unset: that of the request. */
  readonly startMs?: number
  /** Name of the call in the trace; unset: the trace hears nothing of it. */
  readonly scope?: string
}

/**
 * It has the connection, place, deadline, span and request id of `exchange`, and a copy of what policies found out:
 * the attributes (`jwt`, `apiKey`, …) and `metadata`. It has no response, no backend, no facts of LLM, MCP or A2A, and
 * a budget of its own for expressions.
 */
export function derive(exchange: Exchange, { request, startMs = exchange.startMs, scope }: DerivedParts): Exchange {
  const own = new Exchange(exchange.connection, request, startMs)
  own.place = exchange.place
  own.deadlineMs = exchange.deadlineMs
  own.deadline = exchange.deadline
  own.attributes = copyOf(exchange.attributes)
  own.metadata = copyOf(exchange.metadata)
  own.requestId = exchange.requestId
  own.span = exchange.span
  if (scope !== undefined) own.trace = exchange.trace?.scoped(scope)
  return own
}

function copyOf(values: Record<string, unknown> | undefined): Record<string, unknown> | undefined {
  // The declared shape of both fields, which have no prototype; Object.create has no better type.
  return values && Object.assign(Object.create(null) as Record<string, unknown>, values)
}
