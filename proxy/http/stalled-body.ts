// The answer to a client that stopped sending in the middle of a body, in both HTTP versions.
import type { Exchange } from '../exchange/exchange.ts'
import { discardBody } from './body-writer.ts'

export const STALLED = 'the rest of the request body did not arrive in time'

/** Replaces the response for the lost body by 408. */
export function failStalled(exchange: Exchange): void {
  discardBody(exchange.response?.body)
  exchange.failVisibly('requestTimeoutRead', STALLED)
}
