// The port of a TCP bind: every connection is passed on to the route of its only listener.
import type net from 'node:net'
import type { CompiledBind } from '../config/compiled.ts'
import type { ConnectionFacts } from '../socket/connection-facts.ts'
import type { ListenOptions } from '../http/server.ts'
import type { BindServer } from './worker-parts.ts'
import { Acceptor } from '../tcp/acceptor.ts'
import { TcpConnections, type TcpEnvironment } from '../tcp/connections.ts'
import type { TcpBindPlan } from '../tcp/plan.ts'

export class TcpBind implements BindServer {
  readonly activeRequests = 0
  readonly #acceptor = new Acceptor((socket, facts) => {
    this.#connections.serve(socket, facts, this.#plan.tcp)
  })
  readonly #connections: TcpConnections
  #plan: TcpBindPlan

  constructor(plan: TcpBindPlan, environment: TcpEnvironment) {
    this.#plan = plan
    this.#connections = new TcpConnections(environment)
  }

  get openConnections(): number {
    return this.#acceptor.openConnections
  }

  listen(options: ListenOptions): Promise<number> {
    return this.#acceptor.listen(options)
  }

  /** For new connections; open ones stay with what they have. */
  apply({ layer4, handler }: CompiledBind): void {
    if (layer4?.kind !== 'TCP') return
    this.#plan = layer4
    this.#acceptor.rules = handler
  }

  /** The protocol has no way to ask clients to leave: connections end by themselves, or with the drain time. */
  letGo(): void {}

  enter(socket: net.Socket, facts: ConnectionFacts): void {
    this.#acceptor.adopt(socket)
    this.#connections.serve(socket, facts, this.#plan.tcp)
  }

  stopAccepting(): void {
    this.#acceptor.stopAccepting()
  }

  destroyAll(): void {
    this.#connections.destroyAll()
    this.#acceptor.destroyAll()
  }
}
