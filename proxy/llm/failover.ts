// Moves a request to another provider of its backend if a try failed and the client got nothing of its response: this
// needs no retry policy. The provider of the failed try is charged first.
import { isInTime } from '../backend/failover.ts'
import { dropBody, endTry, type KeptRequest, markAttempt, outcomeOf } from '../backend/second-try.ts'
import type { FailureCode } from '../exchange/errors.ts'
import type { Exchange } from '../exchange/exchange.ts'

/** Limit of providers that one request is sent to. */
export const PROVIDERS_MAX = 8

const TOO_MANY_REQUESTS = 429

/** Whether another provider may answer where this one answered with a status. */
export function isFailedStatus(status: number): boolean {
  return status >= 500 || status === TOO_MANY_REQUESTS
}

/** The provider did not answer, or not with a response in its format. */
const FAILED: ReadonlySet<FailureCode> = new Set<FailureCode>([
  'noHealthyBackends',
  'dnsFailure',
  'upstreamFailure',
  'responseBroken',
  'upstreamTimeout',
  'llmResponseInvalid',
])

/** The providers of one request that failed, with the outcome of each for log and trace. */
export class FailedProviders<P extends object> {
  readonly #failed = new Set<P>()
  #outcomes = ''

  /** Such as `primary: status 429, backup: upstreamTimeout`. */
  get outcomes(): string | undefined {
    return this.#outcomes === '' ? undefined : this.#outcomes
  }

  /** Whether another provider may get the request after the current one. */
  get hasRoom(): boolean {
    return this.#failed.size + 1 < PROVIDERS_MAX
  }

  has(provider: P): boolean {
    return this.#failed.has(provider)
  }

  /** Whether the try with this provider failed, and another one may get the request. */
  add(exchange: Exchange, provider: P, name: string): boolean {
    if (!hasFailed(exchange)) return false
    this.#failed.add(provider)
    this.#outcomes += `${this.#outcomes === '' ? '' : ', '}${name}: ${outcomeOf(exchange)}`
    return this.#failed.size < PROVIDERS_MAX && isInTime(exchange) && !exchange.connection.signal.aborted
  }

  /** The exchange is as before the failed try, and its request is marked as repeated. */
  moveOn(exchange: Exchange, kept: KeptRequest, next: string): void {
    const { trace, response } = exchange
    trace?.backendResult({ status: undefined, error: exchange.errorDetail })
    trace?.write({ type: 'policyEvent', kind: 'failover', details: `${this.#outcomes}; failing over to ${next}` })
    endTry(exchange)
    dropBody(response?.body)
    kept.restore(exchange)
    exchange.isCredentialRenewed = false
    markAttempt(exchange)
  }
}

function hasFailed({ response, failure }: Exchange): boolean {
  if (response === undefined) return false
  if (response.isLocal) return failure !== undefined && FAILED.has(failure)
  return isFailedStatus(response.status)
}
