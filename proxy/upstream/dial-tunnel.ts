// Opens a connection to a backend through its proxy: the way to the proxy, CONNECT, then TLS to the backend. One
// deadline for all of it. Another endpoint of the proxy is tried where one cannot be connected or does not answer
// CONNECT with a status: nothing of the client was sent.
import { isIP } from 'node:net'
import type net from 'node:net'
import { admitsUnresolved } from '#api/net/unresolved-host.ts'
import { at, type Detail, logOf, peerProblem, setupProblem, shown } from '../exchange/diagnosis.ts'
import type { DnsCache } from './dns-cache.ts'
import { asciiOf } from './host-names.ts'
import { shareOf } from './named-addresses.ts'
import { offered } from './protocols.ts'
import type { UpstreamTarget, TunnelProxy, TunnelWay, UpstreamTunnel } from './target.ts'
import { deniedAddress } from './resolve-target.ts'
import { askForTunnel, connectHead } from './tunnel.ts'
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
  const dialing = new TunnelDialing(target, dns, done)
  dialing.begin()
  return dialing
}

/** While another endpoint of the proxy may be left, each may take half of the remaining time to connect. */
const ENDPOINTS_SHARE = 2

class TunnelDialing implements Dial {
  readonly #target: TunnelTarget
  readonly #dns: DnsCache
  readonly #done: (outcome: DialOutcome) => void
  readonly #deadlineMs: number
  /** Of the attempt. */
  #startMs = 0
  #timer: NodeJS.Timeout | undefined = undefined
  /** How long the others wait for this attempt to connect. */
  #patience: NodeJS.Timeout | undefined = undefined
  #leg: Dial | undefined = undefined
  #socket: net.Socket | undefined = undefined
  /** Whose answer is awaited. */
  #proxy: TunnelProxy | undefined = undefined
  #isOver = false

  constructor(target: TunnelTarget, dns: DnsCache, done: (outcome: DialOutcome) => void) {
    this.#target = target
    this.#dns = dns
    this.#done = done
    this.#deadlineMs = performance.now() + target.connectTimeoutMs
  }

  begin(): void {
    const { tunnel, unixPath, connectTimeoutMs } = this.#target
    const { way } = tunnel
    const denial = this.#denial(this.#dns)
    if ('problem' in way) this.#fail({ log: way.problem, client: 'the upstream proxy cannot be used' })
    else if (unixPath !== undefined) this.#fail(shown('a unix socket cannot be reached through a proxy'))
    else if (denial !== undefined) this.#finish(denial)
    else {
      this.#timer = setTimeout(() => {
        this.#finish({ code: 'upstreamTimeout', detail: `${labelOf(this.#target)}: connect timeout` })
      }, connectTimeoutMs)
      if ('open' in way) {
        this.#open(way.open)
        return
      }
      const proxy = way.pick()
      if (proxy === undefined) this.#fail(shown('no proxy is ready'))
      else this.#toProxy(proxy, way.headers)
    }
  }

  /** For hosts that are not resolved here: the proxy on the way resolves and checks other names. */
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

  #open(open: Extract<TunnelWay, { readonly open: unknown }>['open']): void {
    let isSettled = false
    const leg = open(this.#target, (outcome) => {
      isSettled = true
      this.#leg = undefined
      if (!('socket' in outcome)) this.#finish(outcome)
      else if (this.#isOver) outcome.socket.destroy()
      else {
        this.#socket = outcome.socket
        if (this.#target.tls === undefined) this.#finish({ socket: outcome.socket })
        else this.#secure(outcome.socket, this.#target.tls)
      }
    })
    if (!isSettled) this.#leg = leg
  }

  abort(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#settleProxy(undefined)
    this.#release(true)
  }

  #toProxy(proxy: TunnelProxy, headers: readonly string[]): void {
    this.#startMs = performance.now()
    proxy.begin()
    this.#proxy = proxy
    const moveOn = (): boolean => {
      const next = this.#isOver ? undefined : proxy.other()
      if (next === undefined) return false
      this.#leave()
      this.#toProxy(next, headers)
      return true
    }
    this.#patience = setTimeout(moveOn, shareOf(this.#deadlineMs, ENDPOINTS_SHARE)).unref()
    let isSettled = false
    const leg = dialDirect(overHttp1(proxy.target), this.#dns, (outcome) => {
      isSettled = true
      clearTimeout(this.#patience)
      this.#leg = undefined
      if (!('socket' in outcome)) {
        if (!moveOn()) this.#finish({ code: outcome.code, detail: ofProxy(outcome.detail) })
      } else if (this.#isOver) outcome.socket.destroy()
      else {
        this.#socket = outcome.socket
        if (this.#target.isForwarded === true) {
          this.#settleProxy(true)
          this.#finish({ socket: outcome.socket })
        } else this.#ask(outcome.socket, headers, moveOn)
      }
    })
    // An outcome may come at once, and with it the next attempt.
    if (!isSettled) this.#leg = leg
  }

  /** The endpoint of the proxy that did not do its part. */
  #leave(): void {
    clearTimeout(this.#patience)
    this.#leg?.abort()
    this.#leg = undefined
    this.#socket?.destroy()
    this.#socket = undefined
    this.#settleProxy(false)
  }

  #ask(socket: net.Socket, headers: readonly string[], moveOn: () => boolean): void {
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
      if (this.#isOver || this.#socket !== socket) return
      if (status === undefined && problem !== undefined && moveOn()) return
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
    clearTimeout(this.#patience)
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
  return typeof detail === 'string' ? log : { log, client: `the upstream proxy: ${detail.client}` }
}

/** Proxies are spoken to in HTTP/1.1, whatever else their policy lists. */
function overHttp1(proxy: UpstreamTarget): UpstreamTarget {
  if (proxy.tls?.alpnProtocols === undefined) return proxy
  return { ...proxy, tls: { ...proxy.tls, alpnProtocols: offered('http/1.1', proxy.tls) } }
}
