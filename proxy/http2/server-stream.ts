// One request of an HTTP/2 client: its stream becomes an exchange, the exchange's response becomes the stream's.
// Exactly one `finished` for each exchange. Independent of other streams.
import { constants, type ServerHttp2Stream } from 'node:http2'
import { FAILURES, type FailureCode } from '../exchange/errors.ts'
import { failureResponse } from '../exchange/failure-response.ts'
import { failByDefect } from '../exchange/defects.ts'
import { type Connection, Exchange } from '../exchange/exchange.ts'
import { BodyAborted, type OutgoingBody } from '../message/body.ts'
import { discardBody } from '../http/body-writer.ts'
import type { ConnectionFacts } from '../socket/connection-facts.ts'
import type { RequestHandler } from '../http/handler.ts'
import { type BodySource, IncomingBody, interruptBody } from '../message/incoming-body.ts'
import type { HttpResponse } from '../message/message.ts'
import { failStalled, STALLED } from '../http/stalled-body.ts'
import { Tunnel } from '../socket/tunnel.ts'
import { BodySender, type BodySenderOwner, isSendable, isStreamed, lengthOf, resetStream } from './body-sender.ts'
import { type EndOfStream, watchEnd } from './end-of-stream.ts'
import { responseFields, trailerFields } from './outgoing-fields.ts'
import { SmallFrames } from './small-frames.ts'
import { StreamTunnel } from './stream-tunnel.ts'
import { bodilessFraming, wholeOrStream } from './response-body.ts'
import { readRequestFields } from './request-fields.ts'
import { trailersOf } from './response-fields.ts'
import { ACCEPT_FIELD, KEY_FIELD, webSocketAccept } from '../message/websocket.ts'
import { WRITE_STALL_MS } from '../socket/write-stall.ts'

/** The connection of a stream. */
export interface StreamOwner {
  readonly id: number
  readonly facts: ConnectionFacts
  readonly isClosing: boolean
  /** Data went through: the connection is not idle. */
  active(): void
  drain(): void
  requestStarted(): void
  requestFinished(exchange: Exchange): void
  /** The stream is gone; `rstCode`: of a reset by either side. */
  streamClosed(stream: ServerStream, rstCode: number): void
}

/** RFC 9110: responses that have no content whatever they announce. */
const BODILESS = new Set([204, 205, 304])

export class ServerStream implements Connection, BodySource, BodySenderOwner {
  readonly #owner: StreamOwner
  readonly #stream: ServerHttp2Stream
  readonly #handler: RequestHandler
  #exchange: Exchange | undefined = undefined
  #incoming: IncomingBody | undefined = undefined
  #received = 0
  #owesContinue = false
  /** The client stopped in the middle of the body. */
  #hasStalled = false
  #isAnswered = false
  #isSent = false
  #sender: BodySender | undefined = undefined
  #response: HttpResponse | undefined = undefined
  /** Of a stream that may become a tunnel. */
  #end: EndOfStream | undefined = undefined
  #tunnel: StreamTunnel | undefined = undefined
  #abort: AbortController | undefined = undefined
  #isClosed = false
  /** Written when the sweep last looked, and since when that has not changed. */
  #writtenBytes = -1
  #stalledSinceMs = 0

