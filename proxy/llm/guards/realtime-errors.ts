// Error events of the gateway in a Realtime session: what the client gets in place of an event that guards do not pass.
import { FAILURES } from '../../exchange/errors.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import type { ChainResult } from './chain.ts'

const REJECTED = 'guardrail_intervention'
const UNCHECKED = 'guardrail_unsupported'
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
    return this.#event({ code: REJECTED, message, detail: result.detail }, cause)
  }

  unchecked(message: string, cause: string | undefined): string {
    return this.#event({ code: UNCHECKED, message, detail: message }, cause)
  }

  nextId(): string {
    return ID_PREFIX + String(++this.#count)
  }

  #event(
    { code, message, detail }: { readonly code: string; readonly message: string; readonly detail: string },
    cause: string | undefined,
  ): string {
    this.#exchange.reason = 'Guardrail'
    this.#exchange.errorDetail ??= detail
    const error = { type: 'invalid_request_error', code, message, param: null, event_id: cause ?? null }
    return JSON.stringify({ type: 'error', event_id: this.nextId(), error })
  }
}

/** Whether the gateway has given this id to an event. */
export function isOwnEvent(id: unknown): boolean {
  return typeof id === 'string' && id.startsWith(ID_PREFIX)
}
