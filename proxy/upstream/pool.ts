// Connections to one target: opens them, keeps idle ones for the next call (last in, first out), bounded in every way.
import type net from 'node:net'
import { isIP } from 'node:net'
import type tls from 'node:tls'
import { at, shown } from '../exchange/diagnosis.ts'
import type { DeadlineWheel } from '../socket/deadlines.ts'
import { keepProbingOnceOpen } from '../socket/keep-probing.ts'
import { NO_USER, Transport, type TransportUser } from '../socket/transport.ts'
import { Tunnel } from '../socket/tunnel.ts'
import { dialTunnel } from './dial-tunnel.ts'
import { identityOptions, upstreamContext } from './tls.ts'
import { ForwardCall, type UpstreamCall } from './call.ts'
import { ClientShares, mayTakeMore, type Share } from './client-shares.ts'
import { Connecting } from './connecting.ts'
import { type ConnectObserver, transportOf } from './connect-observer.ts'
import { type ConnectionPool, type PeerPlace, UpstreamConnection } from './connection.ts'
import type { DnsCache } from './dns-cache.ts'
import type { IdleLimits } from './drain-idle.ts'
import { NamedAddresses, shareOf } from './named-addresses.ts'
import { chosenBy, offered } from './protocols.ts'
import { resolveInTime } from './resolve-target.ts'
import type { UpstreamTarget, UpstreamTls, UpstreamTunnel } from './target.ts'
import { isForwarded } from './tunnel.ts'

export interface PoolLimits extends IdleLimits {
  /** Open connections per target; a call beyond fails with `overloaded`. */
  readonly openPerTargetMax: number
  readonly openMax: number
  /** Targets at a time, idle connections included; a call to one more fails with `overloaded`. */
  readonly targetsMax: number
}

/** What the pools of one client share. */
export interface PoolShared {
  readonly limits: PoolLimits
  readonly wheel: DeadlineWheel
  readonly dns: DnsCache
  readonly connected?: ConnectObserver | undefined
  /** Sends a call by HTTP/2 after all: the backend chose it in the handshake. */
  readonly byHttp2: (call: UpstreamCall) => void
  openConnections: number
}

const NOTHING = Buffer.alloc(0)

export class TargetPool implements ConnectionPool {
  /** `host:port` for logs. */
  readonly label: string
  /** Of a target that leaves the version to the handshake: the last one came to HTTP/1.1. */
  isChosen = false
  readonly #target: UpstreamTarget
  readonly #shared: PoolShared
  readonly #addresses: NamedAddresses
  readonly #idle: UpstreamConnection[] = []
  readonly #open = new Set<UpstreamConnection>()
  #secureContext: tls.SecureContext | undefined = undefined
  #session: Buffer | undefined = undefined
  readonly #shares = new ClientShares()
  #pending = 0
  #isClosed = false

  constructor(target: UpstreamTarget, shared: PoolShared) {
    this.#target = target
    this.#shared = shared
    this.#addresses = new NamedAddresses(target, shared.dns)
    const host = isIP(target.host) === 6 ? `[${target.host}]` : target.host
    this.label = target.unixPath ?? `${host}:${target.port}`
  }

  get isEmpty(): boolean {
    return this.#open.size === 0 && this.#pending === 0
  }

  get idleCount(): number {
    return this.#idle.length
  }

  get openCount(): number {
    return this.#open.size
  }

  get openMax(): number {
    return this.#shared.limits.openPerTargetMax
  }

  dispatch(call: UpstreamCall): void {
    if (!this.#admits(call)) {
      call.failed('overloaded', `this client has too many connections to ${this.label}`)
      return
    }
    // A tunnel carries bytes of the client from the first one on: a connection that has carried HTTP cannot become one.
    while (!call.isTunnel) {
      const connection = this.#target.tunnel === undefined ? this.#idle.pop() : this.#takeIdle(isForwarded(call))
      if (connection === undefined) break
      if (connection.isUsable) {
        this.#occupy(connection, call)
        connection.start(call, true)
        return
      }
    }
    this.connect(call)
  }

