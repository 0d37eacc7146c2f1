// All connections to one workload with one identity of the proxy: opens them, checks who answers, assigns tunnels to
// those with room, closes them when they are idle. All numbers are limited.
import { X509Certificate } from 'node:crypto'
import { type ClientHttp2Session, constants, type IncomingHttpHeaders } from 'node:http2'
import type net from 'node:net'
import tls from 'node:tls'
import type { Probes } from '#api/ir/keepalive.ts'
import { type Detail, setupProblem, shown } from '../exchange/diagnosis.ts'
import { watchEnd } from '../http2/end-of-stream.ts'
import { streamSocket } from '../http2/stream-socket.ts'
import type { DeadlineWheel } from '../socket/deadlines.ts'
import { acceptsTrustDomain, PeerCertificate } from '../socket/peer.ts'
import type { ConnectObserver } from '../upstream/connect-observer.ts'
import type { DialFailure } from '../upstream/dial.ts'
import type { DnsCache } from '../upstream/dns-cache.ts'
import { connectHttp2 } from '../upstream/http2-connect.ts'
import type { UpstreamTarget } from '../upstream/target.ts'
import type { HboneLimits } from './hbone-limits.ts'
import type { HboneOpening } from './hbone-opening.ts'
import type { MeshIdentity } from './mesh-secrets.ts'

/** 1600 tunnels to one workload and worker, with the default number for each. */
const SESSIONS_MAX = 16
/** Tunnels that wait for a connection; a further one fails at once. */
const WAITING_MAX = 1024
/** Megabytes, as node counts them; at least four windows of a connection. */
const SESSION_MEMORY_MIN = 64
const WINDOWS_IN_MEMORY = 4
const MEGABYTE = 1_000_000
/** Time that a workload has to answer a PING after it did not answer CONNECT. */
const PING_TIMEOUT_MS = 5000

export interface HboneWorkload {
  readonly key: string
  readonly host: string
  readonly tunnelPort: number
  /** The identity that it must have; undefined: any of the accepted trust domains. */
  readonly spiffeId: string | undefined
  readonly connectTimeoutMs: number
  readonly namedBy?: UpstreamTarget['namedBy']
}

export interface HboneParts {
  readonly dns: DnsCache
  readonly wheel: DeadlineWheel
  readonly connected: ConnectObserver | undefined
  readonly limits: HboneLimits
  /** Of the connections; policies apply to the tunnels in them. */
  readonly keepalive: Probes
}

interface Connection {
  readonly session: ClientHttp2Session
  streams: number
  isLeaving: boolean
  idleSinceMs: number
}

export class HboneConnections {
  readonly #workload: HboneWorkload
  readonly #identity: MeshIdentity
  readonly #parts: HboneParts
  readonly #connections = new Set<Connection>()
  #waiting: HboneOpening[] = []
  #isConnecting = false
  #isClosed = false

  constructor(workload: HboneWorkload, identity: MeshIdentity, parts: HboneParts) {
    this.#workload = workload
    this.#identity = identity
    this.#parts = parts
  }

  get openConnections(): number {
    return this.#connections.size
  }

  get isEmpty(): boolean {
    return this.#connections.size === 0 && !this.#isConnecting && this.#waiting.length === 0
  }

