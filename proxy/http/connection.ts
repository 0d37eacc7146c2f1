// One client connection: reads requests strictly in order, hands them to the handler, keeps time. Writing is response-
// writer.ts.
import { failByDefect } from '../exchange/defects.ts'
import { Exchange, type Connection } from '../exchange/exchange.ts'
import { FAILURES, type FailureCode } from '../exchange/errors.ts'
import { failureResponse } from '../exchange/failure-response.ts'
import { BodyAborted } from '../message/body.ts'
import { ByteMeter } from './byte-meter.ts'
import { BAD_CHUNKS, ChunkedDecoder, CHUNKS_PER_TURN } from './chunked.ts'
import { QUIET_MS } from './closing.ts'
import type { HandlerSlot, Http2Takeover, RequestHandler } from './handler.ts'
import { nextConnectionId } from '../socket/connection-id.ts'
import { type ConnectionFacts, KnownPeer } from '../socket/connection-facts.ts'
import type { ConnectionOwner } from './connection-owner.ts'
import { CONTINUE, responseHeadText } from '../message/head-text.ts'
import { type BodySource, IncomingBody, interruptBody } from '../message/incoming-body.ts'
import type { Sweepable } from '../socket/deadlines.ts'
import { HTTP2_PREFACE, IS_HTTP2, RequestParser, type RequestHead } from './request-parser.ts'
import { discardBody } from './body-writer.ts'
import { failStalled, STALLED } from './stalled-body.ts'
import { type ResponseMode, type ResponseOwner, ResponseWriter } from './response-writer.ts'
import { type Awaited, LINGER_BYTES_MAX, Patience } from './patience.ts'
import { NO_USER, type Transport, type TransportUser } from '../socket/transport.ts'
import { splice, type Tunnel } from '../socket/tunnel.ts'
import { TunnelWatch } from '../socket/tunnel-watch.ts'
import { WriteStall } from '../socket/write-stall.ts'

const State = { Head: 0, Busy: 1, Flushing: 2, Tunnel: 3, Linger: 4, Closed: 5 } as const
type State = (typeof State)[keyof typeof State]

/**
 * Requests of one read that are begun before others have their turn, if each is answered at once. A turn may bring
 * 2 MiB of reads, which is 70,000 requests, or 2 s.
 */
const REQUESTS_PER_TURN = 64

