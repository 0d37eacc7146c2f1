// The end of `timeouts.request` for one exchange, in any state. Calls of backends and services keep the deadline
// themselves; this keeps it for bodies, which may take any time. One for each request with a timeout.
import type { Exchange } from '../../exchange/exchange.ts'
import type { DeadlineKeeper } from '../../exchange/slots.ts'
import { type Expiring, requestDeadlines } from '../../socket/deadlines.ts'
import { interruptBody } from '../../message/incoming-body.ts'

const TIMEOUT = 'request timeout'

export class RequestDeadline implements Expiring, DeadlineKeeper {
  /** The time was up before a response: any later one is ignored. */
  hasPassed = false
  readonly #exchange: Exchange
  #slot: number | undefined

  constructor(exchange: Exchange, deadlineMs: number) {
    this.#exchange = exchange
    this.#slot = requestDeadlines.add(this, deadlineMs)
  }

  /** The exchange has ended. */
  settle(): void {
    if (this.#slot !== undefined) requestDeadlines.remove(this, this.#slot)
    this.#slot = undefined
  }

  expired(): void {
    const exchange = this.#exchange
    const { request, response, connection, upstreamCall } = exchange
    this.#slot = undefined
    if (connection.cut(exchange, 'requestTimeout')) {
      if (exchange.failure === 'requestTimeout') report(exchange, 'the response is truncated')
      return
    }
    this.hasPassed = true
    report(exchange, 'no response yet')
    // Readers of a body get its end. A call that sends the body has the same deadline, and its
    // own way to end.
    if (upstreamCall === undefined) interruptBody(request.body, TIMEOUT)
    interruptBody(response?.body, TIMEOUT)
  }
}

function report({ trace }: Exchange, what: string): void {
  trace?.write({ type: 'policyEvent', kind: 'timeout', details: `timeout: ${what}` }, { severity: 'error' })
}
