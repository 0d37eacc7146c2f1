// One connection to a backend: sends a request, reads its response, one at a time. Whether it lives on is decided here.
import { type Diagnosis, peerProblem, shown } from '../exchange/diagnosis.ts'
import { BodyAborted } from '../message/body.ts'
import { BodyWriter, type BodyWriterOwner, discardBody } from '../http/body-writer.ts'
import { ChunkedDecoder, CHUNKS_PER_TURN } from '../http/chunked.ts'
import { type BodySource, IncomingBody } from '../message/incoming-body.ts'
import { type ResponseHead, ResponseParser } from '../http/response-parser.ts'
import type { Transport, TransportUser } from '../socket/transport.ts'
import { Tunnel } from '../socket/tunnel.ts'
import { WriteStall } from '../socket/write-stall.ts'
import type { CallCarrier, UpstreamCall } from './call.ts'
import type { Share } from './client-shares.ts'

export interface ConnectionPool {
  /** The connection can take another request; false: it is to be closed. */
  release(connection: UpstreamConnection): boolean
  /** It is gone. Called once. */
  removed(connection: UpstreamConnection): void
  /** The connection died before any answer and the call may be tried again. */
  retry(call: UpstreamCall): void
}

/** More generous than for clients: backends set many cookies; still a bound. */
const RESPONSE_LIMITS = { headersMax: 256, headerBytesMax: 131_072 } as const
/** Interim responses (100, 103) before the real one. */
const INTERIM_MAX = 16
const PROXY_WANTS_CREDENTIALS = 407
const BAD_CHUNKS = 'invalid chunked encoding in the response'
const NOTHING = Buffer.alloc(0)

/** The other end of a connection. */
export interface PeerPlace {
  /** undefined: unknown, as behind a proxy. */
  readonly address?: string | undefined
  /** Set: there is a proxy that is to pass requests on; the fields it requires in them. */
  readonly proxyFields?: readonly string[] | undefined
}

export class UpstreamConnection implements TransportUser, BodySource, BodyWriterOwner, CallCarrier {
  /** Pool time when it became idle. */
  idleSince = 0
  /** Of the client whose call it carries; the pool's. */
  share: Share | undefined = undefined
  /** The name of the target leads elsewhere by now: it takes no more calls. */
  isLeft = false
  readonly address: string | undefined
  readonly proxyFields: readonly string[] | undefined
  readonly #pool: ConnectionPool
  readonly #transport: Transport
  readonly #writer: BodyWriter
  readonly #parser = new ResponseParser(RESPONSE_LIMITS)
  /** Waits for the response head. */
  #call: UpstreamCall | undefined = undefined
  /** Response body that is still arriving. */
  #incoming: IncomingBody | undefined = undefined
  #bodyLeft = 0
  #chunked: ChunkedDecoder | undefined = undefined
  #isKeepAlive = true
  #isReused = false
  #hasAnswered = false
  #interims = 0
  #isClosed = false
  readonly #stall = new WriteStall()

  constructor(pool: ConnectionPool, open: (user: TransportUser) => Transport, place: PeerPlace) {
    this.address = place.address
    this.proxyFields = place.proxyFields
    this.#pool = pool
    this.#transport = open(this)
    this.#writer = new BodyWriter(this.#transport, this)
  }

  get isUsable(): boolean {
    return !this.#isClosed && !this.isLeft && !this.#transport.socket.destroyed
  }

  get transport(): Transport {
    return this.#transport
  }

  start(call: UpstreamCall, isReused: boolean): void {
    this.#isReused = isReused
    this.#hasAnswered = false
    this.#isKeepAlive = true
    this.#interims = 0
    const { body } = call
    if (body instanceof IncomingBody && !body.isUntouched) {
      this.#refuse(call, 'the request body was already read')
      return
    }
    const framing = this.#writer.prepare(body, call.trailerSource)
    const head = call.headText(framing, this.proxyFields)
    if (head === undefined) {
      discardBody(body)
      this.#refuse(call, 'the rewritten request has characters that HTTP does not allow')
      return
    }
    this.#call = call
    call.carrier = this
    this.#writer.send(head, framing === 'Chunked')
  }

