// One HTTP/2 connection to a peer: its number of calls, whether it accepts new ones, whether it is alive.
import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2'
import { ReadTurns } from '../http2/read-turns.ts'
import type { SessionTransport } from '../upstream/http2-session.ts'
import type { CallCarrier, GrpcCall } from './call.ts'

/** The limit of common servers; further calls use another connection. */
const STREAMS_MAX = 100
/** Time that a peer has to answer a PING, after a sign that it is gone. */
const PING_TIMEOUT_MS = 5000
/** A peer that changes its settings endlessly costs work without use. */
const SETTINGS_CHANGES_MAX = 1000

export interface SessionOwner {
  /** There is room for another call, or for fewer than before. */
  roomChanged(): void
  /** A call that the peer refused unprocessed; false: it is settled as failed. */
  refused(call: GrpcCall): void
  closed(session: GrpcSession): void
}

export class GrpcSession implements CallCarrier {
  /** Time since which no call runs; undefined while calls run. */
  idleSinceMs: number | undefined = performance.now()
  readonly #http2: ClientHttp2Session
  readonly #owner: SessionOwner
  readonly #scheme: string
  readonly #turns: ReadTurns
  #streams = 0
  #streamsMax = STREAMS_MAX
  #settingsChanges = 0
  #lastReceivedMs = performance.now()
  #isDraining = false
  #ping: NodeJS.Timeout | undefined = undefined

  constructor(session: ClientHttp2Session, owner: SessionOwner, { socket, isTls }: SessionTransport) {
    this.#http2 = session
    this.#owner = owner
    this.#turns = new ReadTurns(socket)
    this.#scheme = isTls ? 'https' : 'http'
    this.#readSettings()
    session.on('remoteSettings', () => {
      if (++this.#settingsChanges > SETTINGS_CHANGES_MAX) session.destroy()
      this.#readSettings()
      owner.roomChanged()
    })
    // Streams get their own errors; without a listener an error would end the process.
    session.on('error', () => undefined)
    session.on('goaway', () => this.drain())
    session.once('close', () => {
      this.#isDraining = true
      clearTimeout(this.#ping)
      owner.closed(this)
    })
  }

  /** A session in doubt accepts no new calls: its peer may be gone. */
  get hasRoom(): boolean {
    return !this.#isDraining && this.#ping === undefined && this.#streams < this.#streamsMax && !this.#http2.closed
  }

  /** Gives room to calls that wait. */
  get isSound(): boolean {
    return !this.#isDraining && this.#ping === undefined
  }

  /** False: the session does not accept the call. */
  start(call: GrpcCall): boolean {
    let stream: ClientHttp2Stream
    try {
      stream = this.#http2.request(call.headers(this.#scheme), { endStream: false })
    } catch {
      this.drain()
      return false
    }
    this.#streams++
    this.idleSinceMs = undefined
    call.started(stream, this)
    return true
  }

  /** Current calls finish, new ones use other sessions. */
  drain(): void {
    if (this.#isDraining) return
    this.#isDraining = true
    if (!this.#http2.closed && !this.#http2.destroyed) this.#http2.close()
    this.#owner.roomChanged()
  }

  destroy(): void {
    this.#http2.destroy()
  }

  // --- CallCarrier ---

  received(): void {
    this.#turns.frame()
    this.#lastReceivedMs = performance.now()
  }

  /** A call reached its deadline. If no bytes arrived in that time, the peer may be gone: a PING shows it. */
  timedOut(startedMs: number): void {
    if (this.#lastReceivedMs > startedMs || this.#ping !== undefined || this.#http2.destroyed) return
    this.#ping = setTimeout(() => this.#http2.destroy(), PING_TIMEOUT_MS).unref()
    const isSent = this.#http2.ping((error) => {
      if (error !== null) return
      clearTimeout(this.#ping)
      this.#ping = undefined
      this.received()
      this.#owner.roomChanged()
    })
    if (!isSent) this.#http2.destroy()
  }

  released(call: GrpcCall, isRefused: boolean): void {
    this.#streams--
    if (this.#streams === 0) this.idleSinceMs = performance.now()
    if (isRefused) this.#owner.refused(call)
    this.#owner.roomChanged()
  }

  #readSettings(): void {
    this.#streamsMax = Math.min(this.#http2.remoteSettings.maxConcurrentStreams ?? STREAMS_MAX, STREAMS_MAX)
  }
}
