// The open ports of one worker: one server for each bind. Opens new ports before anything closes; swaps handlers by pointer.
import type { CompiledConfig } from '../config/compiled.ts'
import type { RequestHandler } from '../http/handler.ts'
import type { BindServer, WorkerParts } from './worker-parts.ts'

/**
 * Time between telling clients to go (`connection: close` on responses) and closing connections that are idle: a client
 * may be sending its next request on an idle connection, and closing it then would fail that request.
 */
const QUIET_MS = 1000

interface OpenBind {
  readonly server: BindServer
  handler: RequestHandler
}
export type OpenedBinds = ReadonlyMap<number, OpenBind>

export class BindSet {
  readonly #createServer: WorkerParts['createServer']
  readonly #address: { readonly host: string; readonly reusePort: boolean }
  readonly #binds = new Map<number, OpenBind>()
  /** Servers of removed binds whose connections still run. */
  readonly #retired = new Set<OpenBind>()

  constructor(createServer: WorkerParts['createServer'], address: { host: string; reusePort: boolean }) {
    this.#createServer = createServer
    this.#address = address
  }

  /**
   * Opens the ports of `compiled` that are not open yet.
   * @throws when one of them cannot be opened; then none of them stays open.
   */
  async open(compiled: CompiledConfig): Promise<OpenedBinds> {
    const opened = new Map<number, OpenBind>()
    try {
      for (const [port, { handler }] of compiled.binds) {
        if (this.#binds.has(port)) continue
        const server = this.#createServer(handler)
        opened.set(port, { server, handler })
        await server.listen({ ...this.#address, port })
      }
    } catch (error) {
      this.abandon(opened)
      throw error
    }
    return opened
  }

  abandon(opened: OpenedBinds): void {
    for (const { server } of opened.values()) end(server)
  }

  /** Puts the handlers of `compiled` in force; binds that are gone stop accepting and drain. */
  swap(compiled: CompiledConfig, opened: OpenedBinds): void {
    for (const [port, bind] of opened) this.#binds.set(port, bind)
    for (const [port, bind] of this.#binds) {
      const next = compiled.binds.get(port)
      if (next === undefined) {
        this.#binds.delete(port)
        this.#retired.add(bind)
        bind.server.stopAccepting()
        letGo(bind)
      } else if (next.handler !== bind.handler) {
        bind.handler = next.handler
        bind.server.setHandler(next.handler)
      }
    }
    this.#forgetEmpty()
  }

  get openConnections(): number {
    this.#forgetEmpty()
    let sum = 0
    for (const { server } of this.#all()) sum += server.openConnections
    return sum
  }

  get activeRequests(): number {
    let sum = 0
    for (const { server } of this.#all()) sum += server.activeRequests
    return sum
  }

  /** Connections end after their next response, idle ones a little later. New ones are still served. */
  drain(): void {
    for (const bind of this.#binds.values()) letGo(bind)
  }

  close(): void {
    for (const { server } of this.#all()) end(server)
  }

  *#all(): IterableIterator<OpenBind> {
    yield* this.#binds.values()
    yield* this.#retired
  }

  #forgetEmpty(): void {
    for (const bind of this.#retired) if (bind.server.openConnections === 0) this.#retired.delete(bind)
  }
}

function letGo({ server, handler }: OpenBind): void {
  server.setHandler(closingAfterResponse(handler))
  setTimeout(() => server.drain(), QUIET_MS).unref()
}

function closingAfterResponse(handler: RequestHandler): RequestHandler {
  return {
    limits: handler.limits,
    handle(exchange, respond) {
      exchange.connection.close()
      handler.handle(exchange, respond)
    },
    finished: (exchange, isComplete) => handler.finished(exchange, isComplete),
    refused: (info) => handler.refused(info),
  }
}

function end(server: BindServer): void {
  server.stopAccepting()
  server.destroyAll()
}
