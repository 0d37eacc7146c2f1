// The listening socket of a bind without plain HTTP. Limits open connections; adds an error listener to every socket
// before an error can occur.
import net from 'node:net'
import type { ConnectionFacts } from '../socket/connection-facts.ts'
import type { RequestHandler } from '../http/handler.ts'
import { factsOf, type ListenOptions } from '../http/server.ts'
import { awaitProxyHeader } from '../socket/await-proxy-header.ts'
import { keepProbing } from '../socket/keep-probing.ts'
import { type ProxyRule, transported } from '../socket/proxy-header.ts'

/** Connections of one worker on one bind; further ones are closed at once, before they use memory. */
const CONNECTIONS_MAX = 65_536
const BACKLOG = 4096
const ALWAYS = (): boolean => true

/** Settings for accepted connections. */
export type AcceptRules = Pick<RequestHandler, 'limits' | 'proxyProtocol' | 'refused'>

export class Acceptor {
  rules: AcceptRules | undefined = undefined
  readonly #accept: (socket: net.Socket, facts: ConnectionFacts) => void
  readonly #sockets = new Set<net.Socket>()
  #server: net.Server | undefined = undefined

  /** `facts`: with the addresses of the PROXY header. */
  constructor(accept: (socket: net.Socket, facts: ConnectionFacts) => void) {
    this.#accept = accept
  }

  /** Accepted sockets that are not closed, regardless of their current user. */
  get openConnections(): number {
    return this.#sockets.size
  }

  /** Resolves to the port; rejects if the bind fails. */
  listen({ hasRoom = ALWAYS, ...options }: ListenOptions): Promise<number> {
    const server = net.createServer({ allowHalfOpen: true, noDelay: true })
    server.on('connection', (socket) => {
      if (hasRoom()) this.#accepted(socket)
      else socket.destroy()
    })
    return new Promise((resolve, reject) => {
      server.once('error', reject)
      server.listen({ ...options, backlog: BACKLOG }, () => {
        server.off('error', reject)
        // Accept errors (no file descriptors left) are transient: libuv keeps the listener.
        server.on('error', () => {})
        this.#server = server
        const address = server.address()
        resolve(typeof address === 'object' && address !== null ? address.port : options.port)
      })
    })
  }

  /** Counts a connection that other code accepted. */
  adopt(socket: net.Socket): void {
    this.#sockets.add(socket)
    socket.on('close', () => this.#sockets.delete(socket))
  }

  stopAccepting(): void {
    this.#server?.close()
    this.#server = undefined
  }

  destroyAll(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  #accepted(socket: net.Socket): void {
    socket.on('error', () => {})
    if (this.#sockets.size >= CONNECTIONS_MAX) {
      socket.destroy()
      return
    }
    this.adopt(socket)
    keepProbing(socket, this.rules?.limits.keepalive)
    const rule = this.rules?.proxyProtocol
    if (rule === undefined) this.#accept(socket, factsOf(socket))
    else this.#awaitHeader(socket, rule)
  }

  #awaitHeader(socket: net.Socket, rule: ProxyRule): void {
    const facts = factsOf(socket)
    awaitProxyHeader(socket, rule, (outcome) => {
      if ('addresses' in outcome) {
        this.#accept(socket, { ...facts, ...transported(facts, outcome.addresses) })
        return
      }
      socket.destroy()
      const { sourceAddress, sourcePort } = facts
      const { detail } = outcome
      if (detail !== undefined) this.rules?.refused({ sourceAddress, sourcePort, status: 400, detail })
    })
  }
}
