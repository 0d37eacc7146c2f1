// How the proxy asks clients to leave: responses that end their connection, and a pause before idle connections are
// closed.
import type { RequestHandler } from './handler.ts'

/**
 * Time between asking clients to leave (`connection: close` on responses) and closing idle connections: a client may
 * be sending its next request on an idle connection, and closing it then would fail that request.
 */
export const QUIET_MS = 1000

export function closingAfterResponse(handler: RequestHandler): RequestHandler {
  return {
    limits: handler.limits,
    admits: handler.admits,
    proxyProtocol: handler.proxyProtocol,
    handle(exchange, respond) {
      exchange.connection.close()
      handler.handle(exchange, respond)
    },
    finished: (exchange, isComplete) => handler.finished(exchange, isComplete),
    transferred: (bytes) => handler.transferred(bytes),
    refused: (info) => handler.refused(info),
  }
}
