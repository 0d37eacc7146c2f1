// Error events of the gateway in a Realtime session: what the client gets in place of an event that is not
// passed on.
import { FAILURES } from '../exchange/errors.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { ChainResult } from './guards/chain.ts'

const REJECTED = 'guardrail_intervention'
const UNCHECKED = 'guardrail_unsupported'
const REFUSED = 'invalid_value'
/** Events of the gateway are numbered: official SDKs require an id. */
const ID_PREFIX = 'event_gw_'

/** Of one session. */
export class RealtimeErrors {
  readonly #exchange: Exchange
  #count = 0

  constructor(exchange: Exchange) {
    this.#exchange = exchange
  }

  /** `cause`: the id of the event of the client. */
  blocked(result: Exclude<ChainResult, { kind: 'passed' }>, cause: string | undefined): string {
    const message = result.kind === 'failed' ? FAILURES.promptGuardFailed.text : result.rejection.body
    this.#report(result.detail)
    return this.#event({ code: REJECTED, message, param: null }, cause)
  }

  unchecked(message: string, cause: string | undefined): string {
    this.#report(message)
    return this.#event({ code: UNCHECKED, message, param: null }, cause)
  }

  /** `param`: the field of the event that the gateway does not accept. */
  refused(message: string, param: string | null, cause: string | undefined): string {
    this.#exchange.errorDetail ??= message
    return this.#event({ code: REFUSED, message, param }, cause)
  }

  nextId(): string {
    return ID_PREFIX + String(++this.#count)
  }

  #report(detail: string): void {
    this.#exchange.reason = 'Guardrail'
    this.#exchange.errorDetail ??= detail
  }

  #event(
    error: { readonly code: string; readonly message: string; readonly param: string | null },
    cause: string | undefined,
  ): string {
    const own = { type: 'invalid_request_error', ...error, event_id: cause ?? null }
    return JSON.stringify({ type: 'error', event_id: this.nextId(), error: own })
  }
}

/** Whether the gateway has given this id to an event. */
export function isOwnEvent(id: unknown): boolean {
  return typeof id === 'string' && id.startsWith(ID_PREFIX)
}
