// The HTTP/2 side of a bind: owns the connections of clients that speak it, drains them.
import type net from 'node:net'
import type { Exchange } from '../exchange/exchange.ts'
import type { ConnectionFacts } from '../socket/connection-facts.ts'
import type { HandlerSlot } from '../http/handler.ts'
import { Sweeper } from '../socket/deadlines.ts'
import type { IdleConnection } from '../http/server.ts'
import { Http2Connection } from './server-connection.ts'

export interface Http2Server {
  /**
   * Serves a connection that speaks HTTP/2: after its preface was seen, or after ALPN chose `h2`. `early`: bytes of it
   * that were read already.
   */
  serveHttp2Socket(socket: net.Socket, facts: ConnectionFacts, slot: HandlerSlot, early?: Buffer): void
  /** Sends GOAWAY on every connection; running streams finish. New connections get it at once. */
  drain(): void
  destroyAll(): void
  /** Looks after time outs; done once a second by itself. */
  sweep(nowMs: number): void
  readonly openConnections: number
  readonly activeRequests: number
  /** Requests under way, for people who look: walks all streams. */
  running(): Iterable<Exchange>
  /** Those without a stream: walks all connections. */
  idle(): Iterable<IdleConnection>
  readonly bufferedBytes: number
}

/** Connections of one worker: each may hold streams and their memory, so fewer than of HTTP/1.1. */
const CONNECTIONS_MAX = 16_384

export function createHttp2Server(): Http2Server {
  return new Server()
}

class Server implements Http2Server {
  readonly #connections = new Set<Http2Connection>()
  readonly #sweeper = new Sweeper()
  #isDraining = false
  #activeRequests = 0

  get openConnections(): number {
    return this.#connections.size
  }

  get activeRequests(): number {
    return this.#activeRequests
  }

  get bufferedBytes(): number {
    let bytes = 0
    for (const connection of this.#connections) bytes += connection.bufferedBytes
    return bytes
  }

  *running(): IterableIterator<Exchange> {
    for (const connection of this.#connections) yield* connection.running()
  }

  *idle(): IterableIterator<IdleConnection> {
    for (const connection of this.#connections) if (connection.idleSinceMs !== undefined) yield connection
  }

  serveHttp2Socket(socket: net.Socket, facts: ConnectionFacts, slot: HandlerSlot, early?: Buffer): void {
    if (this.#connections.size >= CONNECTIONS_MAX || socket.destroyed) {
      socket.destroy()
      return
    }
    if (early !== undefined && early.length > 0) socket.unshift(early)
    const connection = new Http2Connection(this, socket, { facts, slot })
    this.#connections.add(connection)
    this.#sweeper.add(connection)
    if (this.#isDraining) connection.drain()
  }

  sweep(nowMs: number): void {
    for (const connection of this.#connections) connection.sweep(nowMs)
  }

  drain(): void {
    this.#isDraining = true
    for (const connection of this.#connections) connection.drain()
  }

  destroyAll(): void {
    for (const connection of this.#connections) connection.destroy()
  }

  requestStarted(): void {
    this.#activeRequests++
  }

  requestFinished(): void {
    this.#activeRequests--
  }

  connectionClosed(connection: Http2Connection): void {
    this.#connections.delete(connection)
    this.#sweeper.remove(connection)
  }
}
