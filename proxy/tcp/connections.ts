// The open connections of one bind with forwarded bytes: limits, idle times, end.
import type net from 'node:net'
import type { ExchangePlace } from '../exchange/facts.ts'
import type { ConnectionFacts } from '../socket/connection-facts.ts'
import { Sweeper } from '../socket/deadlines.ts'
import { notAdmitted } from '../http/handler.ts'
import { TUNNEL_IDLE_MS } from '../socket/tunnel-watch.ts'
import type { DnsCache } from '../upstream/dns-cache.ts'
import { TcpConnection } from './connection.ts'
import type { ConnectionObserver } from '../metrics/tcp-observer.ts'
import type { TcpPlan } from './plan.ts'

export interface TcpEnvironment {
  readonly dns: DnsCache
  readonly observer: ConnectionObserver
  readonly idleTimeoutMs?: number
}

export class TcpConnections {
  readonly #environment: TcpEnvironment
  readonly #open = new Set<TcpConnection>()
  readonly #sweeper = new Sweeper()

  constructor(environment: TcpEnvironment) {
    this.#environment = environment
  }

  get size(): number {
    return this.#open.size
  }

  /** The listener of each open connection. */
  *places(): IterableIterator<ExchangePlace> {
    for (const { place } of this.#open) yield place
  }

  /** The socket must have an `error` listener and no reader. */
  serve(socket: net.Socket, facts: ConnectionFacts, plan: TcpPlan): void {
    if (!plan.admits(facts)) {
      this.#environment.observer.refused({ ...notAdmitted(facts), place: plan.place })
      socket.destroy()
      return
    }
    const { dns, observer, idleTimeoutMs = TUNNEL_IDLE_MS } = this.#environment
    const connection = new TcpConnection({
      socket,
      facts,
      plan,
      dns,
      observer,
      idleTimeoutMs,
      closed: (one) => {
        this.#open.delete(one)
        this.#sweeper.remove(one)
      },
    })
    this.#open.add(connection)
    this.#sweeper.add(connection)
    connection.start()
  }

  destroyAll(): void {
    for (const connection of this.#open) connection.destroy()
  }
}