  constructor(owner: StreamOwner, stream: ServerHttp2Stream, handler: RequestHandler) {
    this.#owner = owner
    this.#stream = stream
    this.#handler = handler
    // Resets and broken connections; what follows from them is done on `close`.
    stream.on('error', () => {})
    stream.once('close', () => this.#closed())
  }

  // --- Connection ---

  get id(): number {
    return this.#owner.id
  }

  get sourceAddress(): string {
    return this.#owner.facts.sourceAddress
  }

  get sourcePort(): number {
    return this.#owner.facts.sourcePort
  }

  get localAddress(): string {
    return this.#owner.facts.localAddress
  }

  get localPort(): number {
    return this.#owner.facts.localPort
  }

  get isTls(): boolean {
    return this.#owner.facts.isTls
  }

  get sni(): string | undefined {
    return this.#owner.facts.sni
  }

  get peer(): ConnectionFacts['peer'] {
    return this.#owner.facts.peer
  }

  get origin(): ConnectionFacts['origin'] {
    return this.#owner.facts.origin
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController()
    if (this.#isClosed) this.#abort.abort()
    return this.#abort.signal
  }

  close(): void {
    this.#owner.drain()
  }

  cut(exchange: Exchange, code: FailureCode): boolean {
    if (exchange !== this.#exchange) return true
    if (this.#isAnswered && this.#sender?.isActive === true) {
      exchange.breakOff(code)
      resetStream(this.#stream, constants.NGHTTP2_INTERNAL_ERROR)
    }
    return this.#isAnswered
  }

  get running(): Exchange | undefined {
    return this.#exchange
  }

  // --- request ---

  begin(raw: readonly string[], options: { readonly isEnded: boolean; readonly headerBytesMax: number }): void {
    const { isTls } = this.#owner.facts
    const head = readRequestFields(raw, { isTls, headerBytesMax: options.headerBytesMax })
    if ('code' in head) {
      this.#refuse(head.code, head.detail)
      return
    }
    const { request, contentLength } = head
    if (options.isEnded && contentLength !== undefined && contentLength > 0) {
      this.#refuse('invalidRequest', 'content-length without a body')
      return
    }
    const exchange = new Exchange(this, request, performance.now())
    this.#exchange = exchange
    this.#owner.requestStarted()
    if (request.method === 'CONNECT' || request.upgrade !== undefined) {
      // No body: what follows is the tunnel's, or of no use.
      this.#end = watchEnd(this.#stream)
      this.#stream.pause()
    } else if (!options.isEnded) {
      this.#owesContinue = head.expectsContinue
      request.body = this.#receive(contentLength, head.trailerNames)
      request.trailerSource = request.body
    }
    this.#handle(exchange)
  }

  /** Beyond what the connection may have open. */
  refuseUnseen(): void {
    resetStream(this.#stream, constants.NGHTTP2_REFUSED_STREAM)
  }

  #handle(exchange: Exchange): void {
    try {
      this.#handler.handle(exchange, (answered) => this.#answer(answered))
    } catch (error) {
      // A bug behind the seam costs one request, not the worker.
      failByDefect(exchange, 'request', error)
      this.#answer(exchange)
    }
  }

  #receive(contentLength: number | undefined, trailerNames: string | undefined): IncomingBody {
    const stream = this.#stream
    const end = watchEnd(stream)
    const body = new IncomingBody(this, contentLength)
    body.expectTrailers(trailerNames)
    this.#incoming = body
    stream.pause()
    const frames = new SmallFrames((chunk) => this.#passOn(body, chunk))
    stream.on('data', (chunk: Buffer) => this.#takeData(body, frames, chunk))
    stream.on('trailers', (_trailers, _flags, raw?: string[]) => {
      body.trailers = trailersOf(raw ?? [])
    })
    stream.once('end', () => {
      frames.flush()
      this.#takeEnd(body, end)
    })
    return body
  }

  #takeData(body: IncomingBody, frames: SmallFrames, chunk: Buffer): void {
    this.#owesContinue = false
    this.#owner.active()
    this.#received += chunk.length
    if (this.#incoming !== body) return
    if (body.length !== undefined && this.#received > body.length) {
      this.#breakBody(body, 'more data than content-length')
      return
    }
    frames.take(chunk)
  }

  #passOn(body: IncomingBody, chunk: Buffer): void {
    body.push(chunk, 0, chunk.length)
    body.settle()
  }

  #takeEnd(body: IncomingBody, end: EndOfStream): void {
    if (this.#incoming !== body) return
    const isShort = body.length !== undefined && this.#received !== body.length
    if (isShort || !end.hasEnded) {
      this.#breakBody(body, 'the stream ended before the body was complete')
      return
    }
    this.#incoming = undefined
    body.end()
  }

  #breakBody(body: IncomingBody, detail: string): void {
    this.#incoming = undefined
    if (!this.#isAnswered) this.#exchange?.upstreamCall?.abort('invalidRequest')
    body.fail(new BodyAborted(detail))
    resetStream(this.#stream, constants.NGHTTP2_PROTOCOL_ERROR)
  }

  // --- BodySource ---

  pauseBody(): void {
    this.#stream.pause()
  }

  resumeBody(): void {
    if (this.#isClosed) return
    if (this.#owesContinue && !this.#stream.headersSent && !this.#stream.closed) {
      this.#stream.additionalHeaders({ ':status': 100 })
    }
    this.#owesContinue = false
    this.#stream.resume()
  }

  cancelBody(): void {
    this.#incoming = undefined
    if (this.#isSent) this.#stopRequest()
    else this.#stream.pause()
  }

  // --- response ---

  #answer(exchange: Exchange): void {
    if (exchange !== this.#exchange || this.#isAnswered) return
    this.#isAnswered = true
    if (this.#isClosed || this.#stream.closed || this.#stream.destroyed) {
      discardBody(exchange.response?.body)
      if (this.#isClosed) this.#finish(false)
      return
    }
    if (this.#hasStalled) failStalled(exchange)
    this.#send(exchange)
  }

  #send(exchange: Exchange): void {
    const response = sendable(exchange)
    this.#response = response
    const { status, headers } = response
    if (response.body instanceof Tunnel) {
      this.#sendTunnel(exchange, response, response.body)
      return
    }
    if (exchange.request.upgrade !== undefined && status < 300) {
      // To the client it would be the tunnel that it asked for.
      discardBody(response.body)
      exchange.failVisibly('upgradeFailed', `the backend answered ${status} and did not switch protocols`)
      this.#send(exchange)
      return
    }
    const isBodiless = exchange.request.method === 'HEAD' || BODILESS.has(status)
    const body = isBodiless ? undefined : wholeOrStream(response.body)
    const framing = isBodiless ? bodilessFraming(response) : { length: lengthOf(body), keepsLength: false }
    const fields = responseFields({ status, headers, ...framing })
    if (fields === undefined) {
      this.#unfit(exchange, response)
      return
    }
    if (isBodiless) discardBody(response.body)
    if (body === undefined) {
      this.#stream.respond(fields, { endStream: true })
      this.bodySent(true)
    } else this.#sendBody(fields, body)
  }

  #sendTunnel(exchange: Exchange, response: HttpResponse, tunnel: Tunnel): void {
    if (response.status === 101 && !becomesAnswer(exchange, response)) {
      tunnel.cancel()
      exchange.failVisibly(
        'upgradeFailed',
        'the backend sent a wrong Sec-WebSocket-Accept for the key of the handshake',
      )
      this.#send(exchange)
      return
    }
    const { status, headers } = response
    const fields = responseFields({ status, headers, length: undefined, keepsLength: false })
    if (fields === undefined || this.#end === undefined) {
      this.#unfit(exchange, response)
      return
    }
    this.#stream.respond(fields, { waitForTrailers: true })
    this.#isSent = true
    this.#tunnel = new StreamTunnel(this.#stream, tunnel, this.#end)
  }

  #sendBody(fields: string[], body: NonNullable<OutgoingBody>): void {
    // Streams wait for trailers even if none come: otherwise node would end the stream before it resets it,
    // and a body that was cut short would look whole.
    const waitForTrailers = isStreamed(body) || this.#response?.trailerSource !== undefined
    this.#stream.respond(fields, { waitForTrailers })
    if (waitForTrailers) {
      this.#stream.once('wantTrailers', () => {
        if (this.#isSent && !this.#stream.closed) this.#stream.sendTrailers(trailerFields(this.#response?.trailers))
      })
    }
    const sender = new BodySender(this.#stream, this, false)
    this.#sender = sender
    this.#stream.on('drain', () => {
      this.#owner.active()
      sender.drained()
    })
    sender.send(body)
  }

  bodySent(isComplete: boolean): void {
    if (!isComplete) {
      // A body cut short must not look whole.
      resetStream(this.#stream, constants.NGHTTP2_INTERNAL_ERROR)
      return
    }
    this.#isSent = true
    if (this.#stream.writableFinished) this.#stopRequest()
    else this.#stream.once('finish', () => this.#stopRequest())
  }

  /** The response is out: what the client still sends is of no use (RFC 9113 section 8.1). */
  #stopRequest(): void {
    const body = this.#incoming
    this.#incoming = undefined
    body?.fail(new BodyAborted('the response is complete'))
    if (this.#stream.readableEnded || this.#stream.endAfterHeaders) return
    if (!this.#stream.writableFinished) return
    resetStream(this.#stream, constants.NGHTTP2_NO_ERROR)
    // Lets the stream see its end; the data is dropped.
    this.#stream.resume()
  }

  /** For a field with characters that HTTP does not allow: sends 500 instead, or else resets the stream. */
  #unfit(exchange: Exchange, response: HttpResponse): void {
    discardBody(response.body)
    if (response.isLocal && exchange.reason === 'Internal') {
      resetStream(this.#stream, constants.NGHTTP2_INTERNAL_ERROR)
      return
    }
    exchange.fail('internal', 'a response header has characters that HTTP does not allow')
    this.#send(exchange)
  }

  /** Malformed: there is no exchange. */
  #refuse(code: FailureCode, detail: string): void {
    const { sourceAddress, sourcePort } = this.#owner.facts
    const { status } = FAILURES[code]
    this.#handler.refused({ sourceAddress, sourcePort, status, detail })
    const response = failureResponse(code)
    const body = Buffer.from(FAILURES[code].text)
    const fields = responseFields({ status, headers: response.headers, length: body.length, keepsLength: false })
    const stream = this.#stream
    if (fields === undefined || stream.closed || stream.destroyed) return
    stream.respond(fields)
    stream.end(body, () => resetStream(stream, constants.NGHTTP2_PROTOCOL_ERROR))
  }

  // --- end ---

  #closed(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    const isReset = this.#stream.rstCode !== constants.NGHTTP2_NO_ERROR
    const isComplete = this.#isSent && (!isReset || this.#stream.writableFinished)
    const body = this.#incoming
    this.#incoming = undefined
    body?.fail(new BodyAborted('client closed the stream'))
    // Before the signal, which fails the body of the backend: nothing reports that failure.
    this.#sender?.abort()
    this.#abort?.abort()
    const exchange = this.#exchange
    if (exchange !== undefined) {
      if (!this.#isAnswered) {
        exchange.upstreamCall?.abort('upstreamFailure')
        // A filter may wait for the rest of the answer.
        interruptBody(exchange.response?.body, 'client closed the stream')
      }
      // Otherwise the handler's answer is waited for, so that `finished` comes last.
      if (this.#isAnswered) this.#finish(isComplete)
    }
    this.#owner.streamClosed(this, this.#stream.rstCode)
  }

  #finish(isComplete: boolean): void {
    const exchange = this.#exchange
    if (exchange === undefined) return
    this.#exchange = undefined
    exchange.responseBytes += this.#sentBytes
    this.#owner.requestFinished(exchange)
    this.#handler.finished(exchange, isComplete)
  }

  // --- time ---

  /** A client that never opens its window, or has stopped sending a body that is waited for. */
  sweep(nowMs: number): void {
    const waits = this.#stream.writableLength > 0 || this.#isWaitingForBody
    this.#tunnel?.sweep(nowMs)
    const progress = this.#sentBytes - this.#stream.writableLength + this.#received
    if (!waits || progress !== this.#writtenBytes) this.#stalledSinceMs = nowMs
    this.#writtenBytes = progress
    const isStalling = this.#stallsBeforeAnswer
    if (nowMs - this.#stalledSinceMs < this.#patienceMs(isStalling)) return
    if (isStalling) this.#bodyStalls()
    else resetStream(this.#stream)
  }

  #patienceMs(isStalling: boolean): number {
    const { idleTimeoutMs, bodyIdleTimeoutMs } = this.#handler.limits
    if (isStalling) return Math.min(idleTimeoutMs, bodyIdleTimeoutMs)
    return this.#isWaitingForBody ? idleTimeoutMs : WRITE_STALL_MS
  }

  /** Messages of gRPC may be far apart: a call lives for as long as its client says. */
  get #stallsBeforeAnswer(): boolean {
    return this.#isWaitingForBody && !this.#isAnswered && this.#exchange?.isGrpc === false
  }

  /** Fails the read of the body; whatever the reader answers, the response is 408. */
  #bodyStalls(): void {
    const body = this.#incoming
    this.#incoming = undefined
    this.#hasStalled = true
    this.#exchange?.upstreamCall?.abort('requestTimeoutRead')
    body?.fail(new BodyAborted(STALLED))
  }

  get #sentBytes(): number {
    return this.#sender?.count ?? this.#tunnel?.sentBytes ?? 0
  }

  get #isWaitingForBody(): boolean {
    return this.#incoming !== undefined && !this.#stream.isPaused() && this.#stream.writableLength === 0
  }
}

/**
 * Turns the 101 of a backend into the 200 of HTTP/2 (RFC 8441 section 5). False: it is no answer to the key that the
 * proxy made, so perhaps none of a WebSocket server at all.
 */
function becomesAnswer({ request }: Exchange, response: HttpResponse): boolean {
  const key = request.headers.get(KEY_FIELD)
  if (key === undefined || response.headers.get(ACCEPT_FIELD) !== webSocketAccept(key)) return false
  response.headers.remove(ACCEPT_FIELD)
  response.status = 200
  return true
}

/** What can be sent: an impossible status, or no response at all, is a bug answered with 500. */
function sendable(exchange: Exchange): HttpResponse {
  const { response } = exchange
  if (response === undefined) return exchange.fail('internal', 'no response was created')
  const { status, body } = response
  if (!isSendable(body)) return exchange.fail('internal', 'response body was already read')
  // Filters may have taken long: the deadline is checked again.
  if (body instanceof IncomingBody && body.isFailed) return exchange.fail('responseBroken')
  const isSwitch = status === 101 && body instanceof Tunnel
  if (isSwitch || (Number.isInteger(status) && status >= 200 && status <= 599)) return response
  discardBody(body)
  return exchange.fail('internal', `impossible response status ${status}`)
}
