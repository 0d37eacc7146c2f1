// All connections to one target: assigns calls to one with room, opens another if all are full, and queues the rest.
// All numbers are limited.
import { logOf } from '../exchange/diagnosis.ts'
import type { DeadlineWheel } from '../socket/deadlines.ts'
import type { ConnectObserver } from '../upstream/connect-observer.ts'
import type { DnsCache } from '../upstream/dns-cache.ts'
import { drainIdle, type IdleLimits } from '../upstream/drain-idle.ts'
import { NamedAddresses } from '../upstream/named-addresses.ts'
import type { UpstreamTarget } from '../upstream/target.ts'
import type { GrpcCall } from './call.ts'
import { connectHttp2 } from '../upstream/http2-connect.ts'
import { GrpcSession, type SessionOwner } from './session.ts'
import { GrpcError, GrpcStatus, GrpcUnreached } from './status.ts'

const SESSIONS_MAX = 16
/** Calls that wait for a connection; a further one fails at once. */
const WAITING_MAX = 1024

export interface SharedParts {
  readonly limits: IdleLimits
  readonly dns: DnsCache
  readonly wheel: DeadlineWheel
  readonly connected?: ConnectObserver | undefined
  /** Takes a call to another target. */
  readonly dispatch: (target: UpstreamTarget, call: GrpcCall) => void
}

export class TargetSessions implements SessionOwner {
  readonly #target: UpstreamTarget
  readonly #shared: SharedParts
  /** The address of each connection. */
  readonly #sessions = new Map<GrpcSession, string | undefined>()
  readonly #addresses: NamedAddresses
  #waiting: GrpcCall[] = []
  #isConnecting = false
  #isClosed = false

  constructor(target: UpstreamTarget, shared: SharedParts) {
    this.#target = target
    this.#shared = shared
    this.#addresses = new NamedAddresses(target, shared.dns)
  }

  get isEmpty(): boolean {
    return this.#sessions.size === 0 && !this.#isConnecting && this.#waiting.length === 0
  }

  get openSessions(): number {
    return this.#sessions.size
  }

  dispatch(call: GrpcCall): void {
    if (this.#waiting.length === 0 && this.#startNow(call)) return
    if (this.#waiting.length >= WAITING_MAX) this.#waiting = this.#waiting.filter((waiting) => !waiting.isSettled)
    if (this.#isClosed || this.#waiting.length >= WAITING_MAX) {
      call.fail(new GrpcError(GrpcStatus.RESOURCE_EXHAUSTED, `too many calls wait for ${this.#label}`))
      return
    }
    this.#waiting.push(call)
    this.#connect()
  }

  /** Closes connections that were idle for too long, and those to addresses that the name no longer has. */
  sweep(nowMs: number): void {
    drainIdle(this.#sessions.keys(), this.#shared.limits, nowMs)
    if (!this.#addresses.isNew) return
    for (const [session, address] of this.#sessions) if (!this.#addresses.has(address)) session.drain()
  }

  destroy(): void {
    this.#isClosed = true
    const error = new GrpcError(GrpcStatus.UNAVAILABLE, `${this.#label}: the client is closed`)
    for (const call of this.#waiting.splice(0)) call.fail(error)
    // Each session removes itself from the list when it is closed.
    for (const session of this.#sessions.keys()) session.destroy()
  }

  // --- SessionOwner ---

  roomChanged(): void {
    while (this.#waiting.length > 0) {
      const [call] = this.#waiting
      if (call !== undefined && !call.isSettled && !this.#startNow(call)) {
        this.#connect()
        return
      }
      this.#waiting.shift()
    }
  }

  refused(call: GrpcCall): void {
    if (!this.#isClosed && call.takeRepeat()) this.dispatch(call)
  }

  closed(session: GrpcSession): void {
    this.#sessions.delete(session)
    this.roomChanged()
  }

  get #label(): string {
    return this.#target.unixPath ?? `${this.#target.host}:${this.#target.port}`
  }

  #startNow(call: GrpcCall): boolean {
    for (const session of this.#sessions.keys()) if (session.hasRoom && session.start(call)) return true
    return false
  }

  /** One at a time: this protects a peer that is down, and one connection may be enough for all waiting calls. */
  #connect(): void {
    if (this.#isConnecting || this.#isClosed || this.#sessions.size >= SESSIONS_MAX) return
    this.#isConnecting = true
    connectHttp2({
      ...this.#shared,
      target: this.#target,
      opened: (http2Session, address, socket) => {
        this.#isConnecting = false
        const session = new GrpcSession(http2Session, this, { socket, isTls: this.#target.tls !== undefined })
        if (this.#isClosed) session.destroy()
        else this.#sessions.set(session, address)
        this.roomChanged()
        if (!this.#addresses.has(address)) session.drain()
      },
      failed: (detail) => {
        this.#isConnecting = false
        // A call that waits while others run gets their room, or ends at its own deadline.
        if (![...this.#sessions.keys()].some((session) => session.isSound)) this.#failWaiting(logOf(detail))
      },
    })
  }

  #failWaiting(detail: string): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const call of waiting) {
      const next = call.unreached(new GrpcUnreached(GrpcStatus.UNAVAILABLE, `${this.#label}: ${detail}`))
      if (next !== undefined) this.#shared.dispatch(next, call)
    }
  }
}
