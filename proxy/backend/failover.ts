// Moves a call to another endpoint if the first one did not receive it, or if it can be repeated: this needs no retry
// policy. Bounded; the failed endpoint is charged as for any failure.
import type { Exchange } from '../exchange/exchange.ts'
import type { EndpointRecord } from '../exchange/slots.ts'
import { GrpcUnreached } from '../grpc/status.ts'
import { UpstreamError } from '../upstream/target.ts'
import type { Endpoint, EndpointPicker } from './handler.ts'
import { endEndpoint } from './health.ts'

/** Limit of further endpoints for one try of a request. */
export const FAILOVERS_MAX = 3

/** The next endpoint; undefined: the failure stands. Otherwise the exchange is as before the call. */
export function otherEndpoint(exchange: Exchange, picker: EndpointPicker): Endpoint | undefined {
  exchange.isMovable = false
  const next = isInTime(exchange) ? untried(exchange, picker) : undefined
  if (next === undefined) return undefined
  report(exchange, exchange.endpoint ?? '', exchange.failure ?? 'no response', next.label)
  endEndpoint(exchange, true)
  exchange.forgetAnswer()
  return next
}

/** Before the deadline of the request. */
export function isInTime({ deadline, deadlineMs }: Exchange): boolean {
  return deadline?.hasPassed !== true && (deadlineMs === undefined || performance.now() < deadlineMs)
}

/** An endpoint picker of the user also selects here. */
function untried(exchange: Exchange, picker: EndpointPicker): Endpoint | undefined {
  const { usedEndpoint, picked } = exchange
  if (usedEndpoint === undefined) return undefined
  const failed = (exchange.failedEndpoints ??= [])
  return nextEndpoint(failed, usedEndpoint, () => (picked === undefined ? picker.other(failed) : picked.choose(picker)))
}

type FailoverEndpoint = Pick<Endpoint, 'target' | 'state'>

/** Adds to the failed ones; undefined: there is no other, or the limit is reached. */
export function nextEndpoint<E extends Pick<Endpoint, 'state'>>(
  failed: EndpointRecord[],
  { state }: Pick<Endpoint, 'state'>,
  choose: (failed: readonly EndpointRecord[]) => E | undefined,
): E | undefined {
  failed.push(state)
  if (failed.length > FAILOVERS_MAX) return undefined
  const next = choose(failed)
  return next === undefined || failed.includes(next.state) ? undefined : next
}

/** The endpoints for a call of the proxy itself. */
export interface OwnCallPlaces<E extends FailoverEndpoint> {
  readonly exchange: Exchange
  /** None if the call belongs to one endpoint. */
  readonly other: ((failed: readonly EndpointRecord[]) => E | undefined) | undefined
  readonly deadlineMs: number
}

/** The endpoints of one call of the proxy itself, which has no separate exchange. */
export class OwnCallEndpoints<E extends FailoverEndpoint> {
  /** The one in use. */
  current: E
  readonly #places: OwnCallPlaces<E>
  readonly #failed: EndpointRecord[] = []

  constructor(first: E, places: OwnCallPlaces<E>) {
    this.current = first
    this.#places = places
  }

  /** After a call that failed in this way: the next endpoint. The caller charges the failed one. */
  next(error: unknown): E | undefined {
    const { exchange, other, deadlineMs } = this.#places
    if (other === undefined || !isMovable(error) || performance.now() >= deadlineMs) return undefined
    const next = nextEndpoint(this.#failed, this.current, other)
    if (next === undefined) return undefined
    report(exchange, labelOf(this.current), error.message, labelOf(next))
    this.current = next
    return next
  }
}

function isMovable(error: unknown): error is Error {
  return error instanceof GrpcUnreached || (error instanceof UpstreamError && error.isMovable)
}

function labelOf({ target }: FailoverEndpoint): string {
  return target.unixPath ?? `${target.host}:${target.port}`
}

function report({ trace }: Exchange, from: string, problem: string, to: string): void {
  trace?.write({ type: 'policyEvent', kind: 'failover', details: `${from}: ${problem}; failing over to ${to}` })
}
