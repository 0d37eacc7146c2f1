// The id of one request, the same for log lines and called services: the id of its trace, else a random one. Created on
// first use.
import { randomBytes } from 'node:crypto'
import type { Exchange } from '../exchange/exchange.ts'

/** W3C Trace Context section 3.2.2: version, trace, parent, flags. */
const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}/
const BYTES = 16

export function requestIdOf(exchange: Exchange): string {
  exchange.requestId ??= exchange.span?.traceId ?? clientTraceOf(exchange) ?? randomBytes(BYTES).toString('hex')
  return exchange.requestId
}

function clientTraceOf({ request }: Exchange): string | undefined {
  const traceparent = request.headers.get('traceparent')
  return traceparent === undefined ? undefined : TRACEPARENT.exec(traceparent)?.[1]
}
