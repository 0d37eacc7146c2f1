// HTTP/1.1 server of one worker: accepts sockets, owns their connections, drains them. Requests go to the handler of
// the seam.
import net from 'node:net'
import type { Exchange } from '../exchange/exchange.ts'
import type { ConnectionFacts } from '../socket/connection-facts.ts'
import { ServerConnection } from './connection.ts'
import { plainAddress } from '../socket/address.ts'
import { Arrival } from './arrival.ts'
import { Sweeper } from '../socket/deadlines.ts'
import { keepProbing } from '../socket/keep-probing.ts'
import { type HandlerSlot, type Http2Takeover, notAdmitted, type RequestHandler } from './handler.ts'
import { type ProxyRule, transported } from '../socket/proxy-header.ts'
import { NO_USER, Transport, type TransportUser } from '../socket/transport.ts'

export interface ListenOptions {
  readonly host: string
  readonly port: number
  readonly reusePort: boolean
  /** Asked for each connection that is accepted: one that may not stay is closed at once. */
  readonly hasRoom?: () => boolean
}

/** A connection on which nothing happens. */
export interface IdleConnection {
  /** Of `performance.now()`; undefined: not idle, or not for long. */
  readonly idleSinceMs: number | undefined
  destroy(): void
}

export interface HttpServer {
  /** Resolves to the port (useful with port 0); rejects when it cannot be bound. */
  listen(options: ListenOptions): Promise<number>
  /** Applies to the next request, also of existing connections. */
  setHandler(handler: RequestHandler): void
  /**
   * Serves a connection made elsewhere (TLS, PROXY protocol, tunnels). `early`: bytes of it that were read already;
   * `facts` replace what the socket says. Without `handler` the server's own serves it.
   */
  acceptSocket(
    socket: net.Socket,
    handler?: RequestHandler | HandlerSlot,
    extra?: { readonly early?: Buffer; readonly facts?: Partial<ConnectionFacts> },
  ): void
  stopAccepting(): void
  /** From now on every response carries `connection: close`; idle connections are closed. */
  drain(): void
  destroyAll(): void
  readonly openConnections: number
  readonly activeRequests: number
  /** Requests under way, for people who look: walks all connections. */
  running(): Iterable<Exchange>
  /** Connections that can be closed without a lost response: walks all connections. */
  idle(): Iterable<IdleConnection>
  /** Bytes held for clients that do not read. */
  readonly bufferedBytes: number
}

/** Connections of one worker; more are closed at once, before they can cost memory. */
const CONNECTIONS_MAX = 65_536
const BACKLOG = 4096
const ALWAYS = (): boolean => true

/** `http2`: gets plaintext connections that begin with the HTTP/2 preface; without it they are refused. */
export function createHttpServer(handler: RequestHandler, http2?: Http2Takeover): HttpServer {
  return new Server(handler, http2)
}

class Server implements HttpServer {
  readonly #slot: HandlerSlot
  readonly #connections = new Set<ServerConnection>()
  /** Whose PROXY header has yet to come. */
  readonly #arrivals = new Set<Arrival>()
  readonly #listeners = new Set<net.Server>()
  readonly #sweeper = new Sweeper()
  #isDraining = false
  #activeRequests = 0

  readonly http2: Http2Takeover | undefined

  constructor(handler: RequestHandler, http2: Http2Takeover | undefined) {
    this.#slot = { current: handler }
    this.http2 = http2
  }

  get isDraining(): boolean {
    return this.#isDraining
  }

  get openConnections(): number {
    return this.#connections.size + this.#arrivals.size
  }

  get activeRequests(): number {
    return this.#activeRequests
  }

