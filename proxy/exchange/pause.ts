// Lets an exchange wait without blocking a thread, and ends the wait when the client disconnects.
import type { Exchange } from './exchange.ts'

/**
 * True after the time has passed. False if the client disconnected or broke its request first: the exchange has failed,
 * and must be ended.
 */
export function pause(exchange: Exchange, ms: number): Promise<boolean> {
  if (exchange.connection.signal.aborted) {
    exchange.fail('upstreamFailure', 'the client disconnected')
    return Promise.resolve(false)
  }
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      exchange.upstreamCall = undefined
      resolve(true)
    }, ms)
    // The engine of the connection aborts this when the client disconnects.
    exchange.upstreamCall = {
      abort(code) {
        clearTimeout(timer)
        exchange.upstreamCall = undefined
        exchange.fail(code === 'invalidRequest' ? code : 'upstreamFailure', 'the client disconnected')
        resolve(false)
      },
    }
  })
}
