// HTTP/2 connections to one target, and the calls that wait for one. Bounded in both; calls wait in order.
import type net from 'node:net'
import { isIP } from 'node:net'
import { at, type Detail } from '../exchange/diagnosis.ts'
import { connectHttp2, type ConnectFailure } from './http2-connect.ts'
import type { DeadlineWheel } from '../socket/deadlines.ts'
import type { UpstreamCall } from './call.ts'
import { ClientShares, mayTakeMore, type Share } from './client-shares.ts'
import type { ConnectObserver } from './connect-observer.ts'
import type { DnsCache } from './dns-cache.ts'
import { drainIdle, type IdleLimits } from './drain-idle.ts'
import { NamedAddresses } from './named-addresses.ts'
import type { UpstreamTarget } from './target.ts'
import { UpstreamSession, type SessionOwner } from './http2-session.ts'
import { UpstreamStream } from './http2-stream.ts'

export interface Http2PoolShared {
  readonly limits: IdleLimits
  readonly dns: DnsCache
  readonly wheel: DeadlineWheel
  readonly connected?: ConnectObserver | undefined
  /** Sends a call by HTTP/1.1 after all: a switch of protocols that the backend does not take by HTTP/2. */
  readonly byHttp1: (call: UpstreamCall) => void
  /** As `byHttp1`, with a connection whose backend chose HTTP/1.1 in the handshake. */
  readonly adopt: (call: UpstreamCall, socket: net.Socket, address: string | undefined) => void
}

/** 6400 streams to one address and worker. */
const SESSIONS_MAX = 64
/** At a time: a backend that is down is not stormed. */
const CONNECTING_MAX = 4
/** Calls that one connection to come is counted on for. */
const STREAMS_EXPECTED = 100
/** Calls that wait for a stream; one more fails at once instead of growing the line. */
const WAITING_MAX = 4096
/** What a backend may send before it is read: constant memory for slow clients. */
const SETTINGS = { initialWindowSize: 262_144, maxHeaderListSize: 131_072 } as const
/** Megabytes, as node counts them: 100 streams with full windows. */
const SESSION_MEMORY_MAX = 64

export class Http2Pool implements SessionOwner {
  /** `host:port` for logs. */
  readonly label: string
  readonly #target: UpstreamTarget
  readonly #shared: Http2PoolShared
  /** And what each was opened to. */
  readonly #sessions = new Map<UpstreamSession, string | undefined>()
  readonly #addresses: NamedAddresses
  readonly #waiting: UpstreamStream[] = []
  readonly #shares = new ClientShares()
  /** Streams that are open. */
  readonly #all: Share = { count: 0 }
  #connecting = 0
  #isClosed = false

  constructor(target: UpstreamTarget, shared: Http2PoolShared) {
    this.#target = target
    this.#shared = shared
    this.#addresses = new NamedAddresses(target, shared.dns)
    const host = isIP(target.host) === 6 ? `[${target.host}]` : target.host
    this.label = target.unixPath ?? `${host}:${target.port}`
  }

  get isEmpty(): boolean {
    return this.#sessions.size === 0 && this.#connecting === 0 && this.#waiting.length === 0
  }

  readonly openMax = SESSIONS_MAX

  get openCount(): number {
    return this.#sessions.size
  }

