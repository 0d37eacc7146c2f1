// One TLS listener while its settings last: shakes hands and hands connections on. A change of the settings makes a new
// one, and this one drains.
import { X509Certificate } from 'node:crypto'
import type net from 'node:net'
import type tls from 'node:tls'
import type { Exchange } from '../exchange/exchange.ts'
import type { ConnectionFacts } from '../socket/connection-facts.ts'
import type { HandlerSlot, RequestHandler } from '../http/handler.ts'
import type { HttpServer, IdleConnection } from '../http/server.ts'
import type { TcpConnections } from '../tcp/connections.ts'
import type { ConnectionObserver } from '../metrics/tcp-observer.ts'
import { handshakeCause } from './handshake-cause.ts'
import { acceptsTrustDomain, PeerCertificate } from '../socket/peer.ts'
import type { TlsListenerPlan } from './plan.ts'
import { letsInEverybody, type TlsSettings } from './settings.ts'
import type { TicketSecrets } from './ticket-secrets.ts'
import { TicketedServer } from './ticketed-server.ts'
import { withoutVerificationErrors } from './verification-errors.ts'

export interface ListenerServerParts {
  readonly observer: ConnectionObserver
  readonly tcp: TcpConnections
  readonly createHttp: (slot: HandlerSlot) => HttpServer
  readonly tickets: TicketSecrets | undefined
}

export type ClosingHandler = (handler: RequestHandler) => RequestHandler

/** A ClientHello that chose this listener; its bytes are back in the socket. */
export interface Arrival {
  readonly socket: net.Socket
  /** Before the handshake. */
  readonly facts: ConnectionFacts
  readonly serverName: string | undefined
  /** Names of the keys that sealed the tickets it brought. */
  readonly ticketNames: readonly Buffer[]
  readonly startMs: number
  /** The handshake is over, one way or the other. False: it was already over. */
  readonly settled: () => boolean
}

export class TlsListenerServer {
  plan: TlsListenerPlan
  readonly #parts: ListenerServerParts
  readonly #servers: TicketedServer
  /** Of a connection that has no address by which it could be found again: set while its server is made. */
  #ownKey: string | undefined = undefined
  /** By the client's address: the socket after a handshake has no reference to the one before it. */
  readonly #arrivals = new Map<string, Arrival>()
  #slot: HandlerSlot | undefined = undefined
  #closing: ClosingHandler | undefined = undefined
  #http: HttpServer | undefined = undefined

  /** @throws {Error} when the certificate cannot be used. */
  constructor(plan: TlsListenerPlan, settings: TlsSettings, parts: ListenerServerParts) {
    this.plan = plan
    this.#parts = parts
    this.#servers = new TicketedServer(settings, { tickets: parts.tickets, listen: (server) => this.#listen(server) })
  }

  get activeRequests(): number {
    return this.#http?.activeRequests ?? 0
  }

  /** After the handshake, for HTTP. */
  get openConnections(): number {
    return this.#http?.openConnections ?? 0
  }

  running(): Iterable<Exchange> {
    return this.#http?.running() ?? []
  }

  idle(): Iterable<IdleConnection> {
    return this.#http?.idle() ?? []
  }

  /** @throws {Error} when a certificate cannot be used. */
  shakeHands(arrival: Arrival): void {
    const { socket } = arrival
    const isTunnelled = socket.remoteAddress === undefined
    const key = isTunnelled ? `tunnel ${++tunnels}` : keyOf(socket)
    const server = isTunnelled ? this.#serverFor(key, arrival) : this.#servers.serverFor(arrival)
    this.#arrivals.set(key, arrival)
    socket.once('close', () => {
      if (this.#arrivals.get(key) !== arrival) return
      this.#failed(new Error('client closed the connection during the handshake'), socket, this.#take(key))
    })
    // A client that leaves during the handshake is then seen at once; the TLS socket takes the setting over.
    socket.allowHalfOpen = false
    const { action } = this.plan
    if ('settings' in action && letsInEverybody(action.settings))
      withoutVerificationErrors(() => server.emit('connection', socket))
    else server.emit('connection', socket)
  }

  #serverFor(key: string, arrival: Arrival): tls.Server {
    this.#ownKey = key
    try {
      return this.#servers.make(arrival)
    } finally {
      this.#ownKey = undefined
    }
  }

