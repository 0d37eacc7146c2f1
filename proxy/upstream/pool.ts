// Connections to one target: opens them, keeps idle ones for the next call (last in, first out), bounded in every way.
import { isIP } from 'node:net'
import tls from 'node:tls'
import type { Keepalive } from '#api/ir/types.gen.ts'
import type { DeadlineWheel, Expiring } from '../http/deadlines.ts'
import { NOBODY, Transport, type TransportUser } from '../http/transport.ts'
import { Tunnel } from '../http/tunnel.ts'
import { dialTunnel } from '../tcp/dial-tunnel.ts'
import { identityOptions, upstreamContext } from '../tls/upstream-tls.ts'
import { ForwardCall, type UpstreamCall } from './call.ts'
import { type ConnectObserver, transportOf } from './connect-observer.ts'
import { UpstreamConnection, type ConnectionPool } from './connection.ts'
import type { DnsCache } from './dns-cache.ts'
import { resolveTarget } from './resolve-target.ts'
import type { UpstreamTarget, UpstreamTls } from './target.ts'
import type { UpstreamTunnel } from './tunnel.ts'

export interface PoolLimits {
  /** Idle connections kept per target. */
  readonly idlePerTargetMax: number
  /** Open connections per target; a call beyond fails with `overloaded`. */
  readonly openPerTargetMax: number
  readonly openMax: number
  readonly idleTimeoutMs: number
  /** Targets at a time, idle connections included; a call to one more fails with `overloaded`. */
  readonly targetsMax: number
}

/** What the pools of one client share. */
export interface PoolShared {
  readonly limits: PoolLimits
  readonly wheel: DeadlineWheel
  readonly dns: DnsCache
  readonly connected?: ConnectObserver | undefined
  openConnections: number
}

/** Dead backends are noticed by TCP: responses may be silent for hours (event streams), so reading has no timeout. */
const KEEPALIVE_MS = 180_000
const NOTHING = Buffer.alloc(0)
const HTTP1 = ['http/1.1']

export class TargetPool implements ConnectionPool {
  /** `host:port` for logs. */
  readonly label: string
  isRetired = false
  readonly #target: UpstreamTarget
  readonly #shared: PoolShared
  readonly #idle: UpstreamConnection[] = []
  readonly #open = new Set<UpstreamConnection>()
  #secureContext: tls.SecureContext | undefined = undefined
  #session: Buffer | undefined = undefined
  #pending = 0

  constructor(target: UpstreamTarget, shared: PoolShared) {
    this.#target = target
    this.#shared = shared
    const host = isIP(target.host) === 6 ? `[${target.host}]` : target.host
    this.label = target.unixPath ?? `${host}:${target.port}`
  }

  get isEmpty(): boolean {
    return this.#open.size === 0 && this.#pending === 0
  }

  get idleCount(): number {
    return this.#idle.length
  }

  dispatch(call: UpstreamCall): void {
    // A tunnel carries bytes of the client from the first one on: a connection that has carried HTTP is none.
    while (!call.isTunnel) {
      const connection = this.#idle.pop()
      if (connection === undefined) break
      if (connection.isUsable) {
        connection.start(call, true)
        return
      }
    }
    this.connect(call)
  }

  /** A fresh connection. */
  connect(call: UpstreamCall): void {
    const { shared, target } = { shared: this.#shared, target: this.#target }
    const isFull =
      this.#open.size + this.#pending >= shared.limits.openPerTargetMax ||
      shared.openConnections >= shared.limits.openMax
    if (isFull) {
      call.failed('overloaded', `too many connections to ${this.label}`)
      return
    }
    if (target.tunnel !== undefined) {
      this.#connectThrough(call, target.tunnel)
      return
    }
    if (target.unixPath !== undefined) {
      this.#attempt(call, [''], performance.now() + target.connectTimeoutMs)
      return
    }
    this.#pending++
    resolveTarget(target, shared.dns, (resolved) => {
      this.#pending--
      if ('code' in resolved) call.failed(resolved.code, resolved.detail)
      else this.#attempt(call, resolved.addresses, performance.now() + target.connectTimeoutMs)
    })
  }

  /** The proxy on the way resolves the name. */
  #connectThrough(call: UpstreamCall, tunnel: UpstreamTunnel): void {
    const { tls: upstreamTls } = this.#target
    const alpn = upstreamTls && { ...upstreamTls, alpnProtocols: HTTP1 }
    this.#pending++
    this.#shared.openConnections++
    const startMs = performance.now()
    dialTunnel({ ...this.#target, tunnel, tls: alpn }, this.#shared.dns, (outcome) => {
      if ('socket' in outcome) {
        this.#tellConnected(startMs)
        this.#connected(call, Transport.ofSocket(outcome.socket, NOBODY))
        outcome.socket.resume()
      } else {
        this.#pending--
        this.#shared.openConnections--
        call.failed(outcome.code, outcome.detail)
      }
    })
  }

  // --- ConnectionPool ---