export class ServerConnection
  extends KnownPeer
  implements Connection, TransportUser, BodySource, Sweepable, ResponseOwner
{
  readonly id = nextConnectionId()
  readonly #owner: ConnectionOwner<ServerConnection>
  readonly #slot: HandlerSlot
  readonly #transport: Transport
  readonly #writer: ResponseWriter
  readonly #meter: ByteMeter
  readonly #parser: RequestParser
  readonly #respond = (exchange: Exchange): void => {
    this.#answer(exchange)
  }
  readonly #openedMs = performance.now()
  #state: State = State.Head
  #handler: RequestHandler
  #exchange: Exchange | undefined = undefined
  #isAnswered = false
  readonly #mode: ResponseMode = { isKeepAlive: true, is10: false, isHead: false, endsByClose: false }
  /** Request body still on its way; undefined when all of it has arrived. */
  #incoming: IncomingBody | undefined = undefined
  #bodyLeft = 0
  #chunked: ChunkedDecoder | undefined = undefined
  #owesContinue = false
  /** The client stopped in the middle of the body. */
  #hasStalled = false
  /** Bytes behind the running request (at most one read), kept until it is answered. */
  #held: Buffer | undefined = undefined
  #isClosing = false
  /** Older than allowed: the next response is the last one. An idle one is not cut, for a request may be on its way. */
  #isOld = false
  readonly #patience = new Patience()
  readonly #stall = new WriteStall()
  #tunnel: TunnelWatch | undefined = undefined
  #lingerBytes = 0
  #abort: AbortController | undefined = undefined

  constructor(options: {
    owner: ConnectionOwner<ServerConnection>
    slot: HandlerSlot
    facts: ConnectionFacts
    open: (user: TransportUser) => Transport
  }) {
    const { owner, slot, facts } = options
    super(facts)
    this.#owner = owner
    this.#slot = slot
    this.#handler = slot.current
    this.#parser = new RequestParser(facts.isTls ? 'https' : 'http')
    this.#transport = options.open(this)
    this.#writer = new ResponseWriter(this.#transport, this)
    this.#meter = new ByteMeter(this.#transport.socket, facts.isTls)
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController()
    if (this.#state === State.Closed) this.#abort.abort()
    return this.#abort.signal
  }

  /** The request that is under way; undefined between requests. */
  get running(): Exchange | undefined {
    return this.#exchange
  }

  /** Since when it waits for a request, or for its end, as the sweep saw it. */
  get idleSinceMs(): number | undefined {
    return this.#incoming === undefined && this.#awaited !== undefined ? this.#patience.sinceMs || undefined : undefined
  }

  /** Bytes waiting for the client to take them. */
  get bufferedBytes(): number {
    return this.#transport.writableLength + (this.#held?.length ?? 0)
  }

  close(): void {
    this.#isClosing = true
  }

  cut(exchange: Exchange, code: FailureCode): boolean {
    if (exchange !== this.#exchange) return true
    if (this.#isAnswered && this.#writer.isActive) {
      exchange.breakOff(code)
      this.#breakOff()
    }
    return this.#isAnswered
  }

  /** Ends an idle connection now, a busy one after its response; a young one has a while to be used. */
  drain(): void {
    this.#isClosing = true
    const isYoung = performance.now() - this.#openedMs < QUIET_MS
    if (this.#state === State.Head && this.#parser.isIdle && this.#held === undefined && !isYoung) this.#linger()
  }

  destroy(): void {
    this.#transport.destroy()
  }

  // --- TransportUser ---

  bytes(buffer: Buffer, start: number, end: number): void {
    if (this.#state >= State.Linger) this.#dropLate(end - start)
    else if (this.#held === undefined) this.#consume(buffer, start, end)
    else this.#held = Buffer.concat([this.#held, buffer.subarray(start, end)])
  }

  ended(): void {
    // Half-close: a client that is done sending is taken to be gone, as by most proxies (a closed socket looks the
    // same,
    // and a backend that works for no client costs money); only a response that is wholly written is let go first.
    if (this.#state === State.Flushing && !this.#writer.isActive) this.#isClosing = true
    else this.#transport.destroy()
  }

  drained(): void {
    this.#writer.drained()
  }

  closed(): void {
    if (this.#state === State.Closed) return
    this.#state = State.Closed
    this.#held = undefined
    this.#incoming?.fail(new BodyAborted('client closed the connection'))
    this.#incoming = undefined
    // Before the signal, which fails the body of the backend: nothing reports that failure.
    this.#writer.abort()
    this.#abort?.abort()
    this.#abandon()
    this.#meter.report(this.#handler)
    this.#owner.connectionClosed(this)
  }

  // --- reading ---

  #consume(buffer: Buffer, start: number, end: number): void {
    let at = start
    let heads = 0
    while (at < end) {
      if (this.#incoming !== undefined) at = this.#takeBody(buffer, at, end)
      else if (this.#state === State.Head && heads++ < REQUESTS_PER_TURN) at = this.#takeHead(buffer, at, end)
      else if (this.#state >= State.Linger) return
      else {
        this.#hold(buffer, at, end)
        if (this.#state === State.Head) setImmediate(() => this.#takeHeld())
        break
      }
    }
    this.#incoming?.settle()
  }

  /** Pipelined requests wait in the kernel but for the rest of this read. */
  #hold(buffer: Buffer, start: number, end: number): void {
    this.#held = Buffer.from(buffer.subarray(start, end))
    this.#transport.pause()
  }

  #takeHead(buffer: Buffer, start: number, end: number): number {
    if (this.#parser.isIdle) {
      this.#patience.renew()
      this.#handler = this.#slot.current
    }
    const head = this.#parser.feed(buffer, { start, end }, this.#handler.limits)
    if (head === undefined) return end
    if ('code' in head) {
      const { http2 } = this.#owner
      if (head === IS_HTTP2 && http2 !== undefined) this.#handOver(http2, buffer.subarray(this.#parser.next, end))
      else this.#refuseWith(head.code, head.detail)
      return end
    }
    return this.#begin(head, buffer, this.#parser.next, end)
  }

  #handOver(http2: Http2Takeover, rest: Buffer): void {
    const early = Buffer.concat([Buffer.from(HTTP2_PREFACE, 'latin1'), rest])
    this.#state = State.Closed
    this.#transport.pause()
    this.#transport.user = NO_USER
    this.#owner.connectionClosed(this)
    http2(this.#transport.socket, early, { facts: this, slot: this.#slot })
  }

  #begin(head: RequestHead, buffer: Buffer, start: number, end: number): number {
    const { request, contentLength } = head
    const exchange = new Exchange(this, request, performance.now())
    this.#state = State.Busy
    this.#exchange = exchange
    this.#isAnswered = false
    this.#patience.renew()
    this.#mode.isKeepAlive = head.isKeepAlive
    this.#mode.is10 = request.version === 'HTTP/1.0'
    this.#mode.isHead = request.method === 'HEAD'
    this.#mode.endsByClose = false
    this.#owner.requestStarted()
    let at = start
    let body: IncomingBody | undefined
    if (contentLength !== 0) {
      this.#chunked = contentLength === undefined ? new ChunkedDecoder() : undefined
      this.#bodyLeft = contentLength ?? 0
      this.#owesContinue = head.expectsContinue
      body = new IncomingBody(this, contentLength)
      if (this.#chunked !== undefined) request.trailerSource = body.expectTrailers(head.trailerNames)
      this.#incoming = body
      request.body = body
      // What is here already goes in first, so that a small body can leave together with the head.
      if (at < end) at = this.#takeBody(buffer, at, end)
      if (this.#chunked?.isBad === true) {
        this.#exchange = undefined
        this.#owner.requestFinished()
        this.#refuseWith('invalidRequest', BAD_CHUNKS)
        return end
      }
    }
    try {
      this.#handler.handle(exchange, this.#respond)
    } catch (error) {
      // A bug behind the seam costs one request, not the worker.
      failByDefect(exchange, 'request', error)
      this.#answer(exchange)
    }
    body?.settle()
    return at
  }

  #takeBody(buffer: Buffer, start: number, end: number): number {
    const body = this.#incoming
    if (body === undefined) return start
    this.#owesContinue = false
    this.#patience.renew()
    if (this.#chunked === undefined) {
      const stop = Math.min(end, start + this.#bodyLeft)
      this.#bodyLeft -= stop - start
      body.push(buffer, start, stop)
      if (this.#bodyLeft === 0) this.#bodyDone(body)
      return stop
    }
    const at = this.#chunked.decode(buffer, { start, end }, body)
    if (this.#chunked.takeCount() > CHUNKS_PER_TURN) this.#transport.yieldTurn()
    if (this.#chunked.isDone) this.#bodyDone(body)
    else if (this.#chunked.isBad) {
      this.#incoming = undefined
      this.#badChunks(body)
      return end
    }
    return at
  }

  #bodyDone(body: IncomingBody): void {
    this.#incoming = undefined
    body.endWith(this.#chunked?.trailers)
    // Read on, or the client's leaving would go unseen.
    this.#transport.resume()
  }

  /** Broken framing: a call that waits for its answer becomes a 400, a response that is under way is cut. */
  #badChunks(body: IncomingBody): void {
    this.cancelBody()
    const exchange = this.#exchange
    if (this.#state === State.Busy) exchange?.upstreamCall?.abort('invalidRequest')
    body.fail(new BodyAborted(BAD_CHUNKS))
    if (this.#state === State.Flushing) this.#transport.destroy()
  }

  // --- BodySource ---

  pauseBody(): void {
    this.#transport.pause()
  }

  resumeBody(): void {
    if (this.#state === State.Closed) return
    if (this.#owesContinue) {
      this.#owesContinue = false
      this.#transport.writeText(CONTINUE)
    }
    if (this.#held === undefined) this.#transport.resume()
  }

  cancelBody(): void {
    this.#mode.isKeepAlive = false
    this.#isClosing = true
  }

  // --- answering ---

  #answer(exchange: Exchange): void {
    if (exchange !== this.#exchange || this.#isAnswered) return
    this.#isAnswered = true
    if (this.#state === State.Closed) {
      discardBody(exchange.response?.body)
      this.#finish(exchange, false)
      return
    }
    if (this.#hasStalled) failStalled(exchange)
    // The rest of an unread body would be taken for the next request.
    if (this.#isClosing || this.#isOld || this.#incoming !== undefined || this.#owner.isDraining) {
      this.#mode.isKeepAlive = false
    }
    this.#state = State.Flushing
    this.#writer.send(exchange, this.#mode)
  }

  responseEnded(isComplete: boolean): void {
    const exchange = this.#exchange
    if (exchange === undefined || this.#state === State.Closed) return
    if (!isComplete) {
      this.#breakOff()
      return
    }
    this.#finish(exchange, true)
    this.#patience.renew()
    if (!this.#mode.isKeepAlive || this.#isClosing || this.#incoming !== undefined) {
      this.#linger()
      return
    }
    this.#state = State.Head
    if (this.#held === undefined) this.#transport.resume()
    else this.#takeHeld()
  }

  #takeHeld(): void {
    const held = this.#held
    if (held === undefined || this.#state !== State.Head) return
    this.#held = undefined
    this.#consume(held, 0, held.length)
    // Read on only when nothing was put back.
    if (this.#held === undefined && this.#incoming === undefined) this.#transport.resume()
  }

  /** A response cut short must not look whole. */
  #breakOff(): void {
    if (this.#mode.endsByClose) this.#transport.reset()
    else this.#transport.destroy()
  }

  tunnelStarts(tunnel: Tunnel): void {
    const exchange = this.#exchange
    this.#state = State.Tunnel
    const held = this.#held
    this.#held = undefined
    if (held !== undefined) tunnel.transport.write(held)
    const done = (bytesToClient: number): void => {
      this.#state = State.Closed
      if (exchange !== undefined) {
        exchange.responseBytes += bytesToClient
        this.#finish(exchange, true)
      }
      this.#meter.report(this.#handler)
      this.#owner.connectionClosed(this)
    }
    const movedBytes = splice(this.#transport, tunnel.transport, { done, observer: tunnel.observer })
    this.#tunnel = new TunnelWatch({ peer: tunnel.transport, movedBytes })
  }

  #finish(exchange: Exchange, isComplete: boolean): void {
    this.#exchange = undefined
    this.#owner.requestFinished()
    this.#meter.place = exchange.place
    this.#handler.finished(exchange, isComplete)
  }

  /**
   * The client left while its request was running. `finished` waits for the handler's answer, so that it comes
   * last.
   */
  #abandon(): void {
    const exchange = this.#exchange
    if (exchange === undefined) return
    if (this.#isAnswered) this.#finish(exchange, false)
    else {
      exchange.upstreamCall?.abort('upstreamFailure')
      // A filter may wait for the rest of the answer.
      interruptBody(exchange.response?.body, 'client closed the connection')
    }
  }

  #refuseWith(code: FailureCode, detail: string): void {
    const { sourceAddress, sourcePort } = this
    const response = failureResponse(code)
    const { status, text } = FAILURES[code]
    this.#handler.refused({ sourceAddress, sourcePort, status, detail })
    const { headers } = response
    const head = responseHeadText({ status, headers, framing: text.length, connection: 'close', keepsLength: false })
    if (head !== undefined) this.#transport.writeText(head + text)
    this.#linger()
  }

  #linger(): void {
    this.#state = State.Linger
    this.#held = undefined
    this.#incoming?.fail(new BodyAborted('the response is complete'))
    this.#incoming = undefined
    this.#patience.renew()
    this.#transport.end()
    this.#transport.resume()
  }

  #dropLate(bytes: number): void {
    this.#lingerBytes += bytes
    if (this.#lingerBytes > LINGER_BYTES_MAX) this.#transport.destroy()
  }

  // --- time ---

  sweep(nowMs: number): void {
    const { limits } = this.#slot.current
    const { maxConnectionDurationMs = Infinity } = limits
    this.#meter.report(this.#handler, this.#exchange)
    if (nowMs - this.#openedMs >= maxConnectionDurationMs) this.#isOld = true
    this.#sweepWrites(nowMs)
    const awaited = this.#awaited
    if (awaited !== undefined && this.#patience.isOver(awaited, nowMs, limits)) this.#outOfPatience(awaited)
  }

  #sweepWrites(nowMs: number): void {
    if (this.#stall.isOverdue(this.#transport, nowMs)) this.#transport.destroy()
    if (this.#tunnel?.isOverdue(nowMs) === true) this.#transport.destroy()
  }

  /** undefined: nothing of the client's. */
  get #awaited(): Awaited | undefined {
    if (this.#state === State.Linger) return 'End'
    if (this.#state === State.Head) {
      if (!this.#parser.isIdle) return 'Head'
      return this.#isClosing ? 'LastRequest' : 'Request'
    }
    const isBody = this.#incoming !== undefined && !this.#transport.isPaused && this.#state !== State.Tunnel
    if (!isBody) return undefined
    return this.#isAnswered ? 'Rest' : 'Body'
  }

  #outOfPatience(awaited: Awaited): void {
    if (awaited === 'Head') this.#refuseWith('requestTimeoutRead', 'request head not complete in time')
    else if (awaited === 'Body') this.#bodyStalls()
    else if (this.#state === State.Head) this.#linger()
    else this.#transport.destroy()
  }

  /** The reader of the body gets an error, and in every case the answer is 408. */
  #bodyStalls(): void {
    const body = this.#incoming
    this.#incoming = undefined
    this.#hasStalled = true
    this.cancelBody()
    this.#exchange?.upstreamCall?.abort('requestTimeoutRead')
    body?.fail(new BodyAborted(STALLED))
  }
}
