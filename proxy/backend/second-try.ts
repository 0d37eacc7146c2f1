// A request in the form that it had before a try, so that it can be sent again, and the step from one try to the next.
// Used for retries, and where a backend refused a credential. Must not decide whether a request is sent again.
import type { Exchange } from '../exchange/exchange.ts'
import { pause } from '../exchange/pause.ts'
import type { SentCredential } from '../exchange/slots.ts'
import { discardBody } from '../http/body-writer.ts'
import type { OutgoingBody } from '../message/body.ts'
import type { HeaderList } from '../message/headers.ts'
import { IncomingBody } from '../message/incoming-body.ts'
import { endEndpoint } from './health.ts'

/** A larger request body is not kept, and the request not repeated (data-plane supplement section 1.7). */
export const REPLAY_BYTES_MAX = 65_536
/** The rest of a dropped response is read, up to this, if it has arrived: its connection can be reused. */
const DRAINED_BYTES_MAX = 65_536

const ATTEMPT_HEADER = 'x-retry-attempt'

type Next = (exchange: Exchange) => void

export interface NextTry {
  readonly again: Next
  /** The client left: the exchange has failed. */
  readonly finish: Next
}

export class KeptRequest {
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

  constructor(exchange: Exchange, body: Buffer | undefined) {
    const { request } = exchange
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

  /** The exchange is as before the try. */
  restore(exchange: Exchange): void {
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
    exchange.credential = undefined
    exchange.forgetAnswer()
    exchange.upstreamStatus = 0
  }
}

/**
 * For a backend that may refuse a credential. Reads a body whose length is known to be within the limit. undefined: the
 * body is larger or its end is open, so that the request cannot be sent again. Rejects if the client's body breaks.
 *
 * @param isReadWhole the backend is called when the whole body is there, in any case
 */
export function keepRequest(
  exchange: Exchange,
  { bytesMax, isReadWhole }: { readonly bytesMax: number; readonly isReadWhole: boolean },
): KeptRequest | undefined | Promise<KeptRequest | undefined> {
  const { body } = exchange.request
  if (body === undefined || Buffer.isBuffer(body)) return new KeptRequest(exchange, body)
  const isEnded = body instanceof IncomingBody && body.isEnded
  const length = body.length ?? (isReadWhole || isEnded ? 0 : Infinity)
  // A gRPC client may wait for responses before it sends the rest.
  if (length > bytesMax || (exchange.isGrpc && !isEnded)) return undefined
  return body.tryCollect(bytesMax).then((whole) => {
    if (whole === undefined) return undefined
    exchange.request.body = whole
    return new KeptRequest(exchange, whole)
  })
}

/** The backend refused the fetched credential of this try, and another one can be had. Once for a request. */
export function isCredentialRefused(exchange: Exchange, answer: Parameters<SentCredential['renew']>[0]): boolean {
  const { credential, isCredentialRenewed } = exchange
  if (credential === undefined) return false
  exchange.credential = undefined
  // Also for a request that cannot be sent again: the next one gets another credential.
  const isRenewed = credential.renew(answer)
  if (!isRenewed || isCredentialRenewed) return false
  exchange.isCredentialRenewed = true
  return true
}

/** Counts one more try, and shows its number to the backend. */
export function markAttempt(exchange: Exchange): void {
  exchange.retryAttempt++
  exchange.request.headers.set(ATTEMPT_HEADER, String(exchange.retryAttempt))
}

/** Of a try, for trace and log: only the text of the failure registry. */
export function outcomeOf({ response, failure }: Exchange): string {
  return response?.isLocal === false ? `status ${response.status}` : (failure ?? 'no response')
}

/** Charges the endpoint for its response. */
export function endTry(exchange: Exchange): void {
  if (exchange.response?.isLocal === false) exchange.upstreamStatus = exchange.response.status
  endEndpoint(exchange, true)
}

/** Drops the response of a try that has ended, and starts the next one after a wait. */
export function startNextTry(exchange: Exchange, kept: KeptRequest, waitMs: number, { again, finish }: NextTry): void {
  const body = exchange.response?.body
  // Never within the call that returned the response: its connection is still in use.
  void pause(exchange, waitMs).then((isWaited) => {
    dropBody(body)
    if (!isWaited) {
      finish(exchange)
      return
    }
    kept.restore(exchange)
    again(exchange)
  })
}

/** Of a response that nothing gets. */
export function dropBody(body: OutgoingBody): void {
  if (body instanceof IncomingBody && body.takeWhole(DRAINED_BYTES_MAX) !== undefined) return
  discardBody(body)
}
