// What rate limit services decided about a request, for figures about limits: noted by the policy, read at its end.
import type { Exchange } from './exchange.ts'

/** What the service reported about one descriptor. */
export interface LimitState {
  /** Its place in the policy. */
  readonly descriptor: number
  /** `name=value, …`; only if no value is chosen by a client. */
  readonly entries: string
  readonly capacity: number
  /** As in the protocol. */
  readonly unit: number
  readonly remaining: number
  /** 0: unknown. */
  readonly resetSeconds: number
}

export interface LimitCall {
  readonly result: 'allowed' | 'rejected' | 'failed'
  readonly states: readonly LimitState[]
}

type Calls = Map<string, LimitCall>

/** The place of the calls in `policyState`. */
const CALLS: object = {}

/** `limit`: see `limitId`. A later call of the same limit replaces the former. */
export function noteLimitCall(exchange: Exchange, limit: string, call: LimitCall): void {
  const known = limitCalls(exchange)
  if (known !== undefined) known.set(limit, call)
  else (exchange.policyState ??= new Map<object, unknown>()).set(CALLS, new Map([[limit, call]]))
}

export function limitCalls({ policyState }: Pick<Exchange, 'policyState'>): Calls | undefined {
  // Only `noteLimitCall` writes under this key.
  return policyState?.get(CALLS) as Calls | undefined
}
