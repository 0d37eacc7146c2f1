// The port of a plain HTTP bind.
import type net from 'node:net'
import type { CompiledBind } from '../config/compiled.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { ConnectionFacts } from '../socket/connection-facts.ts'
import type { RequestHandler } from '../http/handler.ts'
import type { HttpServer, IdleConnection, ListenOptions } from '../http/server.ts'
import { closingAfterResponse, QUIET_MS } from '../http/closing.ts'
import type { BindServer } from './worker-parts.ts'

export class HttpBind implements BindServer {
  readonly #server: HttpServer
  #handler: RequestHandler
  #isLeaving = false

  constructor(server: HttpServer, handler: RequestHandler) {
    this.#server = server
    this.#handler = handler
  }

  get openConnections(): number {
    return this.#server.openConnections
  }

  get activeRequests(): number {
    return this.#server.activeRequests
  }

  listen(options: ListenOptions): Promise<number> {
    return this.#server.listen(options)
  }

  apply({ handler }: CompiledBind): void {
    this.#handler = handler
    this.#server.setHandler(this.#isLeaving ? closingAfterResponse(handler) : handler)
  }

  letGo(): void {
    this.#isLeaving = true
    this.#server.setHandler(closingAfterResponse(this.#handler))
    setTimeout(() => this.#server.drain(), QUIET_MS).unref()
  }

  running(): Iterable<Exchange> {
    return this.#server.running()
  }

  idle(): Iterable<IdleConnection> {
    return this.#server.idle()
  }

  enter(socket: net.Socket, facts: ConnectionFacts): void {
    this.#server.acceptSocket(socket, undefined, { facts })
  }

  stopAccepting(): void {
    this.#server.stopAccepting()
  }

  destroyAll(): void {
    this.#server.destroyAll()
  }
}
