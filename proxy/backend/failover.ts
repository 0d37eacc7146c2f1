// Moves a call to another endpoint where the first one got nothing of it, or may get it again: no retry policy is
// needed for that. Bounded; whoever failed is charged for it as for any failure.
import type { Exchange } from '../exchange.ts'
import type { Endpoint, EndpointPicker } from './handler.ts'
import { endEndpoint } from './health.ts'

/** Further endpoints that one try of a request may be moved to. */
export const FAILOVERS_MAX = 3

/** The endpoint to go on with; undefined: the failure stands. Otherwise the exchange is as before the call. */
export function otherEndpoint(exchange: Exchange, picker: EndpointPicker): Endpoint | undefined {
  exchange.isMovable = false
  const next = isInTime(exchange) ? untried(exchange, picker) : undefined
  if (next === undefined) return undefined
  exchange.trace?.write({
    type: 'policyEvent',
    kind: 'failover',
    details: `${exchange.endpoint ?? ''}: ${exchange.failure ?? 'no answer'}; on to ${next.label}`,
  })
  endEndpoint(exchange, true)
  exchange.response = undefined
  exchange.reason = 'Upstream'
  exchange.failure = undefined
  exchange.errorDetail = undefined
  exchange.upstreamHeadMs = undefined
  return next
}

function isInTime({ deadline, deadlineMs }: Exchange): boolean {
  return deadline?.hasPassed !== true && (deadlineMs === undefined || performance.now() < deadlineMs)
}

/** An endpoint picker of the user has a say here as well. */
function untried(exchange: Exchange, picker: EndpointPicker): Endpoint | undefined {
  const { usedEndpoint, picked } = exchange
  if (usedEndpoint === undefined) return undefined
  const failed = (exchange.failedEndpoints ??= [])
  failed.push(usedEndpoint.state)
  if (failed.length > FAILOVERS_MAX) return undefined
  const next = picked === undefined ? picker.other(failed) : picked.choose(picker)
  return next === undefined || failed.includes(next.state) ? undefined : next
}
