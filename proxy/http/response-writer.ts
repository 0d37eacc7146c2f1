// Turns the response of an exchange into bytes for the client. Decides on framing, not on what the response is.
import type { Exchange } from '../exchange/exchange.ts'
import { BodyWriter, type BodyWriterOwner, discardBody } from './body-writer.ts'
import type { OutgoingBody } from '../message/body.ts'
import { type OutgoingFraming, responseHeadText } from '../message/head-text.ts'
import { IncomingBody } from '../message/incoming-body.ts'
import type { HttpResponse } from '../message/message.ts'
import { announcement, type TrailerSource } from '../message/trailer-fields.ts'
import type { Transport } from '../socket/transport.ts'
import { Tunnel } from '../socket/tunnel.ts'

export interface ResponseOwner {
  /** Everything left for the kernel (true), or the response broke and the connection has to go (false). */
  responseEnded(isComplete: boolean): void
  /** The head is written; the connection now belongs to the tunnel. */
  tunnelStarts(tunnel: Tunnel): void
}

export interface ResponseMode {
  /** The connection may continue after this response. */
  isKeepAlive: boolean
  is10: boolean
  isHead: boolean
  /** Set by the writer: only the end of the connection marks the end of the body. */
  endsByClose: boolean
}

export class ResponseWriter implements BodyWriterOwner {
  readonly #transport: Transport
  readonly #owner: ResponseOwner
  readonly #writer: BodyWriter
  readonly #flushed: () => void
  #exchange: Exchange | undefined = undefined

  constructor(transport: Transport, owner: ResponseOwner) {
    this.#transport = transport
    this.#owner = owner
    this.#writer = new BodyWriter(transport, this)
    this.#flushed = () => {
      this.#owner.responseEnded(true)
    }
  }

  /** `mode.isKeepAlive` is cleared when the response itself ends the connection. */
  send(exchange: Exchange, mode: ResponseMode): void {
    this.#exchange = exchange
    const response = sendable(exchange)
    const { body, status } = response
    if (body instanceof Tunnel) this.#sendTunnel(exchange, response, body)
    else if (mode.isHead || status === 204 || status === 304) this.#sendBodiless(response, mode)
    else {
      const trailers = trailersFor(exchange, response, mode)
      this.#sendWith(response, { framing: this.#writer.prepare(body, trailers), trailers, mode })
    }
  }

  /** Some of the response has yet to come from its source. */
  get isActive(): boolean {
    return this.#writer.isActive
  }

  /** The client is gone. */
  abort(): void {
    this.#countBytes()
    this.#exchange = undefined
    this.#writer.abort()
  }

  drained(): void {
    this.#writer.drained()
  }

  bodyWritten(isComplete: boolean): void {
    this.#countBytes()
    this.#exchange = undefined
    if (!isComplete) this.#owner.responseEnded(false)
    else if (this.#transport.writableLength === 0) this.#owner.responseEnded(true)
    else this.#transport.afterFlush(this.#flushed)
  }

  #sendWith(
    response: HttpResponse,
    {
      framing: wanted,
      trailers,
      mode,
    }: { framing: OutgoingFraming; trailers?: TrailerSource | undefined; mode: ResponseMode },
  ): void {
    const framing = wanted === 'Chunked' && mode.is10 ? 'Close' : wanted
    if (framing === 'Close') {
      mode.isKeepAlive = false
      mode.endsByClose = true
    }
    const names = framing === 'Chunked' ? announcement(trailers?.trailerNames) : undefined
    const head = headText(response, framing, mode, { keepsLength: false, trailerNames: names })
    if (head === undefined) this.#unfit(response, mode)
    else this.#writer.send(head, framing === 'Chunked')
  }

  #sendBodiless(response: HttpResponse, mode: ResponseMode): void {
    const { body, status } = response
    const mayTellLength = status !== 204 && status !== 304
    const framing = mayTellLength ? lengthOf(body) : 'None'
    const head = headText(response, framing, mode, { keepsLength: framing === 'None' && status !== 204 })
    discardBody(body)
    if (head === undefined) {
      this.#unfit(response, mode)
      return
    }
    this.#writer.prepare(undefined)
    this.#writer.send(head, false)
  }

  #sendTunnel(exchange: Exchange, response: HttpResponse, tunnel: Tunnel): void {
    const { status, headers } = response
    const connection = tunnel.protocol === undefined ? undefined : `upgrade\r\nupgrade: ${tunnel.protocol}`
    const head = responseHeadText({ status, headers, framing: 'None', connection, keepsLength: false })
    if (head === undefined) {
      tunnel.cancel()
      this.#owner.responseEnded(false)
      return
    }
    this.#transport.writeText(head)
    if (tunnel.early.length > 0) {
      tunnel.observer?.seen(tunnel.early, 0, tunnel.early.length)
      this.#transport.write(tunnel.early)
    }
    exchange.responseBytes += tunnel.early.length
    this.#exchange = undefined
    this.#owner.tunnelStarts(tunnel)
  }

  /** For a field with characters that HTTP does not allow: sends 500 instead, or else closes the connection. */
  #unfit(response: HttpResponse, mode: ResponseMode): void {
    const exchange = this.#exchange
    discardBody(response.body)
    if (exchange === undefined || (response.isLocal && exchange.reason === 'Internal')) {
      this.#owner.responseEnded(false)
      return
    }
    exchange.fail('internal', 'a response header has characters that HTTP does not allow')
    this.send(exchange, mode)
  }

  #countBytes(): void {
    if (this.#exchange !== undefined) this.#exchange.responseBytes += this.#writer.count
  }
}

function headText(
  response: HttpResponse,
  framing: OutgoingFraming,
  mode: ResponseMode,
  extra: { readonly keepsLength: boolean; readonly trailerNames?: string | undefined },
): string | undefined {
  return responseHeadText({
    status: response.status,
    headers: response.headers,
    framing,
    connection: mode.isKeepAlive ? (mode.is10 ? 'keep-alive' : undefined) : 'close',
    keepsLength: extra.keepsLength,
    trailerNames: extra.trailerNames,
  })
}

/**
 * RFC 9110 section 6.5.1: trailers go to clients that said they take them, and to any where the backend announced them
 * and so does without their being read.
 */
function trailersFor(
  { request }: Exchange,
  { trailerSource }: HttpResponse,
  mode: ResponseMode,
): TrailerSource | undefined {
  if (trailerSource === undefined || mode.is10) return undefined
  return trailerSource.trailerNames !== undefined || request.headers.get('te') === 'trailers'
    ? trailerSource
    : undefined
}

/** For HEAD: the length a GET would announce, if the gateway made the body itself. */
function lengthOf(body: OutgoingBody): OutgoingFraming {
  return typeof body === 'string' || Buffer.isBuffer(body) ? Buffer.byteLength(body) : 'None'
}

/** What can be sent: an impossible status, or no response at all, is a bug answered with 500. */
function sendable(exchange: Exchange): HttpResponse {
  const { response } = exchange
  if (response === undefined) return exchange.fail('internal', 'no response was created')
  const { status, body } = response
  if (body instanceof IncomingBody && !body.isUntouched)
    return exchange.fail('internal', 'response body was already read')
  // Filters may have taken long: the deadline is checked again.
  if (body instanceof IncomingBody && body.isFailed) return exchange.fail('responseBroken')
  const isSwitch = status === 101 && body instanceof Tunnel
  if (isSwitch || (Number.isInteger(status) && status >= 200 && status <= 599)) return response
  discardBody(body)
  return exchange.fail('internal', `impossible response status ${status}`)
}
