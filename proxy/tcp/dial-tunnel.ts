// Opens a connection to a backend through its proxy: the way to the proxy, CONNECT, then TLS to the backend. One
// deadline for all of it.
import { isIP } from 'node:net'
import type net from 'node:net'
import { admitsUnresolved } from '#api/net/unresolved-host.ts'
import { at, type Detail, logOf, peerProblem, setupProblem, shown } from '../diagnosis.ts'
import type { DnsCache } from '../upstream/dns-cache.ts'
import { asciiOf } from '../upstream/host-names.ts'
import { offered } from '../upstream/protocols.ts'
import type { UpstreamTarget } from '../upstream/target.ts'
import { deniedAddress } from '../upstream/resolve-target.ts'
import { askForTunnel, connectHead, type TunnelProxy, type UpstreamTunnel } from '../upstream/tunnel.ts'
import { type Dial, dialDirect, type DialFault, type DialOutcome, labelOf, secure } from './dial.ts'

/** The socket of the outcome is paused and ready to write to; with TLS the handshake is over. */
export function dial(target: UpstreamTarget, dns: DnsCache, done: (outcome: DialOutcome) => void): Dial {
  const { tunnel } = target
  return tunnel === undefined ? dialDirect(target, dns, done) : dialTunnel({ ...target, tunnel }, dns, done)
}

/** `isForwarded`: the outcome is the connection to the proxy itself, which is handed whole requests. */
export type TunnelTarget = UpstreamTarget & { readonly tunnel: UpstreamTunnel; readonly isForwarded?: boolean }

/** For targets with a tunnel. */
export function dialTunnel(target: TunnelTarget, dns: DnsCache, done: (outcome: DialOutcome) => void): Dial {
  const dialing = new TunnelDialing(target, done)
  dialing.begin(dns)
  return dialing
}

class TunnelDialing implements Dial {
  readonly #target: TunnelTarget
  readonly #done: (outcome: DialOutcome) => void
  readonly #startMs = performance.now()
  #timer: NodeJS.Timeout | undefined = undefined
  #leg: Dial | undefined = undefined
  #socket: net.Socket | undefined = undefined
  /** Whose answer is awaited. */
  #proxy: TunnelProxy | undefined = undefined
  #isOver = false

  constructor(target: TunnelTarget, done: (outcome: DialOutcome) => void) {
    this.#target = target
    this.#done = done
  }

  begin(dns: DnsCache): void {
    const { tunnel, unixPath, connectTimeoutMs } = this.#target
    const { way } = tunnel
    const denial = this.#denial(dns)
    if ('problem' in way) this.#fail({ log: way.problem, client: 'the proxy on the way cannot be used' })
    else if (unixPath !== undefined) this.#fail(shown('a unix socket cannot be reached through a proxy'))
    else if (denial !== undefined) this.#finish(denial)
    else {
      this.#timer = setTimeout(() => {
        this.#finish({ code: 'upstreamTimeout', detail: `${labelOf(this.#target)}: connect timeout` })
      }, connectTimeoutMs)
      const proxy = way.pick()
      if (proxy === undefined) this.#fail(shown('no proxy is ready'))
      else this.#toProxy(proxy, way.headers, dns)
    }
  }

  /** Of a host that nobody resolves here: other names are the proxy's to resolve, and to judge. */
  #denial({ guard: ofProcess }: DnsCache): DialFault | undefined {
    const { host, guard, namedBy } = this.#target
    if (guard !== undefined) {
      if (admitsUnresolved(host, guard.admits)) return undefined
      return { code: 'destinationDenied', detail: `${host} through a proxy` }
    }
    if (ofProcess === undefined || admitsUnresolved(host, (address) => ofProcess.admits(address, namedBy)))
      return undefined
    return { code: 'addressDenied', detail: deniedAddress(host, [host]) }
  }

  abort(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#settleProxy(undefined)
    this.#release(true)
  }

  #toProxy(proxy: TunnelProxy, headers: readonly string[], dns: DnsCache): void {
    proxy.begin()
    this.#proxy = proxy
    this.#leg = dialDirect(overHttp1(proxy.target), dns, (outcome) => {
      this.#leg = undefined
      if (!('socket' in outcome)) this.#finish({ code: outcome.code, detail: ofProxy(outcome.detail) })
      else if (this.#isOver) outcome.socket.destroy()
      else {
        this.#socket = outcome.socket
        if (this.#target.isForwarded === true) {
          this.#settleProxy(true)
          this.#finish({ socket: outcome.socket })
        } else this.#ask(outcome.socket, headers)
      }
    })
  }

  #ask(socket: net.Socket, headers: readonly string[]): void {
    socket.on('error', () => {})
    const { host, port } = this.#target
    const authority = `${isIP(host) === 6 ? `[${host}]` : asciiOf(host)}:${port}`
    let head: string
    try {
      head = connectHead(authority, headers)
    } catch (error) {
      this.#fail(setupProblem(error))
      return
    }
    askForTunnel(socket, head, ({ problem, status }) => {
      if (this.#isOver) return
      // A proxy that refuses a destination does what it is there for.
      this.#settleProxy(status !== undefined && status < 500)
      if (problem !== undefined) this.#fail(shown(problem))
      else if (this.#target.tls === undefined) this.#finish({ socket })
      else this.#secure(socket, this.#target.tls)
    })
  }

  #secure(socket: net.Socket, upstreamTls: NonNullable<UpstreamTarget['tls']>): void {
    let secured: net.Socket
    try {
      secured = secure(socket, upstreamTls, this.#target.host)
    } catch (error) {
      // A certificate or key that cannot be used.
      this.#fail(setupProblem(error))
      return
    }
    this.#socket = secured
    secured.on('error', (error) => this.#fail(peerProblem(error, 'connection failed')))
    secured.on('close', () => this.#fail(shown('closed during the handshake')))
    secured.once('secureConnect', () => this.#finish({ socket: secured }))
  }

  #fail(detail: Detail): void {
    this.#finish({ code: 'upstreamFailure', detail: at(labelOf(this.#target), detail) })
  }

  #finish(outcome: DialOutcome): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#release(!('socket' in outcome))
    this.#done(outcome)
  }

  #release(isFailure: boolean): void {
    clearTimeout(this.#timer)
    this.#leg?.abort()
    this.#settleProxy(false)
    if (isFailure) this.#socket?.destroy()
  }

  #settleProxy(isHealthy: boolean | undefined): void {
    const proxy = this.#proxy
    this.#proxy = undefined
    proxy?.end(performance.now() - this.#startMs, isHealthy)
  }
}

function ofProxy(detail: Detail): Detail {
  const log = `proxy ${logOf(detail)}`
  return typeof detail === 'string' ? log : { log, client: `the proxy on the way: ${detail.client}` }
}

/** Proxies are spoken to in HTTP/1.1, whatever else their policy lists. */
function overHttp1(proxy: UpstreamTarget): UpstreamTarget {
  if (proxy.tls?.alpnProtocols === undefined) return proxy
  return { ...proxy, tls: { ...proxy.tls, alpnProtocols: offered('http/1.1', proxy.tls) } }
}