  get idleCount(): number {
    let count = 0
    for (const { idleSinceMs } of this.#sessions.keys()) if (idleSinceMs !== undefined) count++
    return count
  }

  dispatch(call: UpstreamCall): void {
    const share = call.client === undefined ? { count: 0 } : this.#shares.of(call.client)
    this.#dispatch(new UpstreamStream(call, { share, all: this.#all }))
  }

  sweep(nowMs: number): void {
    if (this.#waiting.length === 0) this.#shares.sweep()
    for (const session of this.#sessions.keys()) {
      session.sweep(nowMs)
    }
    drainIdle(this.#sessions.keys(), this.#shared.limits, nowMs)
    if (!this.#addresses.isNew) return
    // The name leads elsewhere by now: what runs ends, new calls go there.
    for (const [session, address] of this.#sessions) if (!this.#addresses.has(address)) session.drain()
  }

  destroyAll(): void {
    this.#isClosed = true
    this.#failWaiting('upstreamFailure', 'the client is closed')
    for (const session of this.#sessions.keys()) session.destroy()
  }

  // --- SessionOwner ---

  roomChanged(): void {
    for (let at = this.#nextWaiting(); at >= 0; at = this.#nextWaiting()) {
      const stream = this.#waiting[at]
      if (stream !== undefined && !stream.call.isSettled && !this.#startNow(stream)) {
        this.#connect()
        return
      }
      this.#waiting.splice(at, 1)
    }
  }

  /** Once more, if all of it is still here: a stream that was refused has had no effect (RFC 9113 section 8.7). */
  refused(stream: UpstreamStream): boolean {
    if (this.#isClosed || !stream.canRepeat) return false
    stream.call.isRetried = true
    stream.detach()
    this.#dispatch(stream)
    return true
  }

  closed(session: UpstreamSession): void {
    this.#sessions.delete(session)
    this.roomChanged()
  }

  // --- dispatch ---

  #dispatch(stream: UpstreamStream): void {
    if (this.#isAdmitted(stream) && this.#nextWaiting() < 0 && this.#startNow(stream)) return
    if (this.#waiting.length >= WAITING_MAX) this.#forgetSettled()
    if (this.#waiting.length >= WAITING_MAX || !this.#mayWait(stream)) {
      stream.call.failed('overloaded', `too many calls wait for ${this.label}`)
      return
    }
    this.#waiting.push(stream)
    this.#connect()
  }

  /** Streams that are left for its client; others of the line go first, so that one client cannot have all. */
  #isAdmitted({ share }: UpstreamStream): boolean {
    const [first] = this.#sessions.keys()
    const places = SESSIONS_MAX * (first?.streamsMax ?? STREAMS_EXPECTED)
    return mayTakeMore(share, places - this.#all.count)
  }

  /** Of those that wait the first whose turn it is; -1: none. */
  #nextWaiting(): number {
    return this.#waiting.findIndex((stream) => stream.call.isSettled || this.#isAdmitted(stream))
  }

  /** The line has room for others, too. Counted only when it is long. */
  #mayWait({ share }: UpstreamStream): boolean {
    if (this.#waiting.length < WAITING_MAX / 2) return true
    const own = this.#waiting.filter((other) => other.share === share).length
    return mayTakeMore({ count: own }, WAITING_MAX - this.#waiting.length)
  }

  #startNow(stream: UpstreamStream): boolean {
    for (const session of this.#sessions.keys()) {
      if (!session.hasRoom) continue
      if (stream.call.upgrade !== undefined && !session.takesSwitches) {
        this.#shared.byHttp1(stream.call)
        return true
      }
      if (stream.start(session)) return true
    }
    return false
  }

  #forgetSettled(): void {
    const kept = this.#waiting.filter(({ call }) => !call.isSettled)
    this.#waiting.length = 0
    this.#waiting.push(...kept)
  }

  /** As many as the calls that wait need. */
  #connect(): void {
    if (this.#isClosed) return
    // Checked again each time: an attempt may fail at once, and take those who waited with it.
    while (
      this.#connecting < Math.min(Math.ceil(this.#waiting.length / STREAMS_EXPECTED), CONNECTING_MAX) &&
      this.#sessions.size + this.#connecting < SESSIONS_MAX
    ) {
      this.#connecting++
      connectHttp2({
        ...this.#shared,
        target: this.#target,
        settings: SETTINGS,
        sessionMemoryMax: SESSION_MEMORY_MAX,
        opened: (http2Session, address, socket) => {
          this.#connecting--
          const session = new UpstreamSession(http2Session, this, { socket, isTls: this.#target.tls !== undefined })
          if (this.#isClosed) session.destroy()
          else this.#sessions.set(session, address)
          this.roomChanged()
          if (!this.#addresses.has(address)) session.drain()
        },
        ...(this.#isOpen && {
          chosenHttp1: (socket, address) => {
            this.#connecting--
            this.#handOver(socket, address)
          },
        }),
        failed: (detail, code) => {
          this.#connecting--
          // Others that are open or on their way will serve who waits, or the deadline of each call does.
          if (this.#sessions.size === 0 && this.#connecting === 0) this.#failWaiting(code, detail)
        },
      })
    }
  }

  /** The handshake selects the version, and a waiting request accepts either. */
  get #isOpen(): boolean {
    return this.#target.negotiates === true && this.#waiting.some(({ call }) => !call.needsHttp2)
  }

  /** The first call takes the connection along; who needs HTTP/2 waits for one that asks for nothing else. */
  #handOver(socket: net.Socket, address: string | undefined): void {
    let isTaken = false
    for (const stream of this.#waiting.splice(0)) {
      const { call } = stream
      if (call.isSettled) continue
      if (call.needsHttp2) this.#waiting.push(stream)
      else if (isTaken) this.#shared.byHttp1(call)
      else {
        isTaken = true
        this.#shared.adopt(call, socket, address)
      }
    }
    if (!isTaken) socket.destroy()
    this.roomChanged()
  }

  #failWaiting(code: ConnectFailure, detail: Detail): void {
    for (const { call } of this.#waiting.splice(0)) call.unreached(code, at(this.label, detail))
  }
}
