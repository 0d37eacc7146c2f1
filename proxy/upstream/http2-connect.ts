// Opens HTTP/2 to one target: name, socket, TLS, settings of the peer, all within one deadline.
import http2, { type ClientHttp2Session } from 'node:http2'
import net, { isIP } from 'node:net'
import tls from 'node:tls'
import { type Detail, http2Problem, peerProblem, setupProblem, shown } from '../exchange/diagnosis.ts'
import type { DeadlineWheel, Expiring } from '../socket/deadlines.ts'
import { keepProbingOnceOpen } from '../socket/keep-probing.ts'
import { type ConnectObserver, transportOf } from './connect-observer.ts'
import type { DnsCache } from './dns-cache.ts'
import type { DialFailure } from './dial.ts'
import { dialTunnel } from './dial-tunnel.ts'
import { identityOptions, upstreamContext } from './tls.ts'
import { NamedAddresses, shareOf } from './named-addresses.ts'
import { chosenBy, type HttpProtocol, offered } from './protocols.ts'
import { resolveTarget } from './resolve-target.ts'
import type { UpstreamTarget, UpstreamTls, UpstreamTunnel } from './target.ts'

/** RFC 9113 section 6.5.2: a peer may exceed them until it receives them, so every bound is enforced here. */
const SETTINGS: http2.Settings = { enablePush: false, initialWindowSize: 1_048_576, maxHeaderListSize: 65_536 }
/** Megabytes; messages are bounded, so more means a peer that floods. */
const SESSION_MEMORY_MAX = 16

/**
 * Lists are checked where they are made; repeated fields of a message are passed on. The types leave the option out.
 */
const LENIENT = { strictSingleValueFields: false } as const

export interface ConnectOptions {
  readonly target: UpstreamTarget
  readonly dns: DnsCache
  readonly wheel: DeadlineWheel
  /** The socket is ready; settings are not in this time. */
  readonly connected?: ConnectObserver | undefined
  /** The session is ready: the peer's settings are here. */
  readonly opened: (session: ClientHttp2Session, address: string | undefined, socket: net.Socket) => void
  readonly failed: (detail: Detail, code: ConnectFailure) => void
  /** Instead of both, where the version is left to the handshake: the peer chose HTTP/1.1. The socket is paused. */
  readonly chosenHttp1?: (socket: net.Socket, address: string | undefined) => void
  /** Instead of those for calls of the proxy's own. */
  readonly settings?: http2.Settings
  /** Megabytes. */
  readonly sessionMemoryMax?: number
}

export type ConnectFailure = DialFailure

/** Calls one of `opened`, `failed` and `chosenHttp1`, once. */
export function connectHttp2(options: ConnectOptions): void {
  new Connecting(options).begin()
}

class Connecting implements Expiring {
  readonly #options: ConnectOptions
  readonly #slot: number
  readonly #addresses: NamedAddresses
  readonly #deadlineMs: number
  #startMs = performance.now()
  /** undefined: behind a proxy, or on a unix socket. */
  #address: string | undefined = undefined
  /** Left to try after this one. */
  #others: readonly string[] = []
  #patience: NodeJS.Timeout | undefined = undefined
  #socket: net.Socket | undefined = undefined
  #session: ClientHttp2Session | undefined = undefined
  #isOver = false

  constructor(options: ConnectOptions) {
    this.#options = options
    this.#addresses = new NamedAddresses(options.target, options.dns)
    this.#deadlineMs = performance.now() + options.target.connectTimeoutMs
    this.#slot = options.wheel.add(this, this.#deadlineMs)
  }

  begin(): void {
    const { target, dns } = this.#options
    if (target.tunnel !== undefined) this.#through(target, target.tunnel)
    else {
      resolveTarget(target, dns, (resolved) => {
        if ('code' in resolved) this.#fail(resolved.detail, resolved.code)
        else this.#try(resolved.addresses)
      })
    }
  }

  /** The proxy on the way resolves the name. */
  #through(target: UpstreamTarget, tunnel: UpstreamTunnel): void {
    const upstreamTls = target.tls && { ...target.tls, alpnProtocols: this.#offer(target.tls) }
    dialTunnel({ ...target, tunnel, tls: upstreamTls }, this.#options.dns, (outcome) => {
      if (!('socket' in outcome)) this.#fail(outcome.detail, outcome.code)
      else if (this.#isOver) outcome.socket.destroy()
      else {
        this.#socket = outcome.socket
        this.#ready(outcome.socket)
      }
    })
  }

