// The open ports of one worker: one server for each bind. Opens new ports before anything closes;
// swaps plans by pointer.
import type net from 'node:net'
import type { CompiledBind, CompiledConfig } from '../config/compiled.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { ConnectionFacts } from '../socket/connection-facts.ts'
import type { IdleConnection, ListenOptions } from '../http/server.ts'
import type { PortConnections } from '../trace/messages.ts'
import type { BindContext, BindServer, WorkerParts } from './worker-parts.ts'

interface OpenBind {
  readonly server: BindServer
  readonly kind: string
}
export type OpenedBinds = ReadonlyMap<number, OpenBind>

export class BindSet {
  readonly #createServer: WorkerParts['createServer']
  readonly #context: BindContext
  readonly #address: Omit<ListenOptions, 'port'>
  readonly #binds = new Map<number, OpenBind>()
  /** Servers of removed binds whose connections still run. */
  readonly #retired = new Set<OpenBind>()

  constructor(options: {
    createServer: WorkerParts['createServer']
    context: BindContext
    address: Omit<ListenOptions, 'port'>
  }) {
    const { createServer, context, address } = options
    this.#createServer = createServer
    this.#context = context
    this.#address = address
  }

  /**
   * Opens the ports of `compiled` that are not open yet, or not for the protocol they now have.
   * @throws when one of them cannot be opened; then none of them stays open.
   */
  async open(compiled: CompiledConfig): Promise<OpenedBinds> {
    const opened = new Map<number, OpenBind>()
    try {
      for (const [port, bind] of compiled.binds) {
        const kind = kindOf(bind)
        const open = this.#binds.get(port)
        if (open?.kind === kind) continue
        const server = this.#createServer(bind, this.#context)
        opened.set(port, { server, kind })
        // Without SO_REUSEPORT the port cannot be open twice, not even for a moment.
        if (!this.#address.reusePort) open?.server.stopAccepting()
        if (!bind.isInternal) await server.listen({ ...this.#address, port })
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

  /** Puts the plans of `compiled` in force; binds that are gone stop accepting and drain. */
  swap(compiled: CompiledConfig, opened: OpenedBinds): void {
    for (const [port, bind] of this.#binds) {
      const next = compiled.binds.get(port)
      if (next !== undefined && kindOf(next) === bind.kind) bind.server.apply(next)
      else {
        this.#binds.delete(port)
        this.#retired.add(bind)
        bind.server.stopAccepting()
        bind.server.letGo()
      }
    }
    for (const [port, bind] of opened) this.#binds.set(port, bind)
    this.#forgetEmpty()
  }

  enter(port: number, socket: net.Socket, facts: ConnectionFacts): boolean {
    const bind = this.#binds.get(port)
    bind?.server.enter(socket, facts)
    return bind !== undefined
  }

  get openConnections(): number {
    this.#forgetEmpty()
    let sum = 0
    for (const { server } of this.#all()) sum += server.openConnections
    return sum
  }

  /** Of ports in the configuration, for people who look. */
  portConnections(): PortConnections[] {
    return [...this.#binds].map(([port, { server }]) => ({
      port,
      open: server.openConnections,
      listeners: server.listenerConnections?.() ?? [],
    }))
  }

  get activeRequests(): number {
    let sum = 0
    for (const { server } of this.#all()) sum += server.activeRequests
    return sum
  }

  *running(): IterableIterator<Exchange> {
    for (const { server } of this.#all()) yield* server.running?.() ?? []
  }

  /** Closes those that have been idle for longest. Returns how many there were. */
  closeIdle(atMost: number): number {
    const idle: { readonly since: number; readonly connection: IdleConnection }[] = []
    for (const { server } of this.#all()) {
      for (const connection of server.idle?.() ?? []) idle.push({ since: connection.idleSinceMs ?? 0, connection })
    }
    const longest = idle.sort((one, other) => one.since - other.since).slice(0, atMost)
    for (const { connection } of longest) connection.destroy()
    return longest.length
  }

  /** Connections end after their next response, idle ones a little later. New ones are still served. */
  drain(): void {
    for (const { server } of this.#binds.values()) server.letGo()
  }

  /** Open connections continue. */
  stopAccepting(): void {
    for (const { server } of this.#binds.values()) server.stopAccepting()
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

function kindOf({ layer4, isInternal }: CompiledBind): string {
  return `${layer4?.kind ?? 'HTTP'}${isInternal ? ' internal' : ''}`
}

function end(server: BindServer): void {
  server.stopAccepting()
  server.destroyAll()
}
