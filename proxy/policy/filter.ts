// What a policy is once it is compiled. See order.ts for the chain.
import type { Exchange } from '../exchange.ts'
import type { HttpResponse } from '../http/message.ts'

/**
 * A response ends the chain and is sent (after response filters); undefined goes on. Returns a promise only when it has
 * to wait: the runner awaits nothing else.
 */
export type Verdict = HttpResponse | undefined
export type Filter = (exchange: Exchange) => Verdict | Promise<Verdict>

export interface CompiledPolicy {
  /** Runs when the route is chosen, before bodies are waited for. Must not throw. */
  readonly selected?: (exchange: Exchange) => void
  /** Runs on the request, in the order of order.ts. */
  readonly request?: Filter
  /** Runs on every response, local ones included; a returned response replaces it. */
  readonly response?: Filter
  /** Runs once when the response went out or broke, after the facts of LLM responses are known. Must not throw. */
  readonly finished?: (exchange: Exchange) => void
  /** Bodies this policy's expressions read; the pipeline buffers them (up to the limit) before the chain runs. */
  readonly readsRequestBody?: boolean
  readonly readsResponseBody?: boolean
}
