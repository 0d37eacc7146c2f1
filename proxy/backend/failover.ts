// Moves a call to another endpoint where the first one got nothing of it, or may get it again: no retry policy is
// needed for that. Bounded; whoever failed is charged for it as for any failure.
import type { Exchange } from '../exchange/exchange.ts'
import type { EndpointRecord } from '../exchange/slots.ts'
import { GrpcUnreached } from '../grpc/status.ts'
import { UpstreamError } from '../upstream/target.ts'
import type { Endpoint, EndpointPicker } from './handler.ts'
import { endEndpoint } from './health.ts'

/** Further endpoints that one try of a request may be moved to. */
export const FAILOVERS_MAX = 3

/** The endpoint to go on with; undefined: the failure stands. Otherwise the exchange is as before the call. */
export function otherEndpoint(exchange: Exchange, picker: EndpointPicker): Endpoint | undefined {
  exchange.isMovable = false
  const next = isInTime(exchange) ? untried(exchange, picker) : undefined
  if (next === undefined) return undefined
  tell(exchange, exchange.endpoint ?? '', exchange.failure ?? 'no response', next.label)
  endEndpoint(exchange, true)
  exchange.forgetAnswer()
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
  return nextEndpoint(failed, usedEndpoint, () => (picked === undefined ? picker.other(failed) : picked.choose(picker)))
}

type FailoverEndpoint = Pick<Endpoint, 'target' | 'state'>

/** Adds to those that failed; undefined: there is no other, or enough have failed. */
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

/** Where a call of the proxy's own may go. */
export interface OwnCallPlaces<E extends FailoverEndpoint> {
  readonly exchange: Exchange
  /** None where the call belongs to one endpoint. */
  readonly other: ((failed: readonly EndpointRecord[]) => E | undefined) | undefined
  readonly deadlineMs: number
}

/** The endpoints of one call of the proxy's own, which has no exchange to itself. */
export class OwnCallEndpoints<E extends FailoverEndpoint> {
  /** The one in use. */
  current: E
  readonly #places: OwnCallPlaces<E>
  readonly #failed: EndpointRecord[] = []

  constructor(first: E, places: OwnCallPlaces<E>) {
    this.current = first
    this.#places = places
  }

  /** After a call that failed in this way: the endpoint to go on with. The caller charges the one that failed. */
  next(error: unknown): E | undefined {
    const { exchange, other, deadlineMs } = this.#places
    if (other === undefined || !isMovable(error) || performance.now() >= deadlineMs) return undefined
    const next = nextEndpoint(this.#failed, this.current, other)
    if (next === undefined) return undefined
    tell(exchange, labelOf(this.current), error.message, labelOf(next))
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

function tell({ trace }: Exchange, from: string, problem: string, to: string): void {
  trace?.write({ type: 'policyEvent', kind: 'failover', details: `${from}: ${problem}; failing over to ${to}` })
}
