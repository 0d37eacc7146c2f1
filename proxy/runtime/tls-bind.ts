// The port of a TLS bind: reads the ClientHello, finds the listener it names, and lets that one shake hands, pass the
// bytes on, or refuse. No certificate is ever chosen by anything else.
import type net from 'node:net'
import type { CompiledBind } from '../config/compiled.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { ConnectionFacts } from '../socket/connection-facts.ts'
import type { ListenerConnections } from '../trace/messages.ts'
import { ListenerCounts } from './listener-counts.ts'
import type { HandlerSlot } from '../http/handler.ts'
import type { HttpServer, IdleConnection, ListenOptions } from '../http/server.ts'
import { closingAfterResponse, QUIET_MS } from '../http/closing.ts'
import type { BindServer } from './worker-parts.ts'
import { Acceptor } from '../tcp/acceptor.ts'
import { TcpConnections, type TcpEnvironment } from '../tcp/connections.ts'
import { BAD_SERVER_NAME } from '../tls/client-hello.ts'
import { type Arrival, TlsListenerServer } from '../tls/listener-server.ts'
import { peekClientHello } from '../tls/peek.ts'
import { isSigningLoaded, loadSigning } from '../tls/signing.ts'
import type { TicketSecrets } from '../tls/ticket-secrets.ts'
import type { TlsBindPlan, TlsListenerPlan } from '../tls/plan.ts'

export interface TlsBindEnvironment extends TcpEnvironment {
  readonly createHttp: (slot: HandlerSlot) => HttpServer
  readonly tickets: TicketSecrets | undefined
}

/** Fatal alerts (RFC 8446 section 6.2) in a record of the version every client reads. */
const UNRECOGNIZED_NAME = alert(112)
const HANDSHAKE_FAILURE = alert(40)

interface Refusal {
  readonly facts: ConnectionFacts
  readonly detail: string
  readonly serverName?: string | undefined
  readonly alert?: Buffer
  readonly isOwnFault?: boolean
}