  dispatch(opening: HboneOpening): void {
    if (this.#waiting.length === 0 && this.#start(opening)) return
    if (this.#waiting.length >= WAITING_MAX) this.#waiting = this.#waiting.filter(({ isSettled }) => !isSettled)
    if (this.#isClosed || this.#waiting.length >= WAITING_MAX) {
      opening.fail('upstreamFailure', shown('too many tunnels wait for a connection'))
      return
    }
    this.#waiting.push(opening)
    this.#connect()
  }

  sweep(nowMs: number): void {
    for (const connection of this.#connections) {
      const { streams, idleSinceMs, isLeaving } = connection
      if (streams === 0 && !isLeaving && nowMs - idleSinceMs >= this.#parts.limits.idleTimeoutMs)
        this.#leave(connection)
    }
  }

  destroy(): void {
    this.#isClosed = true
    this.#failWaiting('upstreamFailure', shown('the client is closed'))
    for (const { session } of this.#connections) session.destroy()
  }

  #connect(): void {
    if (this.#isConnecting || this.#isClosed || this.#connections.size >= SESSIONS_MAX) return
    const { key, host, tunnelPort, connectTimeoutMs, namedBy } = this.#workload
    const { chain, privateKey, roots } = this.#identity
    const { limits } = this.#parts
    this.#isConnecting = true
    const startMs = performance.now()
    connectHttp2({
      dns: this.#parts.dns,
      wheel: this.#parts.wheel,
      target: {
        key,
        host,
        port: tunnelPort,
        unixPath: undefined,
        // The certificate must be valid with the roots of the mesh; the identity in it is checked by `strangerIn`.
        tls: {
          servername: undefined,
          caCertificates: roots,
          insecureSkipVerify: 'Hostname',
          alpnProtocols: undefined,
          clientCertificate: chain,
          clientKey: privateKey,
        },
        httpVersion: 'HTTP2',
        connectTimeoutMs,
        keepalive: this.#parts.keepalive,
        ...(namedBy !== undefined && { namedBy }),
      },
      settings: { initialWindowSize: limits.windowBytes, maxFrameSize: limits.frameBytes },
      sessionMemoryMax: memoryMax(limits),
      opened: (session, _address, socket) => {
        this.#isConnecting = false
        this.#opened(session, socket, startMs)
      },
      failed: (detail, code) => {
        this.#isConnecting = false
        if (this.#connections.size === 0) this.#failWaiting(code, detail)
      },
    })
  }

  #opened(session: ClientHttp2Session, socket: net.Socket, startMs: number): void {
    session.on('error', () => {})
    const stranger = this.#strangerIn(socket)
    if (stranger !== undefined || this.#isClosed) {
      session.destroy()
      this.#failWaiting('upstreamFailure', { log: stranger ?? 'closed', client: 'the workload has another identity' })
      return
    }
    this.#parts.connected?.('hbone', performance.now() - startMs)
    session.setLocalWindowSize(this.#parts.limits.connectionWindowBytes)
    const connection: Connection = { session, streams: 0, isLeaving: false, idleSinceMs: performance.now() }
    this.#connections.add(connection)
    session.on('goaway', () => this.#leave(connection))
    session.once('close', () => {
      this.#connections.delete(connection)
      this.#startWaiting()
    })
    session.on('remoteSettings', () => this.#startWaiting())
    this.#startWaiting()
  }

  /** Why the peer is not the workload; undefined: it is. */
  #strangerIn(socket: net.Socket): string | undefined {
    const certificate = socket instanceof tls.TLSSocket ? socket.getPeerX509Certificate() : undefined
    if (!(certificate instanceof X509Certificate)) return 'the peer has no certificate'
    const { spiffeId = 'no SPIFFE id', identity } = new PeerCertificate(certificate)
    const expected = this.#workload.spiffeId
    if (expected !== undefined && spiffeId !== expected) return `the peer is ${spiffeId} instead of ${expected}`
    if (identity === undefined) return `the peer has no identity of a workload: ${spiffeId}`
    return acceptsTrustDomain(this.#identity.trustDomains, identity.trustDomain)
      ? undefined
      : `the trust domain of ${spiffeId} is not accepted`
  }

  #startWaiting(): void {
    while (this.#waiting.length > 0) {
      const [opening] = this.#waiting
      if (opening !== undefined && !opening.isSettled && !this.#start(opening)) {
        this.#connect()
        return
      }
      this.#waiting.shift()
    }
  }

  /** False: no connection has room. */
  #start(opening: HboneOpening): boolean {
    for (const connection of this.#connections) {
      const { session, streams, isLeaving } = connection
      const { streamsMax } = this.#parts.limits
      const most = Math.min(streamsMax, session.remoteSettings.maxConcurrentStreams ?? streamsMax)
      if (isLeaving || session.closed || session.destroyed || streams >= most) continue
      this.#request(connection, opening)
      return true
    }
    return false
  }

  #request(connection: Connection, opening: HboneOpening): void {
    const { session } = connection
    let stream
    try {
      const head = { ':method': 'CONNECT', ':authority': opening.authority }
      stream = session.request(head, { endStream: false, waitForTrailers: true })
    } catch (error) {
      this.#leave(connection)
      opening.fail('upstreamFailure', setupProblem(error))
      return
    }
    connection.streams++
    const end = watchEnd(stream)
    stream.pause()
    let isOpen = false
    stream.on('error', () => {})
    stream.once('response', (head: IncomingHttpHeaders & { ':status'?: number }) => {
      if (head[':status'] === 200) {
        isOpen = true
        opening.cancel = undefined
        opening.succeed(streamSocket(stream, end, () => undefined))
      } else opening.fail('upstreamFailure', shown(`the workload answered CONNECT with ${head[':status']}`))
    })
    stream.once('close', () => {
      connection.streams--
      connection.idleSinceMs = performance.now()
      if (!isOpen) opening.fail('upstreamFailure', shown('the workload closed the tunnel'))
      if (connection.isLeaving && connection.streams === 0) session.close()
      this.#startWaiting()
    })
    opening.cancel = (isLate) => {
      stream.close(constants.NGHTTP2_CANCEL)
      if (isLate) probe(session)
    }
  }

  /** No further tunnels; those that are open stay. */
  #leave(connection: Connection): void {
    connection.isLeaving = true
    if (connection.streams === 0) connection.session.close()
  }

  #failWaiting(code: DialFailure, detail: Detail): void {
    for (const opening of this.#waiting.splice(0)) opening.fail(code, detail)
  }
}

function memoryMax({ connectionWindowBytes }: HboneLimits): number {
  return Math.max(SESSION_MEMORY_MIN, Math.ceil((connectionWindowBytes * WINDOWS_IN_MEMORY) / MEGABYTE))
}

/** A workload that does not answer may be gone without a word: then all its tunnels end. */
function probe(session: ClientHttp2Session): void {
  if (session.destroyed) return
  const timer = setTimeout(() => session.destroy(), PING_TIMEOUT_MS).unref()
  if (!session.ping(() => clearTimeout(timer))) clearTimeout(timer)
}
