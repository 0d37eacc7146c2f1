// The current step of the pipeline for one exchange. Other folders see the part that exchange/slots.ts declares.
import type { KeptRequest } from '../backend/second-try.ts'
import type { BackendPlan, ListenerPlan, RoutePlan } from '../chain/plan.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { FlowState, TextReads } from '../exchange/slots.ts'

export class Flow implements FlowState {
  readonly respond: (exchange: Exchange) => void
  readonly listener: ListenerPlan
  readonly bodyBytesMax: number
  readonly textReads: TextReads | undefined
  route: RoutePlan | undefined = undefined
  backend: BackendPlan | undefined = undefined
  /** Before the current try; only for a backend that may refuse a fetched credential. */
  kept: KeptRequest | undefined = undefined

  constructor(respond: (exchange: Exchange) => void, listener: ListenerPlan, bodyBytesMax: number) {
    this.respond = respond
    this.listener = listener
    this.bodyBytesMax = bodyBytesMax
    this.textReads = listener.textReads
  }
}

/** undefined: no listener was found. */
export function flowOf({ flow }: Exchange): Flow | undefined {
  // Only the pipeline sets it. A check would run ten times for each request.
  return flow as Flow | undefined
}
