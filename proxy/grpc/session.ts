// One HTTP/2 connection to a peer: how many calls it carries, whether it still takes new ones, whether it is alive.
import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2'
import { ReadTurns } from '../http2/read-turns.ts'
import type { SessionTransport } from '../upstream/http2-session.ts'
import type { CallCarrier, GrpcCall } from './call.ts'

/** As many as common servers allow; more go to another connection. */
const STREAMS_MAX = 100
/** How long a peer may take to answer a PING, once there is reason to doubt that it is there. */
const PING_TIMEOUT_MS = 5000
/** A peer that changes its settings without end costs us work for nothing. */
const SETTINGS_CHANGES_MAX = 1000

export interface SessionOwner {
  /** There is room for another call, or fewer than before. */
  roomChanged(): void
  /** A call the peer refused unseen; false: it is settled as failed. */
  refused(call: GrpcCall): void
  closed(session: GrpcSession): void
}

export class GrpcSession implements CallCarrier {
  /** Since when nothing runs; undefined while something does. */
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
    // Streams hear of it themselves; without a listener an error would end the process.
    session.on('error', () => undefined)
    session.on('goaway', () => this.drain())
    session.once('close', () => {
      this.#isDraining = true
      clearTimeout(this.#ping)
      owner.closed(this)
    })
  }

  /** A session in doubt takes no new calls: its peer may be gone. */
  get hasRoom(): boolean {
    return !this.#isDraining && this.#ping === undefined && this.#streams < this.#streamsMax && !this.#http2.closed
  }

  /** Calls that wait for room here will get some. */
  get isSound(): boolean {
    return !this.#isDraining && this.#ping === undefined
  }

  /** False: the session does not take it after all. */
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

  /** Running calls end, new ones go elsewhere. */
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

  /** A call ran into its deadline. If nothing at all came in that time, the peer may be gone: one PING tells. */
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
