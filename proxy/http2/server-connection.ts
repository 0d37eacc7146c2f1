// One HTTP/2 connection of a client: its streams, what it may cost, its keepalive and its end. Requests are
// server-stream.ts.
import http2, { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type net from 'node:net'
import type { Exchange } from '../exchange/exchange.ts'
import { ByteMeter } from '../http/byte-meter.ts'
import { nextConnectionId } from '../socket/connection-id.ts'
import type { ConnectionFacts } from '../socket/connection-facts.ts'
import type { HandlerSlot } from '../http/handler.ts'
import type { Sweepable } from '../socket/deadlines.ts'
import { FloodGuard } from './flood-guard.ts'
import {
  connectionWindowOf,
  CONTROLS,
  FIRST_STREAM_MS,
  GOAWAY_NOTICE_MS,
  headerBytesMaxOf,
  KEEPALIVE_TIMEOUT_MS,
  RESETS,
  sessionOptions,
  STREAMS_LINGERING_MAX,
} from './limits.ts'
import { ReadTurns } from './read-turns.ts'
import { ServerStream, type StreamOwner } from './server-stream.ts'
import { StreamErrors } from './stream-errors.ts'

export interface SessionOwner {
  requestStarted(): void
  requestFinished(): void
  connectionClosed(connection: Http2Connection): void
}

/** RFC 9113 section 6.8: "no new streams soon"; every stream so far is still served. */
const LAST_STREAM_ID_MAX = 2 ** 31 - 1

export class Http2Connection implements StreamOwner, Sweepable {
  readonly id = nextConnectionId()
  readonly facts: ConnectionFacts
  readonly #owner: SessionOwner
  readonly #slot: HandlerSlot
  readonly #session: ServerHttp2Session
  readonly #errors: StreamErrors
  readonly #socket: net.Socket
  readonly #meter: ByteMeter
  readonly #headerBytesMax: number
  readonly #streams = new Set<ServerStream>()
  readonly #turns: ReadTurns
  readonly #openedMs = performance.now()
  readonly #resets = new FloodGuard(RESETS, this.#openedMs)
  readonly #controls = new FloodGuard(CONTROLS, this.#openedMs)
  #lastActiveMs = this.#openedMs
  #pingSentMs: number | undefined = undefined
  /** Answered or not: an answer is not activity, and not a reason to ask again at once. */
  #lastPingMs = 0
  #hadStream = false
  /** When the end was announced. */
  #noticeMs: number | undefined = undefined
  #isClosed = false

  /** `socket` has delivered nothing yet, or what it delivered was put back. */
  constructor(owner: SessionOwner, socket: net.Socket, served: { facts: ConnectionFacts; slot: HandlerSlot }) {
    this.#owner = owner
    this.#slot = served.slot
    // A copy: what handed the connection over may hold more than facts.
    const { sourceAddress, sourcePort, localAddress, localPort, isTls, sni, peer, origin } = served.facts
    this.facts = { sourceAddress, sourcePort, localAddress, localPort, isTls, sni, peer, origin }
    const { limits } = served.slot.current
    this.#headerBytesMax = headerBytesMaxOf(limits)
    this.#socket = socket
    this.#turns = new ReadTurns(socket)
    this.#meter = new ByteMeter(socket, isTls)
    // Before the handshake: a broken socket must not end the process.
    socket.on('error', () => {})
    // HTTP/2 has no half-closed connections: a client that ended its side has closed all its streams.
    socket.allowHalfOpen = false
    const session = http2.performServerHandshake(socket, sessionOptions(limits))
    this.#session = session
    this.#errors = new StreamErrors(session)
    session.on('error', () => {})
    session.once('close', () => this.#closed())
    session.on('stream', (stream, _headers, flags, raw) => this.#begin(stream, flags, raw))
    session.on('ping', () => this.#control())
    session.on('remoteSettings', () => this.#control())
    session.setLocalWindowSize(connectionWindowOf(limits))
  }

  get isClosing(): boolean {
    return this.#noticeMs !== undefined
  }

  /** Bytes held for a client that does not read. */
  get bufferedBytes(): number {
    return this.#session.destroyed ? 0 : this.#socket.writableLength
  }

  get idleSinceMs(): number | undefined {
    return this.#streams.size === 0 ? this.#lastActiveMs : undefined
  }

  *running(): IterableIterator<Exchange> {
    for (const { running } of this.#streams) if (running !== undefined) yield running
  }

  /** Announces the end, then takes no more streams; running ones end by themselves. */
  drain(): void {
    if (this.isClosing || this.#isGone) return
    this.#noticeMs = performance.now()
    this.#session.goaway(constants.NGHTTP2_NO_ERROR, LAST_STREAM_ID_MAX)
    // The answer comes after every stream that was on its way when the client read the notice.
    if (!this.#sendPing(() => this.#takeNoMore())) this.#takeNoMore()
  }

  destroy(): void {
    this.#session.destroy()
    this.#socket.destroy()
  }

  // --- StreamOwner ---

  active(): void {
    this.#turns.frame()
    this.#lastActiveMs = performance.now()
    this.#controls.earn()
  }

  requestStarted(): void {
    this.#owner.requestStarted()
  }

  requestFinished({ place }: Exchange): void {
    this.#meter.place = place
    this.#owner.requestFinished()
  }

  streamClosed(stream: ServerStream, rstCode: number): void {
    this.#streams.delete(stream)
    this.#errors.closed(rstCode)
    this.#lastActiveMs = performance.now()
    if (rstCode !== constants.NGHTTP2_NO_ERROR && !this.#resets.take(this.#lastActiveMs)) this.#floods()
  }

  // --- session ---

  get #isGone(): boolean {
    return this.#isClosed || this.#session.destroyed || this.#session.closed
  }

  #begin(stream: ServerHttp2Stream, flags: number, raw: readonly string[]): void {
    this.#hadStream = true
    this.active()
    const handler = this.#slot.current
    const one = new ServerStream(this, stream, handler)
    this.#streams.add(one)
    if (stream.destroyed || stream.closed || this.#session.destroyed) return
    if (this.#streams.size > STREAMS_LINGERING_MAX) {
      one.refuseUnseen()
      return
    }
    const isEnded = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0
    one.begin(raw, { isEnded, headerBytesMax: this.#headerBytesMax })
  }

  #control(): void {
    this.#turns.frame()
    if (!this.#controls.take(performance.now())) this.#floods()
  }

  /** The client costs more than it may: everything it has goes. */
  #floods(): void {
    if (this.#session.destroyed) return
    const { sourceAddress, sourcePort } = this.facts
    const detail = 'HTTP/2 flood: too many resets or control frames'
    this.#slot.current.refused({ sourceAddress, sourcePort, status: 429, detail })
    this.#session.destroy(new Error(detail), constants.NGHTTP2_ENHANCE_YOUR_CALM)
  }

  #takeNoMore(): void {
    if (!this.#isGone) this.#session.close()
  }

  #sendPing(answered: () => void): boolean {
    try {
      return this.#session.ping((error) => {
        if (error === null) answered()
      })
    } catch {
      return false
    }
  }

  #closed(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#meter.report(this.#slot.current)
    this.#owner.connectionClosed(this)
  }

  // --- time ---

  sweep(nowMs: number): void {
    const { limits } = this.#slot.current
    this.#meter.report(this.#slot.current)
    for (const stream of this.#streams) stream.sweep(nowMs)
    if (this.#noticeMs !== undefined) {
      if (nowMs - this.#noticeMs >= GOAWAY_NOTICE_MS) this.#takeNoMore()
      // What waits for the last GOAWAY to be read is not waited for.
      if (this.#streams.size === 0 && nowMs - this.#noticeMs >= 2 * GOAWAY_NOTICE_MS) this.destroy()
      return
    }
    const idleMs = this.#hadStream ? limits.idleTimeoutMs : Math.min(limits.idleTimeoutMs, FIRST_STREAM_MS)
    const isOld =
      limits.maxConnectionDurationMs !== undefined && nowMs - this.#openedMs >= limits.maxConnectionDurationMs
    if (isOld || (this.#streams.size === 0 && nowMs - this.#lastActiveMs >= idleMs)) this.drain()
    else this.#keepAlive(nowMs)
  }

  #keepAlive(nowMs: number): void {
    const { keepaliveIntervalMs, keepaliveTimeoutMs = KEEPALIVE_TIMEOUT_MS } = this.#slot.current.limits.http2 ?? {}
    if (keepaliveIntervalMs === undefined) return
    if (this.#pingSentMs !== undefined) {
      if (nowMs - this.#pingSentMs >= keepaliveTimeoutMs) this.destroy()
    } else if (nowMs - Math.max(this.#lastActiveMs, this.#lastPingMs) >= keepaliveIntervalMs) {
      this.#pingSentMs = nowMs
      this.#lastPingMs = nowMs
      this.#sendPing(() => {
        this.#pingSentMs = undefined
      })
    }
  }
}