export class TlsBind implements BindServer {
  readonly #environment: TlsBindEnvironment
  readonly #acceptor = new Acceptor((socket, facts) => {
    this.#accept(socket, facts)
  })
  readonly #tcp: TcpConnections
  /** Made when the first client comes: contexts cost a millisecond each, and there may be thousands. */
  readonly #servers = new Map<string, TlsListenerServer>()
  /** Of former settings; they may still have connections. */
  readonly #retired = new Set<TlsListenerServer>()
  #plan: TlsBindPlan
  /** Some listener of the port passes bytes on. */
  #hasRoutes: boolean
  #isLeaving = false

  constructor(plan: TlsBindPlan, environment: TlsBindEnvironment) {
    this.#plan = plan
    this.#hasRoutes = hasRoutes(plan)
    this.#environment = environment
    this.#tcp = new TcpConnections(environment)
  }

  get openConnections(): number {
    return this.#acceptor.openConnections
  }

  get activeRequests(): number {
    let sum = 0
    for (const server of this.#servers.values()) sum += server.activeRequests
    for (const server of this.#retired) sum += server.activeRequests
    return sum
  }

  listenerConnections(): readonly ListenerConnections[] {
    const counts = new ListenerCounts()
    for (const { plan, openConnections } of this.#servers.values()) counts.add(plan.place, openConnections)
    for (const { plan, openConnections } of this.#retired) counts.add(plan.place, openConnections)
    for (const place of this.#tcp.places()) counts.add(place, 1)
    return counts.all()
  }

  *running(): IterableIterator<Exchange> {
    for (const server of this.#servers.values()) yield* server.running()
    for (const server of this.#retired) yield* server.running()
  }

  *idle(): IterableIterator<IdleConnection> {
    for (const server of this.#servers.values()) yield* server.idle()
    for (const server of this.#retired) yield* server.idle()
  }

  listen(options: ListenOptions): Promise<number> {
    return this.#acceptor.listen(options)
  }

  apply({ layer4, handler }: CompiledBind): void {
    if (layer4?.kind !== 'TLS') return
    this.#plan = layer4
    this.#hasRoutes = hasRoutes(layer4)
    this.#acceptor.rules = handler
    for (const [key, server] of this.#servers) {
      const next = layer4.listeners.get(key)
      if (next !== undefined && next.fingerprint === server.plan.fingerprint) {
        server.update(next)
      } else {
        // What was agreed on in its handshakes holds no more: new connections get the new settings, these go gently.
        this.#servers.delete(key)
        this.#retired.add(server)
        if (next?.action.kind === 'Http') server.update({ ...next, fingerprint: server.plan.fingerprint })
        this.#letGo(server)
      }
    }
    for (const server of this.#retired) if (server.isIdle) this.#retired.delete(server)
  }

  letGo(): void {
    this.#isLeaving = true
    for (const server of this.#servers.values()) this.#letGo(server)
  }

  enter(socket: net.Socket, facts: ConnectionFacts): void {
    this.#acceptor.adopt(socket)
    this.#accept(socket, facts)
  }

  stopAccepting(): void {
    this.#acceptor.stopAccepting()
  }

  destroyAll(): void {
    for (const server of [...this.#servers.values(), ...this.#retired]) server.destroyAll()
    this.#tcp.destroyAll()
    this.#acceptor.destroyAll()
  }

  #letGo(server: TlsListenerServer): void {
    server.closeAfterResponses(closingAfterResponse)
    setTimeout(() => server.drain(), QUIET_MS).unref()
  }

  #accept(socket: net.Socket, facts: ConnectionFacts): void {
    const startMs = performance.now()
    let isSettled = false
    const settled = (): boolean => {
      if (isSettled) return false
      isSettled = true
      clearTimeout(deadline)
      return true
    }
    const deadline = setTimeout(() => {
      if (settled()) this.#refuse(socket, { facts, detail: 'handshake timeout' })
    }, this.#plan.handshakeTimeoutMs)
    socket.once('close', () => clearTimeout(deadline))
    peekClientHello(socket, (outcome) => {
      if (isSettled) return
      if ('serverName' in outcome) {
        const { serverName, ticketNames } = outcome
        this.#greeted({ socket, facts, serverName, ticketNames, startMs, settled })
        return
      }
      settled()
      const isUnknown = outcome.problem === BAD_SERVER_NAME && !this.#hasRoutes
      this.#refuse(socket, { facts, detail: outcome.problem, ...(isUnknown && { alert: UNRECOGNIZED_NAME }) })
    })
  }

  #greeted(arrival: Arrival): void {
    const { socket, facts, serverName, settled } = arrival
    const plan = this.#plan.find(serverName)
    if (plan === undefined) {
      settled()
      const detail = 'no listener for this server name'
      // A port of TLSRoutes is one of connections, not of ours to speak on: it is closed without a word.
      this.#refuse(socket, { facts, detail, serverName, ...(!this.#hasRoutes && { alert: UNRECOGNIZED_NAME }) })
    } else if (plan.action.kind === 'Refuse') {
      settled()
      this.#refuse(socket, { facts, detail: plan.action.reason, serverName, alert: HANDSHAKE_FAILURE })
    } else if (plan.action.kind === 'Passthrough') {
      settled()
      this.#tcp.serve(socket, { ...facts, isTls: true, sni: serverName }, plan.action.tcp)
    } else if (plan.action.settings.signsCertificates && !isSigningLoaded()) void this.#greetedLater(plan, arrival)
    else this.#shakeHands(plan, arrival)
  }

  /** The listeners may have changed by then. The deadline of the handshake continues. */
  async #greetedLater(plan: TlsListenerPlan, arrival: Arrival): Promise<void> {
    try {
      await loadSigning()
    } catch (error) {
      this.#unusable(plan, arrival, { error, isOwnFault: true })
      return
    }
    const { socket, facts, serverName, settled } = arrival
    if (!socket.destroyed) this.#greeted(arrival)
    else if (settled())
      this.#refuse(socket, { facts, detail: 'client closed the connection during the handshake', serverName })
  }

  #shakeHands(plan: TlsListenerPlan, arrival: Arrival): void {
    try {
      this.#serverOf(plan).shakeHands(arrival)
    } catch (error) {
      this.#unusable(plan, arrival, { error, isOwnFault: false })
    }
  }

  /** A pair that does not fit, or is no certificate at all; an installation without what signs certificates. */
  #unusable(plan: TlsListenerPlan, arrival: Arrival, why: { error: unknown; isOwnFault: boolean }): void {
    arrival.settled()
    const detail = `the certificate of listener ${plan.key} cannot be used: ${messageOf(why.error)}`
    const { socket, facts, serverName } = arrival
    this.#refuse(socket, { facts, detail, serverName, alert: HANDSHAKE_FAILURE, isOwnFault: why.isOwnFault })
  }

  #serverOf(plan: TlsListenerPlan): TlsListenerServer {
    const known = this.#servers.get(plan.key)
    if (known !== undefined) return known
    if (plan.action.kind !== 'Http' && plan.action.kind !== 'Tcp')
      throw new Error('the listener does not terminate TLS')
    const { observer, createHttp, tickets } = this.#environment
    const server = new TlsListenerServer(plan, plan.action.settings, {
      observer,
      tcp: this.#tcp,
      createHttp,
      tickets,
    })
    this.#servers.set(plan.key, server)
    if (this.#isLeaving) this.#letGo(server)
    return server
  }

  #refuse(socket: net.Socket, why: Refusal): void {
    const { sourceAddress, sourcePort } = why.facts
    const { detail, serverName, isOwnFault = false } = why
    this.#environment.observer.handshakeFailed({ sourceAddress, sourcePort, serverName, detail, isOwnFault })
    if (why.alert === undefined) socket.destroy()
    else socket.end(why.alert, () => socket.destroy())
  }
}

function hasRoutes({ listeners }: TlsBindPlan): boolean {
  for (const { action } of listeners.values()) if (action.kind === 'Passthrough' || action.kind === 'Tcp') return true
  return false
}

function alert(description: number): Buffer {
  return Buffer.from([21, 3, 3, 0, 2, 2, description])
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
