// Sends an exchange to its backend again: keeps the request from before the backend phase, and repeats that whole
// phase, with a new selection of the endpoint. Exists only for requests that retry.ts has marked.
import { endEndpoint } from '../../backend/health.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import type { OutgoingBody } from '../../message/body.ts'
import { discardBody } from '../../http/body-writer.ts'
import type { HeaderList } from '../../message/headers.ts'
import { IncomingBody } from '../../message/incoming-body.ts'
import { pause } from './pause.ts'
import { isRetryable } from './retry.ts'
import type { ReplaySource, RetryRule } from '../../exchange/slots.ts'

/** A larger request body is not kept, and the request not repeated (data-plane supplement section 1.7). */
export const REPLAY_BYTES_MAX = 65_536
/** The rest of a dropped response is read, up to this, if it has arrived: its connection can be reused. */
const DRAINED_BYTES_MAX = 65_536
const ATTEMPT_HEADER = 'x-retry-attempt'

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
  readonly #method: string
  readonly #path: string
  readonly #query: string
  readonly #host: string
  readonly #scheme: 'http' | 'https'
  readonly #headers: HeaderList
  readonly #body: Buffer | undefined
  readonly #hasExplicitHost: boolean
  readonly #hostRewriteMode: 'Auto' | 'None' | undefined
  readonly #backendRequestTimeoutMs: number | undefined
  readonly #queuedCount: number

  constructor(exchange: Exchange, retry: RetryRule, body: Buffer | undefined) {
    const { request } = exchange
    this.#retry = retry
    this.#method = request.method
    this.#path = request.path
    this.#query = request.query
    this.#host = request.host
    this.#scheme = request.scheme
    this.#headers = request.headers.clone()
    this.#body = body
    this.#hasExplicitHost = exchange.hasExplicitHost
    this.#hostRewriteMode = exchange.hostRewriteMode
    this.#backendRequestTimeoutMs = exchange.backendRequestTimeoutMs
    this.#queuedCount = exchange.queuedResponseHeaders?.length ?? 0
  }

  get readsResponseBody(): boolean {
    return this.#retry.readsResponseBody
  }

  /** One try has its response: sends again, or finishes with it. */
  ended(exchange: Exchange, { again, finish }: { readonly again: Next; readonly finish: Next }): void {
    if (exchange.retryAttempt >= this.#retry.attempts || !isRetryable(this.#retry, exchange)) {
      finish(exchange)
      return
    }
    // Charged before the next selection, which therefore usually selects another endpoint.
    if (exchange.response?.isLocal === false) exchange.upstreamStatus = exchange.response.status
    endEndpoint(exchange, true)
    const { backoffMs = 0 } = this.#retry
    const body = exchange.response?.body
    if (exchange.deadlineMs !== undefined && performance.now() + backoffMs >= exchange.deadlineMs) {
      discardBody(body)
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
    // Never within the call that returned the response: its connection is still in use.
    void pause(exchange, backoffMs).then((isWaited) => {
      dropBody(body)
      if (!isWaited) {
        finish(exchange)
        return
      }
      this.#restore(exchange)
      again(exchange)
    })
  }

  #restore(exchange: Exchange): void {
    const { request } = exchange
    request.method = this.#method
    request.path = this.#path
    request.query = this.#query
    request.host = this.#host
    request.scheme = this.#scheme
    request.headers = this.#headers.clone()
    request.body = this.#body
    request.signer = undefined
    exchange.hasExplicitHost = this.#hasExplicitHost
    exchange.hostRewriteMode = this.#hostRewriteMode
    exchange.backendRequestTimeoutMs = this.#backendRequestTimeoutMs
    if (exchange.queuedResponseHeaders !== undefined) exchange.queuedResponseHeaders.length = this.#queuedCount
    exchange.picked?.close()
    exchange.picked = undefined
    exchange.failedEndpoints = undefined
    exchange.forgetAnswer()
    exchange.upstreamStatus = 0
    exchange.retryAttempt++
    request.headers.set(ATTEMPT_HEADER, String(exchange.retryAttempt))
  }
}

/** For the trace; only the text of the failure registry. */
function outcomeOf({ response, failure }: Exchange): string {
  return response?.isLocal === false ? `status ${response.status}` : (failure ?? 'no response')
}

function dropBody(body: OutgoingBody): void {
  if (body instanceof IncomingBody && body.takeWhole(DRAINED_BYTES_MAX) !== undefined) return
  discardBody(body)
}