  #listen(server: tls.Server): void {
    const ownKey = this.#ownKey
    server.on('secureConnection', (socket) => this.#secured(socket, this.#take(ownKey ?? keyOf(socket))))
    server.on('tlsClientError', (error, socket) => this.#failed(error, socket, this.#take(ownKey ?? keyOf(socket))))
  }

  /** Same settings; what becomes of requests and connections may differ. */
  update(plan: TlsListenerPlan): void {
    this.plan = plan
    if (this.#slot !== undefined && plan.action.kind === 'Http') this.#slot.current = this.#current(plan.action.handler)
  }

  /** Every response from now on ends its connection. */
  closeAfterResponses(closing: ClosingHandler): void {
    if (this.#closing !== undefined) return
    this.#closing = closing
    if (this.#slot !== undefined) this.#slot.current = closing(this.#slot.current)
  }

  get isIdle(): boolean {
    return this.#arrivals.size === 0 && this.openConnections === 0
  }

  drain(): void {
    this.#http?.drain()
  }

  destroyAll(): void {
    this.#http?.destroyAll()
  }

  #secured(socket: tls.TLSSocket, arrival: Arrival | undefined): void {
    socket.on('error', () => {})
    socket.allowHalfOpen = true
    const { action, place } = this.plan
    if (arrival === undefined || (action.kind !== 'Http' && action.kind !== 'Tcp')) {
      socket.destroy()
      return
    }
    // The socket below is counted as open until it closes, and does not close by itself.
    socket.once('close', () => arrival.socket.destroy())
    const peer = verifiedPeer(socket, action.settings)
    const stranger = strangerOf(peer, action.settings)
    if (stranger !== undefined) {
      this.#failed(new Error(stranger), socket, arrival)
      return
    }
    if (!arrival.settled()) return
    const isHttp = action.kind === 'Http'
    const durationMs = performance.now() - arrival.startMs
    this.#parts.observer.handshakeFinished({ place, protocol: isHttp ? 'https' : 'tls', durationMs })
    const facts: ConnectionFacts = {
      ...arrival.facts,
      isTls: true,
      sni: arrival.serverName,
      peer: peer ?? arrival.facts.peer,
    }
    if (isHttp) {
      this.#slot ??= { current: this.#current(action.handler) }
      this.#http ??= this.#parts.createHttp(this.#slot)
      this.#http.acceptSocket(socket, this.#slot, { facts })
    } else this.#parts.tcp.serve(socket, facts, action.tcp)
  }

  #failed(error: Error, socket: net.Socket, arrival: Arrival | undefined): void {
    socket.destroy()
    arrival?.socket.destroy()
    if (arrival === undefined || !arrival.settled()) return
    const { sourceAddress, sourcePort } = arrival.facts
    this.#parts.observer.handshakeFailed({
      sourceAddress,
      sourcePort,
      serverName: arrival.serverName,
      detail: handshakeCause(error),
    })
  }

  #current(handler: RequestHandler): RequestHandler {
    return this.#closing === undefined ? handler : this.#closing(handler)
  }

  #take(key: string): Arrival | undefined {
    const arrival = this.#arrivals.get(key)
    this.#arrivals.delete(key)
    return arrival
  }
}

let tunnels = 0

/** One client may use one port of its own towards several addresses of ours. */
function keyOf({ remoteAddress, remotePort, localAddress }: net.Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`
}

/** Why the client is not a workload whose connections are accepted; undefined: it is, or all clients are. */
function strangerOf(peer: PeerCertificate | undefined, { trustDomains }: TlsSettings): string | undefined {
  if (trustDomains === undefined) return undefined
  const { spiffeId, identity } = peer ?? {}
  if (identity === undefined) return `the client has no identity of a workload: ${spiffeId ?? 'no SPIFFE id'}`
  return acceptsTrustDomain(trustDomains, identity.trustDomain)
    ? undefined
    : `the trust domain of ${spiffeId} is not accepted`
}

/** Nothing of a certificate that could not be verified is believed. */
function verifiedPeer(socket: tls.TLSSocket, { clientCertificates }: TlsSettings): PeerCertificate | undefined {
  if (clientCertificates === undefined || !socket.authorized) return undefined
  const certificate = socket.getPeerX509Certificate()
  return certificate instanceof X509Certificate ? new PeerCertificate(certificate) : undefined
}
