// Opens a connection to a backend for bytes that are passed on: names, several addresses, one deadline, TLS. No pool.
import net, { isIP } from 'node:net'
import tls from 'node:tls'
import { at, type Detail, peerProblem, setupProblem, shown } from '../exchange/diagnosis.ts'
import type { FailureCode } from '../exchange/errors.ts'
import { keepProbingOnceOpen } from '../socket/keep-probing.ts'
import { identityOptions, upstreamContext } from './tls.ts'
import type { DnsCache } from './dns-cache.ts'
import { NamedAddresses, shareOf } from './named-addresses.ts'
import { resolveTarget } from './resolve-target.ts'
import type { UpstreamTarget, UpstreamTls } from './target.ts'

export type DialFailure = Extract<
  FailureCode,
  'dnsFailure' | 'destinationDenied' | 'addressDenied' | 'upstreamFailure' | 'upstreamTimeout'
>
export interface DialFault {
  readonly code: DialFailure
  readonly detail: Detail
}
export type DialOutcome = { readonly socket: net.Socket } | DialFault

export interface Dial {
  /** No outcome follows. */
  abort(): void
}

/** The socket of the outcome is paused and ready to write to; with TLS the handshake is over. */
export function dialDirect(target: UpstreamTarget, dns: DnsCache, done: (outcome: DialOutcome) => void): Dial {
  const dialing = new Dialing(target, dns, done)
  resolveTarget(target, dns, (resolved) => {
    if ('addresses' in resolved) dialing.attempt(resolved.addresses)
    else dialing.finish(resolved)
  })
  return dialing
}

class Dialing implements Dial {
  readonly #target: UpstreamTarget
  readonly #done: (outcome: DialOutcome) => void
  readonly #addresses: NamedAddresses
  readonly #deadlineMs: number
  readonly #timer: NodeJS.Timeout
  #patience: NodeJS.Timeout | undefined = undefined
  #socket: net.Socket | undefined = undefined
  #isOver = false

  constructor(target: UpstreamTarget, dns: DnsCache, done: (outcome: DialOutcome) => void) {
    this.#target = target
    this.#done = done
    this.#addresses = new NamedAddresses(target, dns)
    this.#deadlineMs = performance.now() + target.connectTimeoutMs
    this.#timer = setTimeout(() => {
      this.finish({ code: 'upstreamTimeout', detail: `${labelOf(target)}: connect timeout` })
    }, target.connectTimeoutMs)
  }

  abort(): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    clearTimeout(this.#patience)
    this.#socket?.destroy()
  }

  finish(outcome: DialOutcome): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    clearTimeout(this.#patience)
    if (!('socket' in outcome)) this.#socket?.destroy()
    this.#done(outcome)
  }

  /** In turn, until one answers. */
  attempt(addresses: readonly string[]): void {
    if (this.#isOver) return
    const [address = '', ...others] = addresses
    let socket: net.Socket
    try {
      socket = this.#open(address)
    } catch (error) {
      // A certificate or key that cannot be used: other addresses would not help.
      this.finish({ code: 'upstreamFailure', detail: at(labelOf(this.#target), setupProblem(error)) })
      return
    }
    this.#socket = socket
    const failed = (detail: Detail): void => {
      if (this.#isOver || this.#socket !== socket) return
      clearTimeout(this.#patience)
      this.#addresses.failed(address)
      socket.destroy()
      if (others.length > 0) this.attempt(others)
      else this.finish({ code: 'upstreamFailure', detail: at(labelOf(this.#target), detail) })
    }
    if (others.length > 0)
      this.#patience = setTimeout(
        () => failed(shown('connect timeout')),
        shareOf(this.#deadlineMs, addresses.length),
      ).unref()
    socket.on('error', (error) => failed(peerProblem(error, 'connection failed')))
    socket.on('close', () => failed(shown('closed while connecting')))
    socket.once(this.#target.tls === undefined ? 'connect' : 'secureConnect', () => {
      this.finish({ socket })
    })
  }

  #open(address: string): net.Socket {
    const { port, unixPath, tls: upstreamTls } = this.#target
    const place = unixPath === undefined ? { host: address, port } : { path: unixPath }
    const socket = net.connect({
      ...place,
      allowHalfOpen: true,
      noDelay: true,
    })
    keepProbingOnceOpen(socket, this.#target.keepalive)
    return upstreamTls === undefined ? socket : secure(socket, upstreamTls, this.#target.host)
  }
}

/** @throws {Error} when a certificate or key is not what it should be. */
export function secure(socket: net.Socket, upstreamTls: UpstreamTls, host: string): tls.TLSSocket {
  // The error of the handshake comes from the TLS socket; the one below must not be without a listener either.
  socket.on('error', () => {})
  return tls.connect({ socket, ...tlsOptions(upstreamTls, host) })
}

function tlsOptions(upstream: UpstreamTls, host: string): tls.ConnectionOptions {
  const servername = upstream.servername ?? host
  const { alpnProtocols } = upstream
  return {
    secureContext: upstreamContext(upstream),
    ...identityOptions(upstream),
    // An address is no valid server name (RFC 6066 section 3), but certificates are held against it.
    ...(isIP(servername) === 0 ? { servername } : { host: servername }),
    ...(alpnProtocols !== undefined && { ALPNProtocols: [...alpnProtocols] }),
  }
}

export function labelOf({ host, port, unixPath }: UpstreamTarget): string {
  return unixPath ?? `${isIP(host) === 6 ? `[${host}]` : host}:${port}`
}