  /** Behind a proxy: connections to the proxy, or through it. */
  #takeIdle(wantsProxy: boolean): UpstreamConnection | undefined {
    const at = this.#idle.findLastIndex(({ proxyFields }) => (proxyFields !== undefined) === wantsProxy)
    return at < 0 ? undefined : this.#idle.splice(at, 1)[0]
  }

  #admits(call: UpstreamCall): boolean {
    const inUse = this.#open.size - this.#idle.length + this.#pending
    const free = this.#shared.limits.openPerTargetMax - inUse
    // A client that is alone gets the error for too many connections, not the one for its share.
    return free <= 0 || mayTakeMore(this.#shareOf(call), free)
  }

  #shareOf(call: UpstreamCall): Share {
    return (call.share ??= call.client === undefined ? { count: 0 } : this.#shares.of(call.client))
  }

  #begins(call: UpstreamCall): void {
    this.#pending++
    this.#shareOf(call).count++
  }

  #ends(call: UpstreamCall): void {
    this.#pending--
    this.#shareOf(call).count--
  }

  #occupy(connection: UpstreamConnection, call: UpstreamCall): void {
    connection.share = this.#shareOf(call)
    connection.share.count++
  }

  #vacate(connection: UpstreamConnection): void {
    if (connection.share !== undefined) connection.share.count--
    connection.share = undefined
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
    const deadlineMs = performance.now() + target.connectTimeoutMs
    this.#begins(call)
    resolveInTime(target, { ...shared, deadlineMs }, (resolved) => {
      this.#ends(call)
      if ('code' in resolved) call.unreached(resolved.code, resolved.detail)
      else this.#attempt(call, resolved.addresses, deadlineMs)
    })
  }

  /** The proxy on the way resolves the name. */
  #connectThrough(call: UpstreamCall, tunnel: UpstreamTunnel): void {
    const { tls: upstreamTls } = this.#target
    const alpn = upstreamTls && { ...upstreamTls, alpnProtocols: this.#offer(upstreamTls, call) }
    this.#begins(call)
    this.#shared.openConnections++
    const startMs = performance.now()
    const toProxy = isForwarded(call)
    const proxyFields = toProxy && 'headers' in tunnel.way ? tunnel.way.headers : undefined
    dialTunnel({ ...this.#target, tunnel, tls: alpn, isForwarded: toProxy }, this.#shared.dns, (outcome) => {
      if ('socket' in outcome) {
        this.#tellConnected(startMs)
        this.#take(call, outcome.socket, { proxyFields })
      } else {
        this.#ends(call)
        this.#shared.openConnections--
        call.unreached(outcome.code, outcome.detail)
      }
    })
  }

  /** A connection that was opened for HTTP/2, and whose backend chose HTTP/1.1. */
  adopt(call: UpstreamCall, socket: net.Socket, address: string | undefined): void {
    this.#begins(call)
    this.#shared.openConnections++
    this.isChosen = true
    this.#take(call, socket, { address })
  }

  #take(call: UpstreamCall, socket: net.Socket, place: PeerPlace): void {
    this.#connected(call, Transport.ofSocket(socket, NO_USER), place)
    socket.resume()
  }

  // --- ConnectionPool ---

  release(connection: UpstreamConnection): boolean {
    if (this.#isClosed || this.#idle.length >= this.#shared.limits.idlePerTargetMax || !connection.isUsable)
      return false
    this.#vacate(connection)
    connection.idleSince = coarseNowMs()
    this.#idle.push(connection)
    return true
  }

  removed(connection: UpstreamConnection): void {
    if (!this.#open.delete(connection)) return
    this.#vacate(connection)
    this.#shared.openConnections--
    const at = this.#idle.indexOf(connection)
    if (at >= 0) this.#idle.splice(at, 1)
  }

  retry(call: UpstreamCall): void {
    this.connect(call)
  }

  /** Closes what has been idle too long (the oldest are at the front) and what is stuck. */
  sweep(nowMs: number): void {
    this.#shares.sweep()
    for (const connection of this.#open) connection.sweep(nowMs)
    if (this.#addresses.isNew) this.#leaveOthers()
    const { idleTimeoutMs } = this.#shared.limits
    let expired = 0
    for (const connection of this.#idle) {
      if (!this.#isClosed && nowMs - connection.idleSince < idleTimeoutMs) break
      expired++
    }
    for (const connection of this.#idle.splice(0, expired)) connection.destroy()
  }

  /** Connections to addresses that the name has no more: idle ones go at once, the others when they are free. */
  #leaveOthers(): void {
    for (const connection of this.#open) connection.isLeft = !this.#addresses.has(connection.address)
    for (const connection of this.#idle) if (connection.isLeft) connection.destroy()
  }

  destroyAll(): void {
    this.#isClosed = true
    for (const connection of this.#open) connection.destroy()
  }

  // --- connecting ---

  /** Tries the addresses in turn until the deadline. */
  #attempt(call: UpstreamCall, addresses: readonly string[], deadlineMs: number): void {
    const [address = '', ...others] = addresses
    if (call.isSettled) return
    const startMs = performance.now()
    const connecting = new Connecting({
      wheel: this.#shared.wheel,
      deadlineMs: startMs + shareOf(deadlineMs, addresses.length),
      open: (user) => this.#openTransport(address, call, user),
      opened: (transport) => {
        this.#tellConnected(startMs)
        this.#connected(call, transport, { address })
      },
      failed: (detail) => {
        this.#ends(call)
        this.#shared.openConnections--
        this.#addresses.failed(address)
        if (others.length > 0) this.#attempt(call, others, deadlineMs)
        else call.unreached('upstreamFailure', at(this.label, detail))
      },
      timedOut: () => {
        this.#ends(call)
        this.#shared.openConnections--
        this.#addresses.failed(address)
        if (others.length > 0) this.#attempt(call, others, deadlineMs)
        else call.unreached('upstreamTimeout', `${this.label}: connect timeout`)
      },
    })
    this.#begins(call)
    this.#shared.openConnections++
    connecting.begin()
  }

  #tellConnected(startMs: number): void {
    this.#shared.connected?.(transportOf(this.#target), performance.now() - startMs)
  }

  #connected(call: UpstreamCall, transport: Transport, place: PeerPlace): void {
    this.#ends(call)
    if (!call.isTunnel && this.#target.tls !== undefined && chosenBy(transport.socket) === 'h2') {
      this.#shared.openConnections--
      transport.destroy()
      this.#otherwise(call)
      return
    }
    if (call instanceof ForwardCall && call.isTunnel) {
      this.#shared.openConnections--
      transport.pause()
      if (call.isSettled) transport.destroy()
      else call.connected(new Tunnel(transport, NOTHING, undefined))
      return
    }
    const take = (user: TransportUser): Transport => {
      transport.user = user
      return transport
    }
    const connection = new UpstreamConnection(this, take, place)
    connection.isLeft = !this.#addresses.has(place.address)
    this.#open.add(connection)
    // A call that gave up meanwhile leaves a good connection behind.
    if (!call.isSettled) {
      this.#occupy(connection, call)
      connection.start(call, false)
    } else if (!this.release(connection)) connection.destroy()
  }

  /** The backend chose HTTP/2. */
  #otherwise(call: UpstreamCall): void {
    this.isChosen = false
    if (this.#target.negotiates === true && call.upgrade === undefined && !call.isMoved) {
      call.isMoved = true
      this.#shared.byHttp2(call)
    } else call.failed('upstreamFailure', at(this.label, shown('the backend negotiated h2 instead of http/1.1')))
  }

  #openTransport(address: string, call: UpstreamCall, user: TransportUser): Transport {
    const { port, unixPath, tls: upstreamTls } = this.#target
    const place = unixPath === undefined ? { host: address, port } : { path: unixPath }
    if (upstreamTls === undefined) {
      const plain = Transport.connect({ ...place, noDelay: true }, user)
      keepProbingOnceOpen(plain.socket, this.#target.keepalive)
      return plain
    }
    const transport = Transport.connectTls({ ...place, ...this.#tlsOptions(upstreamTls, call) }, user)
    transport.socket.setNoDelay(true)
    keepProbingOnceOpen(transport.socket, this.#target.keepalive)
    transport.socket.on('session', (session: Buffer) => {
      this.#session = session
    })
    return transport
  }

  /** A switch of protocols needs HTTP/1.1; bytes of a tunnel are no HTTP of ours, so a list is offered as it stands. */
  #offer(upstreamTls: UpstreamTls, call: UpstreamCall): string[] {
    const { alpnProtocols } = upstreamTls
    const isOpen = call.isTunnel || (this.#target.negotiates === true && call.upgrade === undefined)
    return isOpen && alpnProtocols !== undefined ? [...alpnProtocols] : offered('http/1.1', upstreamTls)
  }

  /** Sessions and trust are kept per target key: a session of one server name or CA never serves another. */
  #tlsOptions(upstreamTls: UpstreamTls, call: UpstreamCall): tls.ConnectionOptions {
    const { host } = this.#target
    this.#secureContext ??= upstreamContext(upstreamTls)
    const servername = upstreamTls.servername ?? (isIP(host) === 0 ? host : undefined)
    return {
      secureContext: this.#secureContext,
      ALPNProtocols: this.#offer(upstreamTls, call),
      ...identityOptions(upstreamTls),
      ...(servername === undefined || isIP(servername) !== 0 ? {} : { servername }),
      ...(this.#session === undefined ? {} : { session: this.#session }),
    }
  }
}

/** The clock of idle times: `performance.now()` costs 30 ns, once per release is fine. */
function coarseNowMs(): number {
  return performance.now()
}