  *running(): IterableIterator<Exchange> {
    for (const { running } of this.#connections) if (running !== undefined) yield running
  }

  *idle(): IterableIterator<IdleConnection> {
    for (const connection of this.#connections) if (connection.idleSinceMs !== undefined) yield connection
  }

  get bufferedBytes(): number {
    let bytes = 0
    for (const connection of this.#connections) bytes += connection.bufferedBytes
    return bytes
  }

  setHandler(handler: RequestHandler): void {
    this.#slot.current = handler
  }

  listen({ hasRoom = ALWAYS, ...options }: ListenOptions): Promise<number> {
    const server = net.createServer({ allowHalfOpen: true, noDelay: true })
    server.on('connection', (socket) => {
      const transport = Transport.ofSocket(socket, NO_USER)
      if (hasRoom()) this.#acceptTransport(transport)
      else transport.destroy()
    })
    return new Promise((resolve, reject) => {
      server.once('error', reject)
      server.listen({ ...options, backlog: BACKLOG }, () => {
        server.off('error', reject)
        // Accept errors (no file descriptors left) are transient: libuv keeps the listener.
        server.on('error', () => {})
        acceptHandles(server, (handle) => {
          if (hasRoom()) this.#acceptHandle(handle)
          else Transport.ofHandle(handle, NO_USER).destroy()
        })
        this.#listeners.add(server)
        const address = server.address()
        resolve(typeof address === 'object' && address !== null ? address.port : options.port)
      })
    })
  }

  acceptSocket(
    socket: net.Socket,
    handler?: RequestHandler | HandlerSlot,
    extra: { readonly early?: Buffer; readonly facts?: Partial<ConnectionFacts> } = {},
  ): void {
    const slot = handler === undefined ? this.#slot : 'current' in handler ? handler : { current: handler }
    const facts = { ...factsOf(socket), ...extra.facts }
    const connection = this.#open(slot, facts, (user) => Transport.ofSocket(socket, user))
    if (extra.early !== undefined && extra.early.length > 0) connection?.bytes(extra.early, 0, extra.early.length)
  }

  stopAccepting(): void {
    for (const server of this.#listeners) server.close()
    this.#listeners.clear()
  }

  drain(): void {
    this.#isDraining = true
    for (const arrival of this.#arrivals) arrival.destroy()
    for (const connection of this.#connections) connection.drain()
  }

  destroyAll(): void {
    for (const arrival of this.#arrivals) arrival.destroy()
    for (const connection of this.#connections) connection.destroy()
  }

  requestStarted(): void {
    this.#activeRequests++
  }

  requestFinished(): void {
    this.#activeRequests--
  }

  connectionClosed(connection: ServerConnection): void {
    this.#connections.delete(connection)
    this.#sweeper.remove(connection)
  }

  #acceptHandle(handle: object): void {
    // The facts need the socket and the connection needs the facts: no code reads in between, and nothing can arrive
    // before this function returns.
    const transport = Transport.ofHandle(handle, NO_USER)
    transport.socket.setNoDelay(true)
    keepProbing(transport.socket, this.#slot.current.limits.keepalive)
    this.#acceptTransport(transport)
  }

  #acceptTransport(transport: Transport): void {
    const { proxyProtocol } = this.#slot.current
    if (proxyProtocol === undefined) this.#serve(transport, factsOf(transport.socket))
    else if (this.openConnections >= CONNECTIONS_MAX) transport.destroy()
    else this.#awaitHeader(transport, proxyProtocol)
  }

  #awaitHeader(transport: Transport, rule: ProxyRule): void {
    const facts = factsOf(transport.socket)
    const arrival = new Arrival(transport, rule, (outcome) => {
      this.#arrivals.delete(arrival)
      if ('bytes' in outcome) {
        const connection = this.#serve(transport, { ...facts, ...transported(facts, outcome.addresses) })
        if (outcome.bytes.length > 0) connection?.bytes(outcome.bytes, 0, outcome.bytes.length)
      } else if (outcome.detail !== undefined) {
        const { sourceAddress, sourcePort } = facts
        this.#slot.current.refused({ sourceAddress, sourcePort, status: 400, detail: outcome.detail })
      }
    })
    this.#arrivals.add(arrival)
  }

  #serve(transport: Transport, facts: ConnectionFacts): ServerConnection | undefined {
    return this.#open(this.#slot, facts, (user) => {
      transport.user = user
      return transport
    })
  }

  #open(
    slot: HandlerSlot,
    facts: ConnectionFacts,
    open: (user: TransportUser) => Transport,
  ): ServerConnection | undefined {
    const isAdmitted = slot.current.admits?.(facts) !== false
    if (!isAdmitted) slot.current.refused(notAdmitted(facts))
    if (!isAdmitted || this.#connections.size >= CONNECTIONS_MAX) {
      open(NO_USER).destroy()
      return undefined
    }
    const connection = new ServerConnection({ owner: this, slot, facts, open })
    this.#connections.add(connection)
    this.#sweeper.add(connection)
    if (this.#isDraining) connection.close()
    return connection
  }
}

/**
 * Takes accepted handles before net.Server wraps them in a socket: only a socket made with `onread` reads into the
 * shared
 * buffer (see transport.ts), and net.Server has no option for that. Without the (undocumented) hook the `connection`
 * event serves as well, a few microseconds slower.
 */
function acceptHandles(server: net.Server, accept: (handle: object) => void): void {
  const { _handle: listener } = server as { _handle?: { onconnection?: unknown } }
  if (typeof listener?.onconnection !== 'function') return
  listener.onconnection = (status: number, handle: object | undefined): void => {
    if (status === 0 && handle !== undefined) accept(handle)
  }
}

export function factsOf(socket: net.Socket): ConnectionFacts {
  const isTls = 'encrypted' in socket
  const sni = isTls && 'servername' in socket && typeof socket.servername === 'string' ? socket.servername : undefined
  return {
    sourceAddress: plainAddress(socket.remoteAddress),
    sourcePort: socket.remotePort ?? 0,
    localAddress: plainAddress(socket.localAddress),
    localPort: socket.localPort ?? 0,
    isTls,
    sni,
  }
}
