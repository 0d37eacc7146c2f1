// A compiled policy, and a chain of them. policy/fields.ts has the order.
import type { Exchange } from '../exchange/exchange.ts'
import type { HttpResponse } from '../message/message.ts'

/**
 * A response ends the chain and is sent (after response filters); undefined continues. Returns a promise only if it
 * must wait: the runner awaits only promises.
 */
export type Verdict = HttpResponse | undefined
export type Filter = (exchange: Exchange) => Verdict | Promise<Verdict>

export interface CompiledPolicy {
  /** Runs after route selection, before the proxy waits for bodies. Must not throw. */
  readonly selected?: (exchange: Exchange) => void
  /** Runs on the request, in the order of policy/fields.ts. */
  readonly request?: Filter
  /** Runs on every response, local ones included; a returned response replaces it. */
  readonly response?: Filter
  /** Runs once after the response was sent or failed, when the facts of LLM responses are known. Must not throw. */
  readonly finished?: (exchange: Exchange) => void
  /** Bodies that expressions of this policy read; the pipeline buffers them (up to the limit) before the chain runs. */
  readonly readsRequestBody?: boolean
  readonly readsResponseBody?: boolean
  /** It sends a credential that is fetched, and that the backend may refuse. */
  readonly fetched?: FetchedCredential | undefined
}

/** `Signature`: the whole body is read before the backend is called. */
export type FetchedCredential = 'Token' | 'Signature'

export interface NamedFilter {
  /** Name in trace, dump and metrics. */
  readonly name: string
  readonly filter: Filter
}

/** A response filter and its position among those of route, backend and gateway. */
export interface ResponseFilter extends NamedFilter {
  readonly rank: number
}

export interface CompiledChain {
  readonly request: readonly NamedFilter[]
  readonly response: readonly ResponseFilter[]
  /** Run when the chain is selected. */
  readonly selected: readonly ((exchange: Exchange) => void)[]
  /** Run once after the end of the exchange. */
  readonly finished: readonly ((exchange: Exchange) => void)[]
  readonly readsRequestBody: boolean
  readonly readsResponseBody: boolean
  readonly fetched: FetchedCredential | undefined
  /** The merged policies of the chain, for traces. */
  readonly effective: object
}