  destroy(): void {
    this.#transport.destroy()
  }

  /** A backend that stopped reading. One that is silent is not an error: see pool.ts. */
  sweep(nowMs: number): void {
    if (!this.#stall.isOverdue(this.#transport, nowMs)) return
    this.#call?.failed('upstreamTimeout', 'the backend does not read the request')
    this.destroy()
  }

  /** Nothing was written: the connection stays good. */
  #refuse(call: UpstreamCall, detail: string): void {
    if (!this.#pool.release(this)) this.destroy()
    call.failed('internal', detail)
  }

  // --- CallCarrier ---

  abandon(): void {
    this.#call = undefined
    this.destroy()
  }

  // --- TransportUser ---

  bytes(buffer: Buffer, start: number, end: number): void {
    let at = start
    while (at < end && !this.#isClosed) {
      if (this.#incoming !== undefined) at = this.#takeBody(buffer, at, end)
      else if (this.#call !== undefined) at = this.#takeHead(this.#call, buffer, at, end)
      else {
        // Bytes without a request: the next response could be forged (response queue poisoning).
        this.#isKeepAlive = false
        this.destroy()
        break
      }
    }
    this.#incoming?.settle()
  }

  ended(): void {
    const body = this.#incoming
    if (body !== undefined && body.length === undefined && this.#chunked === undefined) {
      this.#incoming = undefined
      body.end()
    }
    this.destroy()
    this.#lost(shown('connection closed by the backend'))
  }

  drained(): void {
    this.#writer.drained()
  }

  closed(error: Error | undefined): void {
    this.#lost(peerProblem(error, 'connection closed'))
    if (this.#isClosed) return
    this.#isClosed = true
    this.#pool.removed(this)
  }

  // --- BodyWriterOwner: the request ---

  bodyWritten(isComplete: boolean): void {
    if (isComplete) return
    // The client's body broke: the backend must not see a request that looks whole.
    const call = this.#call
    this.#call = undefined
    this.destroy()
    if (call === undefined) this.#failBody('request body is incomplete')
    else call.failed('upstreamFailure', shown('request body is incomplete'))
  }

  // --- BodySource: the response ---

  pauseBody(): void {
    this.#transport.pause()
  }

  resumeBody(): void {
    this.#transport.resume()
  }

  cancelBody(): void {
    this.#incoming = undefined
    this.#writer.abort()
    this.destroy()
  }

  // --- reading ---

  #takeHead(call: UpstreamCall, buffer: Buffer, start: number, end: number): number {
    this.#hasAnswered = true
    const asked = { isHead: call.method === 'HEAD', preservesCase: call.preservesCase }
    const head = this.#parser.feed(buffer, { start, end }, asked)
    if (head === undefined) return end
    if ('code' in head) {
      call.failed('upstreamFailure', shown(`invalid response: ${head.detail}`))
      return end
    }
    if (head.status === PROXY_WANTS_CREDENTIALS && this.proxyFields !== undefined) {
      // Between the proxy and the gateway; a client has no answer to it.
      call.failed('upstreamFailure', shown('the proxy requires credentials (407)'))
      return end
    }
    if (head.status < 200 && head.status !== 101) {
      if (++this.#interims > INTERIM_MAX) call.failed('upstreamFailure', shown('too many interim responses'))
      return this.#parser.next
    }
    this.#call = undefined
    call.carrier = undefined
    this.#isKeepAlive = head.isKeepAlive
    const isTunnel = head.status === 101 || (call.isTunnel && head.status < 300)
    if (isTunnel) return this.#takeSwitch(call, head, buffer, end)
    return this.#takeResponse(call, head, buffer, end)
  }

  /** 101 only when asked for, and with the protocol asked for. */
  #takeSwitch(call: UpstreamCall, head: ResponseHead, buffer: Buffer, end: number): number {
    if (head.status === 101 && (call.upgrade === undefined || head.upgrade !== call.upgrade)) {
      this.destroy()
      call.failed('upgradeFailed', {
        log: `backend switched to ${head.upgrade ?? 'nothing'}`,
        client: 'the backend switched to another protocol',
      })
      return end
    }
    const { next } = this.#parser
    const early = next < end ? Buffer.from(buffer.subarray(next, end)) : NOTHING
    // Nothing is read until the splice is in place; from here on the pool knows the connection no more.
    this.#transport.pause()
    this.#isClosed = true
    this.#pool.removed(this)
    call.responded(head, new Tunnel(this.#transport, early, head.upgrade))
    return end
  }

  #takeResponse(call: UpstreamCall, head: ResponseHead, buffer: Buffer, end: number): number {
    const { next } = this.#parser
    if (head.framing === 'None') {
      this.#responseDone(next < end)
      call.responded(head, undefined)
      return end
    }
    const body = new IncomingBody(this, head.framing === 'Length' ? head.contentLength : undefined)
    this.#incoming = body
    this.#bodyLeft = head.framing === 'Length' ? head.contentLength : Number.MAX_SAFE_INTEGER
    this.#chunked = head.framing === 'Chunked' ? new ChunkedDecoder() : undefined
    if (this.#chunked !== undefined) body.expectTrailers(head.trailerNames)
    // What is here goes in first: a small response is whole, and its connection free, before other code reads it.
    if (next < end) this.#takeBody(buffer, next, end)
    if (body.isFailed) {
      call.failed('responseBroken', shown(BAD_CHUNKS))
      return end
    }
    call.responded(head, body)
    body.settle()
    return end
  }

  #takeBody(buffer: Buffer, start: number, end: number): number {
    const body = this.#incoming
    if (body === undefined) return start
    if (this.#chunked === undefined) {
      const stop = Math.min(end, start + this.#bodyLeft)
      this.#bodyLeft -= stop - start
      body.push(buffer, start, stop)
      if (this.#bodyLeft === 0) this.#bodyDone(body, stop < end)
      return end
    }
    const at = this.#chunked.decode(buffer, { start, end }, body)
    if (this.#chunked.takeCount() > CHUNKS_PER_TURN) this.#transport.yieldTurn()
    if (this.#chunked.isDone) this.#bodyDone(body, at < end)
    else if (this.#chunked.isBad) {
      this.#failBody(BAD_CHUNKS)
      this.destroy()
    }
    return end
  }

  #bodyDone(body: IncomingBody, hasMore: boolean): void {
    this.#incoming = undefined
    this.#responseDone(hasMore)
    body.endWith(this.#chunked?.trailers)
  }

  /** `hasMore`: bytes follow the response though nothing was asked. */
  #responseDone(hasMore: boolean): void {
    // A backend that answers before it has read the request will not read the rest either.
    const isSent = !this.#writer.isActive
    if (!isSent) this.#writer.abort()
    this.#transport.resume()
    if (hasMore || !isSent || !this.#isKeepAlive || !this.#pool.release(this)) this.destroy()
  }

  #failBody(detail: string): void {
    const body = this.#incoming
    this.#incoming = undefined
    body?.fail(new BodyAborted(detail))
  }

  #lost(detail: Diagnosis): void {
    const call = this.#call
    this.#call = undefined
    this.#failBody(detail.log)
    const canRetry = call !== undefined && this.#isReused && !this.#hasAnswered && !call.isRetried && call.isRepeatable
    this.#writer.abort()
    if (call === undefined) return
    call.carrier = undefined
    if (canRetry) {
      call.isRetried = true
      this.#pool.retry(call)
    } else if (!this.#hasAnswered && call.isRepeatable) call.unreached('upstreamFailure', detail)
    else call.failed('upstreamFailure', detail)
  }
}
