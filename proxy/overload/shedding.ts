// Rejects new requests while the thread is overloaded, before any policy. Requests in progress continue.
import type { FailureBody } from '../exchange/slots.ts'
import type { RequestHandler } from '../http/handler.ts'
import type { LoadShedder } from './pulse.ts'

/** Long enough for the thread to detect whether load has dropped. */
const RETRY_AFTER_SECONDS = '2'

/** `failureBodyAt`: the form of failures at a host. */
export function shedding(
  handler: RequestHandler,
  shedder: LoadShedder,
  failureBodyAt: (host: string) => FailureBody | undefined,
): RequestHandler {
  return {
    limits: handler.limits,
    admits: handler.admits,
    proxyProtocol: handler.proxyProtocol,
    handle(exchange, respond) {
      if (!shedder.isActive) {
        handler.handle(exchange, respond)
        return
      }
      shedder.shed++
      exchange.failureBody = failureBodyAt(exchange.request.host)
      exchange
        .fail('overloaded', 'the event loop is delayed, or memory is low')
        .headers.set('retry-after', RETRY_AFTER_SECONDS)
      respond(exchange)
    },
    finished: (exchange, isComplete) => handler.finished(exchange, isComplete),
    transferred: (bytes) => handler.transferred(bytes),
    refused: (info) => handler.refused(info),
  }
}
