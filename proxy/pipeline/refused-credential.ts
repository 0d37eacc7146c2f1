// A try with a fetched credential: keeps the request before it, and sends it again, once, with another credential if
// the backend refused the first one.
import { endTry, isCredentialRefused, keepRequest, REPLAY_BYTES_MAX, startNextTry } from '../backend/second-try.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { flowOf } from './flow.ts'

type Next = (exchange: Exchange) => void

/** Before a try. `fail`: the client's body broke, and the exchange has failed. */
export function keepTry(exchange: Exchange, { go, fail }: { readonly go: Next; readonly fail: Next }): void {
  const flow = flowOf(exchange)
  const fetched = flow?.backend?.fetched
  if (flow === undefined || fetched === undefined || exchange.isCredentialRenewed) {
    go(exchange)
    return
  }
  const isReadWhole = fetched === 'Signature'
  const kept = keepRequest(exchange, { bytesMax: isReadWhole ? flow.bodyBytesMax : REPLAY_BYTES_MAX, isReadWhole })
  if (!(kept instanceof Promise)) {
    flow.kept = kept
    go(exchange)
    return
  }
  kept.then(
    (whole) => {
      flow.kept = whole
      go(exchange)
    },
    (error: unknown) => {
      exchange.fail('invalidRequest', String(error))
      fail(exchange)
    },
  )
}

/** After a try that sent a fetched credential. `end`: with this response. */
export function endTryWithCredential(
  exchange: Exchange,
  { again, end, left }: { readonly again: Next; readonly end: Next; readonly left: Next },
): void {
  const { response } = exchange
  const flow = flowOf(exchange)
  const kept = flow?.kept
  if (flow !== undefined) flow.kept = undefined
  const isRefused = response?.isLocal === false && isCredentialRefused(exchange, response)
  if (!isRefused || kept === undefined) {
    end(exchange)
    return
  }
  endTry(exchange)
  startNextTry(exchange, kept, 0, { again, finish: left })
}
