// Sets the deadlines of an exchange; the engine and the backends keep them.
import type { Timeouts } from '#api/ir/types.gen.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import type { CompiledPolicy } from '../../chain/filter.ts'
import { RequestDeadline } from './request-deadline.ts'

/** The deadline counts from the arrival of the request. */
export function compileTimeouts({ requestMs, backendRequestMs }: Timeouts): CompiledPolicy {
  if (requestMs === undefined && backendRequestMs === undefined) return {}
  const limits = [
    ...(requestMs === undefined ? [] : [`request timeout: ${requestMs} ms`]),
    ...(backendRequestMs === undefined ? [] : [`timeout of each try: ${backendRequestMs} ms`]),
  ].join(', ')
  return {
    ...(requestMs !== undefined && { selected: (exchange) => setDeadline(exchange, exchange.startMs + requestMs) }),
    request: (exchange) => {
      if (backendRequestMs !== undefined) exchange.backendRequestTimeoutMs = backendRequestMs
      exchange.trace?.note(limits)
      return undefined
    },
  }
}

/** `http.requestTimeout` of a backend. The route's own timeout for an attempt is the more specific one. */
export function compileBackendTimeout(requestTimeoutMs: number): CompiledPolicy {
  return {
    request: (exchange) => {
      exchange.backendRequestTimeoutMs ??= requestTimeoutMs
      exchange.trace?.note(`timeout of each try: ${exchange.backendRequestTimeoutMs} ms`)
      return undefined
    },
  }
}

/** Before anything waits for the body of the request. */
function setDeadline(exchange: Exchange, deadlineMs: number): void {
  exchange.deadlineMs = deadlineMs
  exchange.deadline = new RequestDeadline(exchange, deadlineMs)
}
