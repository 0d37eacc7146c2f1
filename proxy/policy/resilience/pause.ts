// Lets an exchange wait without holding a thread, and ends the wait when the client leaves.
import type { Exchange } from '../../exchange/exchange.ts'

/**
 * True when the time has passed. False when the client left or broke its request before: the exchange has failed then,
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
    // The engine that owns the connection aborts what stands here when the client leaves.
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
