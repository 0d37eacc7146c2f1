// Sends an exchange to its backend again: keeps the request from before the backend phase, and repeats that whole
// phase, with a new selection of the endpoint. Exists only for requests that retry.ts has marked.
import {
  endTry,
  KeptRequest,
  markAttempt,
  type NextTry,
  outcomeOf,
  REPLAY_BYTES_MAX,
  startNextTry,
} from '../../backend/second-try.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import type { OutgoingBody } from '../../message/body.ts'
import { discardBody } from '../../http/body-writer.ts'
import { IncomingBody } from '../../message/incoming-body.ts'
import { isRetryable } from './retry.ts'
import type { ReplaySource, RetryRule } from '../../exchange/slots.ts'

type Next = (exchange: Exchange) => void

/** Keeps the data for a second try, then continues with the first one. `fail`: the client's body broke. */
export function prepareReplay(
  exchange: Exchange,
  retry: RetryRule,
  { go, fail }: { readonly go: Next; readonly fail: Next },
): void {
  const { body } = exchange.request
  if (body === undefined || Buffer.isBuffer(body)) {
    if ((body?.length ?? 0) <= REPLAY_BYTES_MAX) exchange.replay = new Replay(exchange, retry, body)
    go(exchange)
    return
  }
  if ((body.length ?? 0) > REPLAY_BYTES_MAX || isOpenStream(exchange, body)) {
    go(exchange)
    return
  }
  body.tryCollect(REPLAY_BYTES_MAX).then(
    (whole) => {
      if (whole !== undefined) {
        exchange.request.body = whole
        exchange.replay = new Replay(exchange, retry, whole)
      }
      go(exchange)
    },
    (error: unknown) => {
      exchange.fail('invalidRequest', String(error))
      fail(exchange)
    },
  )
}

/** A gRPC client may wait for responses before it continues: holding its messages back could block it forever. */
function isOpenStream(exchange: Exchange, body: OutgoingBody): boolean {
  return exchange.isGrpc && !(body instanceof IncomingBody && body.isEnded)
}

export class Replay implements ReplaySource<Exchange> {
  readonly #retry: RetryRule
  readonly #kept: KeptRequest
  /** Without tries that failed over to another provider. */
  #retries = 0

  constructor(exchange: Exchange, retry: RetryRule, body: Buffer | undefined) {
    this.#retry = retry
    this.#kept = new KeptRequest(exchange, body)
  }

  get readsResponseBody(): boolean {
    return this.#retry.readsResponseBody
  }

  /** One try has its response: sends again, or finishes with it. */
  ended(exchange: Exchange, { again, finish }: NextTry): void {
    if (this.#retries >= this.#retry.attempts || !isRetryable(this.#retry, exchange)) {
      finish(exchange)
      return
    }
    // Charged before the next selection, which therefore usually selects another endpoint.
    endTry(exchange)
    const { backoffMs = 0 } = this.#retry
    if (exchange.deadlineMs !== undefined && performance.now() + backoffMs >= exchange.deadlineMs) {
      discardBody(exchange.response?.body)
      exchange.fail('requestTimeout')
      exchange.upstreamStatus = 0
      finish(exchange)
      return
    }
    exchange.trace?.write({
      type: 'policyEvent',
      kind: 'retry',
      details: `try ${exchange.retryAttempt + 1} failed with ${outcomeOf(exchange)}: next try in ${backoffMs} ms`,
    })
    const next = (restored: Exchange): void => {
      this.#retries++
      markAttempt(restored)
      again(restored)
    }
    startNextTry(exchange, this.#kept, backoffMs, { again: next, finish })
  }
}