  expired(): void {
    if (this.#address !== undefined) this.#addresses.failed(this.#address)
    this.#fail('connect timeout', 'upstreamTimeout')
  }

  #try(addresses: readonly string[]): void {
    if (this.#isOver) return
    const [address = '', ...others] = addresses
    this.#others = others
    this.#address = address === '' ? undefined : address
    this.#startMs = performance.now()
    const socket = this.#open(address)
    if (socket === undefined) return
    this.#socket = socket
    if (others.length > 0)
      this.#patience = setTimeout(() => this.#next(), shareOf(this.#deadlineMs, addresses.length)).unref()
    socket.setNoDelay(true)
    keepProbingOnceOpen(socket, this.#options.target.keepalive)
    const isTls = socket instanceof tls.TLSSocket
    const onError = (error: Error): void => {
      if (this.#socket !== socket) return
      if (this.#others.length > 0) this.#next()
      else {
        this.#addresses.failed(address)
        this.#fail(peerProblem(error, 'connection failed'))
      }
    }
    socket.on('error', onError)
    socket.once(isTls ? 'secureConnect' : 'connect', () => {
      if (this.#socket !== socket) return
      socket.off('error', onError)
      this.#ready(socket)
    })
  }

  /** This address fails, or takes longer than the others can wait. */
  #next(): void {
    if (this.#address !== undefined) this.#addresses.failed(this.#address)
    clearTimeout(this.#patience)
    this.#discard()
    this.#try(this.#others)
  }

  /** If no caller accepts HTTP/1.1, only HTTP/2 is offered. */
  #offer(upstreamTls: UpstreamTls): string[] {
    const { alpnProtocols } = upstreamTls
    const isOpen = this.#options.chosenHttp1 !== undefined && alpnProtocols !== undefined
    return isOpen ? [...alpnProtocols] : offered('h2', upstreamTls)
  }

  #ready(socket: net.Socket): void {
    const { chosenHttp1 } = this.#options
    const protocol = socket instanceof tls.TLSSocket ? (chosenBy(socket) ?? this.#unchosen()) : 'h2'
    if (protocol === 'http/1.1' && chosenHttp1 !== undefined) {
      if (!this.#finish()) return
      this.#tellConnected()
      socket.pause()
      chosenHttp1(socket, this.#address)
      return
    }
    if (protocol !== 'h2') this.#fail(shown(`the backend negotiated ${protocol} instead of h2`))
    if (this.#isOver) return
    this.#tellConnected()
    this.#handshake(socket)
  }

  /** A peer that was not asked in so many words may still speak HTTP/2. */
  #unchosen(): HttpProtocol {
    const { chosenHttp1, target } = this.#options
    return chosenHttp1 === undefined || target.httpVersion === 'HTTP2' ? 'h2' : 'http/1.1'
  }

  #tellConnected(): void {
    const { connected, target } = this.#options
    connected?.(transportOf(target), performance.now() - this.#startMs)
  }

  #open(address: string): net.Socket | undefined {
    try {
      return this.#openSocket(address)
    } catch (error) {
      // An invalid certificate, key or bundle.
      this.#fail(setupProblem(error))
      return undefined
    }
  }

  #handshake(socket: net.Socket): void {
    const session = http2.connect('http://peer', {
      createConnection: () => socket,
      settings: { ...SETTINGS, ...this.#options.settings },
      maxSessionMemory: this.#options.sessionMemoryMax ?? SESSION_MEMORY_MAX,
      ...LENIENT,
      maxReservedRemoteStreams: 0,
    })
    this.#session = session
    const onClose = (): void => {
      if (this.#session === session) this.#fail(shown('closed before the SETTINGS frame'))
    }
    const onError = (error: Error): void => {
      if (this.#session === session) this.#fail(http2Problem(error))
    }
    session.on('error', onError)
    session.once('close', onClose)
    // After an alert, as for a missing client certificate, a TLS socket stays open, and the session waits for its end.
    socket.on('error', () => socket.destroy())
    session.once('remoteSettings', () => {
      if (this.#session !== session || !this.#finish()) return
      session.off('close', onClose)
      this.#options.opened(session, this.#address, socket)
      // Only now: without a listener an error would end the process.
      session.off('error', onError)
    })
  }

  #fail(detail: Detail, code: ConnectFailure = 'upstreamFailure'): void {
    if (!this.#finish()) return
    this.#discard()
    this.#options.failed(detail, code)
  }

  #discard(): void {
    const { socket, session } = { socket: this.#socket, session: this.#session }
    this.#socket = undefined
    this.#session = undefined
    if (session === undefined) {
      // Later errors are ignored.
      socket?.on('error', () => undefined)
      socket?.destroy()
    } else session.destroy()
  }

  #finish(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    clearTimeout(this.#patience)
    this.#options.wheel.remove(this, this.#slot)
    return true
  }

  #openSocket(address: string): net.Socket {
    const { port, unixPath, host, tls: upstreamTls } = this.#options.target
    const place = unixPath === undefined ? { host: address, port } : { path: unixPath }
    if (upstreamTls === undefined) return net.connect(place)
    const servername = upstreamTls.servername ?? (isIP(host) === 0 ? host : undefined)
    return tls.connect({
      ...place,
      secureContext: upstreamContext(upstreamTls),
      ALPNProtocols: this.#offer(upstreamTls),
      ...identityOptions(upstreamTls),
      // An IP address is no valid SNI (RFC 6066 section 3).
      ...(servername === undefined || isIP(servername) !== 0 ? {} : { servername }),
    })
  }
}
