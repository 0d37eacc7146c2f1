// The end of `timeouts.request` for one exchange, whatever it is doing then. Calls of backends and services keep the
// deadline themselves; this keeps it for bodies, which may come and go for any time. One for each request that has one.
import type { Exchange } from '../../exchange/exchange.ts'
import type { DeadlineKeeper } from '../../exchange/slots.ts'
import { DeadlineWheel, type Expiring } from '../../socket/deadlines.ts'
import { interruptBody } from '../../message/incoming-body.ts'

const wheel = new DeadlineWheel()
const TIMEOUT = 'request timeout'

export class RequestDeadline implements Expiring, DeadlineKeeper {
  /** Time was up before there was an answer: any that comes now is too late. */
  hasPassed = false
  readonly #exchange: Exchange
  #slot: number | undefined

  constructor(exchange: Exchange, deadlineMs: number) {
    this.#exchange = exchange
    this.#slot = wheel.add(this, deadlineMs)
  }

  /** All is over. */
  settle(): void {
    if (this.#slot !== undefined) wheel.remove(this, this.#slot)
    this.#slot = undefined
  }

  expired(): void {
    const exchange = this.#exchange
    const { request, response, connection, upstreamCall } = exchange
    this.#slot = undefined
    if (connection.cut(exchange, 'requestTimeout')) {
      if (exchange.failure === 'requestTimeout') tell(exchange, 'the response is truncated')
      return
    }
    this.hasPassed = true
    tell(exchange, 'no response yet')
    // Whoever waits for the rest of a body gets its end. A call that sends the body has the same deadline, and its
    // own way to end.
    if (upstreamCall === undefined) interruptBody(request.body, TIMEOUT)
    interruptBody(response?.body, TIMEOUT)
  }
}

function tell({ trace }: Exchange, what: string): void {
  trace?.write({ type: 'policyEvent', kind: 'timeout', details: `timeout: ${what}` }, { severity: 'error' })
}
