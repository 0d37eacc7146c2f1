// What a policy is once it is compiled, and a chain of them. policy/fields.ts has the order.
import type { Exchange } from '../exchange/exchange.ts'
import type { HttpResponse } from '../message/message.ts'

/**
 * A response ends the chain and is sent (after response filters); undefined goes on. Returns a promise only when it has
 * to wait: the runner awaits nothing else.
 */
export type Verdict = HttpResponse | undefined
export type Filter = (exchange: Exchange) => Verdict | Promise<Verdict>

export interface CompiledPolicy {
  /** Runs when the route is chosen, before bodies are waited for. Must not throw. */
  readonly selected?: (exchange: Exchange) => void
  /** Runs on the request, in the order of policy/fields.ts. */
  readonly request?: Filter
  /** Runs on every response, local ones included; a returned response replaces it. */
  readonly response?: Filter
  /** Runs once when the response went out or broke, after the facts of LLM responses are known. Must not throw. */
  readonly finished?: (exchange: Exchange) => void
  /** Bodies this policy's expressions read; the pipeline buffers them (up to the limit) before the chain runs. */
  readonly readsRequestBody?: boolean
  readonly readsResponseBody?: boolean
}

export interface NamedFilter {
  /** Name in trace, dump and metrics. */
  readonly name: string
  readonly filter: Filter
}

/** A response filter and its place among those of route, backend and gateway. */
export interface ResponseFilter extends NamedFilter {
  readonly rank: number
}

export interface CompiledChain {
  readonly request: readonly NamedFilter[]
  readonly response: readonly ResponseFilter[]
  /** Run when the chain is chosen. */
  readonly selected: readonly ((exchange: Exchange) => void)[]
  /** Run once when the exchange is over. */
  readonly finished: readonly ((exchange: Exchange) => void)[]
  readonly readsRequestBody: boolean
  readonly readsResponseBody: boolean
  /** The merged policies it was compiled from, for traces. */
  readonly effective: object
}
