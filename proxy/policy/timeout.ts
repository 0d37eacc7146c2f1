// Sets the deadlines of an exchange; the engine and the backends keep them.
import type { Timeout } from '#api/ir/types.gen.ts'
import type { CompiledPolicy } from './filter.ts'

/** The deadline counts from the arrival of the request. */
export function compileTimeout({ requestMs, backendRequestMs }: Timeout): CompiledPolicy {
  if (requestMs === undefined && backendRequestMs === undefined) return {}
  const limits = [
    ...(requestMs === undefined ? [] : [`the request has ${requestMs} ms`]),
    ...(backendRequestMs === undefined ? [] : [`each try has ${backendRequestMs} ms`]),
  ].join(', ')
  return {
    request: (exchange) => {
      if (requestMs !== undefined) exchange.deadlineMs = exchange.startMs + requestMs
      if (backendRequestMs !== undefined) exchange.backendRequestTimeoutMs = backendRequestMs
      exchange.trace?.note(limits)
      return undefined
    },
  }
}
