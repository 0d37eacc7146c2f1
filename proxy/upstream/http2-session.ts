// One HTTP/2 connection to a backend: how many streams it carries, whether it takes new ones, whether it is alive.
import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2'
import type net from 'node:net'
import { WRITE_STALL_MS } from '../socket/write-stall.ts'
import { FloodGuard } from '../http2/flood-guard.ts'
import { CONTROLS } from '../http2/limits.ts'
import { ReadTurns } from '../http2/read-turns.ts'
import { StreamErrors } from '../http2/stream-errors.ts'
import type { StreamCarrier, UpstreamStream } from './http2-stream.ts'

/** As many as common servers allow; more go to another connection. */
const STREAMS_MAX = 100
/** How long a backend may take to answer a PING, once there is reason to doubt that it is there. */
const PING_TIMEOUT_MS = 5000
/** A backend that is there answers sooner; until then new streams are not turned away. */
const DOUBT_MS = 250
/**
 * Streams that run while nothing comes may be quiet, or their backend gone without a word. gRPC servers take more than
 * one PING in five minutes for an attack.
 */
const SILENT_MS = 310_000

export interface SessionTransport {
  readonly socket: net.Socket
  /** To the backend; a proxy on the way may have TLS of its own. */
  readonly isTls: boolean
}

export interface SessionOwner {
  /** There is room for another stream. */
  roomChanged(): void
  /** A stream the backend refused unseen. True: its call continues elsewhere. */
  refused(stream: UpstreamStream): boolean
  closed(session: UpstreamSession): void
}

export class UpstreamSession implements StreamCarrier {
  readonly scheme: string
  /** Since when nothing runs; undefined while something does. */
  idleSinceMs: number | undefined = performance.now()
  readonly #http2: ClientHttp2Session
  readonly #errors: StreamErrors
  readonly #owner: SessionOwner
  readonly #turns: ReadTurns
  #streams = 0
  #streamsMax = STREAMS_MAX
  readonly #controls = new FloodGuard(CONTROLS, performance.now())
  #lastReceivedMs = performance.now()
  #isDraining = false
  /** Of GOAWAY: streams above it were not touched. */
  #lastStreamId = Infinity
  #ping: NodeJS.Timeout | undefined = undefined
  #askedMs = 0
  #unsentBytes = 0
  #stalledSinceMs = performance.now()

  constructor(session: ClientHttp2Session, owner: SessionOwner, { socket, isTls }: SessionTransport) {
    this.#http2 = session
    this.#errors = new StreamErrors(session)
    this.#owner = owner
    this.#turns = new ReadTurns(socket)
    this.scheme = isTls ? 'https' : 'http'
    this.#readSettings()
    session.on('remoteSettings', () => {
      this.#control()
      this.#readSettings()
      owner.roomChanged()
    })
    session.on('ping', () => this.#control())
    // Streams hear of it themselves; without a listener an error would end the process.
    session.on('error', () => {})
    session.on('goaway', (_code, lastStreamId) => {
      this.#lastStreamId = Math.min(this.#lastStreamId, lastStreamId)
      this.drain()
    })
    session.once('close', () => {
      this.#isDraining = true
      clearTimeout(this.#ping)
      owner.closed(this)
    })
  }

  /** A session in doubt takes no new streams: its backend may be gone. */
  get hasRoom(): boolean {
    const { closed, destroyed } = this.#http2
    const isInDoubt = this.#ping !== undefined && performance.now() - this.#askedMs >= DOUBT_MS
    return !this.#isDraining && !isInDoubt && this.#streams < this.#streamsMax && !closed && !destroyed
  }

  /** Streams that it may carry at a time. */
  get streamsMax(): number {
    return this.#streamsMax
  }

  /** RFC 8441: extended CONNECT. */
  get takesSwitches(): boolean {
    return this.#http2.remoteSettings.enableConnectProtocol === true
  }

  /** Running streams end, new ones go elsewhere. */
  drain(): void {
    if (this.#isDraining) return
    this.#isDraining = true
    this.#http2.close()
  }

  destroy(): void {
    this.#http2.destroy()
  }

  /** A backend that takes nothing of what waits for it, or has said nothing for long. */
  sweep(nowMs: number): void {
    if (this.#http2.destroyed) return
    const { writableLength } = this.#http2.socket
    if (writableLength === 0 || writableLength !== this.#unsentBytes) this.#stalledSinceMs = nowMs
    this.#unsentBytes = writableLength
    if (nowMs - this.#stalledSinceMs >= WRITE_STALL_MS) this.destroy()
    else if (this.#streams > 0 && nowMs - this.#lastReceivedMs >= SILENT_MS) this.#ask()
  }

  // --- StreamCarrier ---

  open(fields: string[], options: { endStream: boolean; waitForTrailers: boolean }): ClientHttp2Stream {
    const stream = this.#http2.request(fields, options)
    this.#streams++
    this.idleSinceMs = undefined
    return stream
  }

  received(): void {
    this.#turns.frame()
    this.#lastReceivedMs = performance.now()
    this.#controls.earn()
  }

  isUntouched(id: number | undefined): boolean {
    return id === undefined || id > this.#lastStreamId
  }

  released(stream: UpstreamStream, rstCode: number | undefined, isRefused: boolean): boolean {
    this.#errors.closed(rstCode)
    this.#streams--
    if (this.#streams === 0) this.idleSinceMs = performance.now()
    const goesOn = isRefused && this.#owner.refused(stream)
    this.#owner.roomChanged()
    return goesOn
  }

  /** Nothing came since the call began: the connection may be dead, and every later call would wait for nothing. */
  doubts(startedMs: number): void {
    if (this.#lastReceivedMs < startedMs) this.#ask()
  }

  #ask(): void {
    if (this.#ping !== undefined || this.#http2.destroyed) return
    this.#askedMs = performance.now()
    this.#ping = setTimeout(() => this.#http2.destroy(), PING_TIMEOUT_MS)
    this.#ping.unref()
    this.#http2.ping((error) => {
      clearTimeout(this.#ping)
      this.#ping = undefined
      if (error !== null) return
      this.received()
      this.#owner.roomChanged()
    })
  }

  #readSettings(): void {
    this.#streamsMax = Math.min(STREAMS_MAX, this.#http2.remoteSettings.maxConcurrentStreams ?? STREAMS_MAX)
  }

  #control(): void {
    this.#turns.frame()
    if (!this.#controls.take(performance.now())) this.#http2.destroy()
  }
}