  release(connection: UpstreamConnection): boolean {
    if (this.isRetired || this.#idle.length >= this.#shared.limits.idlePerTargetMax || !connection.isUsable)
      return false
    connection.idleSince = coarseNowMs()
    this.#idle.push(connection)
    return true
  }

  removed(connection: UpstreamConnection): void {
    if (!this.#open.delete(connection)) return
    this.#shared.openConnections--
    const at = this.#idle.indexOf(connection)
    if (at >= 0) this.#idle.splice(at, 1)
  }

  retry(call: UpstreamCall): void {
    this.connect(call)
  }

  /** Closes what has been idle too long (the oldest are at the front) and what is stuck. */
  sweep(nowMs: number): void {
    for (const connection of this.#open) connection.sweep(nowMs)
    const { idleTimeoutMs } = this.#shared.limits
    let expired = 0
    for (const connection of this.#idle) {
      if (!this.isRetired && nowMs - connection.idleSince < idleTimeoutMs) break
      expired++
    }
    for (const connection of this.#idle.splice(0, expired)) connection.destroy()
  }

  destroyAll(): void {
    this.isRetired = true
    for (const connection of this.#open) connection.destroy()
  }

  // --- connecting ---

  /** Tries the addresses in turn until the deadline. */
  #attempt(call: UpstreamCall, addresses: readonly string[], deadlineMs: number): void {
    const [address = '', ...others] = addresses
    if (call.isSettled) return
    const startMs = performance.now()
    const connecting = new Connecting({
      call,
      wheel: this.#shared.wheel,
      deadlineMs,
      open: (user) => this.#openTransport(address, user),
      opened: (transport) => {
        this.#tellConnected(startMs)
        this.#connected(call, transport)
      },
      failed: (detail) => {
        this.#pending--
        this.#shared.openConnections--
        if (others.length > 0) this.#attempt(call, others, deadlineMs)
        else call.failed('upstreamFailure', `${this.label}: ${detail}`)
      },
      timedOut: () => {
        this.#pending--
        this.#shared.openConnections--
        call.failed('upstreamTimeout', `${this.label}: connect timeout`)
      },
    })
    this.#pending++
    this.#shared.openConnections++
    connecting.begin()
  }

  #tellConnected(startMs: number): void {
    this.#shared.connected?.(transportOf(this.#target), performance.now() - startMs)
  }

  #connected(call: UpstreamCall, transport: Transport): void {
    this.#pending--
    if (call instanceof ForwardCall && call.isTunnel) {
      this.#shared.openConnections--
      transport.pause()
      if (call.isSettled) transport.destroy()
      else call.connected(new Tunnel(transport, NOTHING, undefined))
      return
    }
    const connection = new UpstreamConnection(this, (user) => {
      transport.user = user
      return transport
    })
    this.#open.add(connection)
    // A call that gave up meanwhile leaves a good connection behind.
    if (!call.isSettled) connection.start(call, false)
    else if (!this.release(connection)) connection.destroy()
  }

  #openTransport(address: string, user: TransportUser): Transport {
    const { port, unixPath, tls: upstreamTls, keepalive } = this.#target
    const place = unixPath === undefined ? { host: address, port } : { path: unixPath }
    if (upstreamTls === undefined) {
      const plain = Transport.connect(
        { ...place, noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEPALIVE_MS },
        user,
      )
      if (keepalive !== undefined) keepProbing(plain, keepalive)
      return plain
    }
    const transport = Transport.connectTls({ ...place, ...this.#tlsOptions(upstreamTls) }, user)
    transport.socket.setNoDelay(true)
    transport.socket.setKeepAlive(true, KEEPALIVE_MS)
    if (keepalive !== undefined) keepProbing(transport, keepalive)
    transport.socket.on('session', (session: Buffer) => {
      this.#session = session
    })
    return transport
  }

  /** Sessions and trust are kept per target key: a session of one server name or CA never serves another. */
  #tlsOptions(upstreamTls: UpstreamTls): tls.ConnectionOptions {
    const { host } = this.#target
    this.#secureContext ??= upstreamContext(upstreamTls)
    const servername = upstreamTls.servername ?? (isIP(host) === 0 ? host : undefined)
    return {
      secureContext: this.#secureContext,
      ALPNProtocols: HTTP1,
      ...identityOptions(upstreamTls),
      ...(servername === undefined || isIP(servername) !== 0 ? {} : { servername }),
      ...(this.#session === undefined ? {} : { session: this.#session }),
    }
  }
}

function keepProbing({ socket }: Transport, { timeMs, intervalMs, retries }: Keepalive): void {
  socket.once('connect', () => socket.setKeepAlive(true, timeMs, intervalMs, retries))
}

interface ConnectingOptions {
  readonly call: UpstreamCall
  readonly wheel: DeadlineWheel
  readonly deadlineMs: number
  readonly open: (user: TransportUser) => Transport
  readonly opened: (transport: Transport) => void
  readonly failed: (detail: string) => void
  readonly timedOut: () => void
}

/** A connection between `connect` and ready (with TLS: after the handshake). Exactly one of three outcomes. */
class Connecting implements TransportUser, Expiring {
  readonly #options: ConnectingOptions
  #transport: Transport | undefined = undefined
  #slot = 0
  #isOver = false

  constructor(options: ConnectingOptions) {
    this.#options = options
  }

  begin(): void {
    const { wheel, deadlineMs, open, opened, failed } = this.#options
    this.#slot = wheel.add(this, deadlineMs)
    let transport: Transport
    try {
      transport = open(this)
    } catch (error) {
      // A certificate or key that cannot be used.
      if (this.#finish()) failed(error instanceof Error ? error.message : String(error))
      return
    }
    this.#transport = transport
    transport.socket.once(transport.socket instanceof tls.TLSSocket ? 'secureConnect' : 'connect', () => {
      if (!this.#finish()) return
      opened(transport)
    })
  }

  expired(): void {
    if (!this.#finish()) return
    this.#transport?.destroy()
    this.#options.timedOut()
  }

  closed(error: Error | undefined): void {
    if (this.#finish()) this.#options.failed(error?.message ?? 'closed while connecting')
  }

  bytes(): void {
    // A server that talks first does not speak HTTP.
    this.#transport?.destroy()
  }

  ended(): void {
    this.#transport?.destroy()
  }

  drained(): void {}

  #finish(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    this.#options.wheel.remove(this, this.#slot)
    return true
  }
}

/** The clock of idle times: `performance.now()` costs 30 ns, once per release is fine. */
function coarseNowMs(): number {
  return performance.now()
}
