// The response to the client if a message was not processed: that of the processor, or a failure.
import { at, type Detail, logOf, shown } from '../../../exchange/diagnosis.ts'
import type { Exchange } from '../../../exchange/exchange.ts'
import type { HttpResponse } from '../../../message/message.ts'
import { immediateResponse } from './immediate.ts'
import { RefusedMutation } from './mutation.ts'
import type { Outcome } from './session.ts'

/** `peer`: the name in the log. A session that is over has an outcome; a session without one is a bug. */
export function responseFor(exchange: Exchange, outcome: Outcome | undefined, peer?: string): HttpResponse {
  if (outcome === undefined)
    return exchange.fail('internal', `${peer ?? 'external processing'} ended without an outcome`)
  if (outcome.kind === 'SourceBroken') {
    return outcome.side === 'request'
      ? exchange.fail('invalidRequest', outcome.detail)
      : exchange.fail('upstreamFailure', { log: outcome.detail, client: 'the response was truncated' })
  }
  const failed = (detail: Detail): HttpResponse =>
    failedResponse(exchange, peer === undefined ? detail : at(peer, detail))
  if (outcome.kind === 'Failed') return failed(outcome.detail)
  try {
    return immediateResponse(exchange, outcome.answer)
  } catch (error) {
    if (!(error instanceof RefusedMutation)) throw error
    return failed(shown(error.message))
  }
}

/** If the request timeout is exceeded, that is the failure. */
export function failedResponse(exchange: Exchange, detail: Detail): HttpResponse {
  const isTooLate = exchange.deadlineMs !== undefined && performance.now() >= exchange.deadlineMs
  return isTooLate ? exchange.fail('requestTimeout', logOf(detail)) : exchange.fail('extProcFailed', detail)
}
