// The listening socket of a bind that is not plain HTTP. Bounds open connections; gives every socket an error listener
// before anything can happen to it.
import net from 'node:net'
import type { Keepalive } from '#api/ir/types.gen.ts'
import { DEFAULT_KEEPALIVE } from '../http/handler.ts'

/** Connections of one worker on one bind; more are closed at once, before they can cost memory. */
const CONNECTIONS_MAX = 65_536
const BACKLOG = 4096

export class Acceptor {
  keepalive: Keepalive = DEFAULT_KEEPALIVE
  readonly #accept: (socket: net.Socket) => void
  readonly #sockets = new Set<net.Socket>()
  #server: net.Server | undefined = undefined

  constructor(accept: (socket: net.Socket) => void) {
    this.#accept = accept
  }

  /** Accepted sockets that are not closed, in whatever hands they are. */
  get openConnections(): number {
    return this.#sockets.size
  }

  /** Resolves to the port; rejects when it cannot be bound. */
  listen(options: { host: string; port: number; reusePort: boolean }): Promise<number> {
    const server = net.createServer({ allowHalfOpen: true, noDelay: true })
    server.on('connection', (socket) => {
      this.#accepted(socket)
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
    this.#sockets.add(socket)
    socket.on('close', () => this.#sockets.delete(socket))
    const { timeMs, intervalMs, retries } = this.keepalive
    socket.setKeepAlive(true, timeMs, intervalMs, retries)
    this.#accept(socket)
  }
}
