// One connection whose bytes are forwarded: selects route, backend and endpoint, dials, joins both sockets, reports the
// end.
import type net from 'node:net'
import { connectionVariables } from '../cel/variables.ts'
import type { EndpointState } from '../backend/endpoint-store.ts'
import { nextEndpoint } from '../backend/failover.ts'
import type { Endpoint, EndpointPicker } from '../backend/handler.ts'
import { chargeFailure } from '../backend/health.ts'
import { useEndpoint } from '../backend/http.ts'
import type { Detail } from '../exchange/diagnosis.ts'
import { type Connection, Exchange } from '../exchange/exchange.ts'
import type { FailureCode } from '../exchange/errors.ts'
import type { ExchangePlace } from '../exchange/facts.ts'
import { nextConnectionId } from '../socket/connection-id.ts'
import type { ConnectionFacts } from '../socket/connection-facts.ts'
import type { Sweepable } from '../socket/deadlines.ts'
import { HeaderList } from '../message/headers.ts'
import { HttpRequest } from '../message/message.ts'
import { transportOf } from '../upstream/connect-observer.ts'
import type { DnsCache } from '../upstream/dns-cache.ts'
import { forBackend } from '../upstream/resolve-target.ts'
import type { Dial } from '../upstream/dial.ts'
import { dial } from '../upstream/dial-tunnel.ts'
import type { ConnectionObserver } from '../metrics/tcp-observer.ts'
import type { TcpBackendPlan, TcpPlan } from './plan.ts'
import { type Splice, splice } from './splice.ts'

/** CEL `backend.type` of backends other than a Service. */
const TYPES = { Endpoints: 'static', Dynamic: 'dynamic' } as const

export interface TcpConnectionOptions {
  readonly socket: net.Socket
  readonly facts: ConnectionFacts
  readonly plan: TcpPlan
  readonly dns: DnsCache
  readonly observer: ConnectionObserver
  readonly idleTimeoutMs: number
  readonly closed: (connection: TcpConnection) => void
}

export class TcpConnection implements Sweepable {
  readonly #options: TcpConnectionOptions
  readonly #exchange: Exchange
  #dial: Dial | undefined = undefined
  #upstream: net.Socket | undefined = undefined
  #splice: Splice | undefined = undefined
  #seenBytes = -1
  #idleSinceMs = performance.now()
  #hasDialFailed = false
  /** Endpoints that refused the connection. */
  readonly #failed: EndpointState[] = []
  #isOver = false

  constructor(options: TcpConnectionOptions) {
    this.#options = options
    this.#exchange = exchangeOf(options.facts)
    this.#exchange.place = options.plan.place
    this.#exchange.backendProtocol = 'tcp'
  }

  /** Of its listener. */
  get place(): ExchangePlace {
    return this.#options.plan.place
  }

  start(): void {
    const { socket } = this.#options
    socket.on('error', () => {})
    // Before the backend answers, nothing is read, so bytes of the client wait in the kernel. If the client is gone,
    // the socket closes.
    socket.on('close', this.#clientLeft)
    this.#connect()
  }

  destroy(): void {
    this.#dial?.abort()
    this.#upstream?.destroy()
    this.#options.socket.destroy()
    if (this.#splice === undefined) this.#finish()
  }

  sweep(nowMs: number): void {
    const { socket, idleTimeoutMs } = this.#options
    const bytes = socket.bytesRead + socket.bytesWritten - socket.writableLength
    if (bytes !== this.#seenBytes) {
      this.#seenBytes = bytes
      this.#idleSinceMs = nowMs
    } else if (nowMs - this.#idleSinceMs >= idleTimeoutMs) {
      this.#exchange.errorDetail = 'idle timeout'
      this.destroy()
    }
  }

  readonly #clientLeft = (): void => {
    if (this.#splice === undefined)
      this.#fail('upstreamFailure', 'the client closed the connection before the backend answered')
  }

  #connect(): void {
    const { plan, facts } = this.#options
    const exchange = this.#exchange
    const route = plan.route(facts.sni)
    if (route === undefined) {
      this.#fail('routeNotFound')
      return
    }
    exchange.place = route.place
    const backend = route.pickBackend()
    if (backend === undefined) {
      this.#fail('noValidBackends')
      return
    }
    exchange.backendName = backend.name
    if (backend.target.kind === 'Broken') {
      this.#fail(backend.target.code, backend.target.detail)
      return
    }
    const { target } = backend
    exchange.backendType = backend.name.startsWith('service/') ? 'service' : TYPES[target.kind]
    const endpoint = target.kind === 'Dynamic' ? target.pick(facts) : target.picker.pick()
    if (endpoint === undefined) this.#fail('noHealthyBackends')
    else this.#dialTo(endpoint, target)
  }

  #dialTo(endpoint: Endpoint, target: Exclude<TcpBackendPlan['target'], { kind: 'Broken' }>): void {
    const exchange = this.#exchange
    useEndpoint(exchange, endpoint, target.kind === 'Endpoints' ? target.health : undefined)
    const startMs = performance.now()
    exchange.upstreamStartMs = startMs
    this.#dial = dial(endpoint.target, this.#options.dns, (outcome) => {
      if (this.#isOver) {
        if ('socket' in outcome) outcome.socket.destroy()
      } else if ('socket' in outcome) {
        this.#options.observer.connected(transportOf(endpoint.target), performance.now() - startMs)
        this.#join(outcome.socket)
      } else {
        this.#hasDialFailed = true
        const { code, detail } = outcome
        const next = target.kind === 'Endpoints' ? this.#otherThan(endpoint, target.picker) : undefined
        if (next === undefined) this.#fail(code, forBackend(exchange.backendName, code, detail))
        else this.#dialTo(next, target)
      }
    })
  }

  /** No bytes were sent: another endpoint may take the connection. */
  #otherThan(failed: Endpoint, picker: EndpointPicker): Endpoint | undefined {
    const next = nextEndpoint(this.#failed, failed, (all) => picker.other(all))
    if (next === undefined) return undefined
    this.#settleEndpoint()
    this.#hasDialFailed = false
    return next
  }

  #join(upstream: net.Socket): void {
    this.#exchange.upstreamHeadMs = performance.now()
    this.#upstream = upstream
    this.#splice = splice(this.#options.socket, upstream, (error) => {
      if (error !== undefined) this.#exchange.errorDetail ??= error.message
      this.#finish()
    })
  }

  #fail(code: FailureCode, detail?: Detail): void {
    if (this.#isOver) return
    this.#exchange.fail(code, detail)
    this.destroy()
  }

  #finish(): void {
    if (this.#isOver) return
    this.#isOver = true
    const { observer, plan, closed } = this.#options
    const exchange = this.#exchange
    this.#settleEndpoint()
    exchange.responseBytes = this.#splice?.sent ?? 0
    const { accessLog: rule, metricLabels } = plan
    observer.connectionFinished(exchange, { rule, metricLabels, receivedBytes: this.#splice?.received ?? 0 })
    closed(this)
  }

  /** Only the connect result counts for the health of an endpoint: the bytes have no known meaning here. */
  #settleEndpoint(): void {
    const exchange = this.#exchange
    const { usedEndpoint, health, upstreamStartMs, upstreamHeadMs } = exchange
    if (usedEndpoint === undefined) return
    exchange.usedEndpoint = undefined
    if (upstreamHeadMs !== undefined) usedEndpoint.state.succeeded(upstreamHeadMs - (upstreamStartMs ?? upstreamHeadMs))
    else if (this.#hasDialFailed) chargeFailure(usedEndpoint.state, health)
    else usedEndpoint.state.release()
  }
}

/** Log, metrics and expressions use exchanges; this one has no request. */
function exchangeOf(facts: ConnectionFacts): Exchange {
  const connection: Connection = {
    ...facts,
    id: nextConnectionId(),
    signal: NEVER,
    close: () => {},
    cut: () => true,
  }
  const exchange = new Exchange(connection, NO_REQUEST, performance.now())
  exchange.variables = connectionVariables(exchange)
  return exchange
}

const NEVER = new AbortController().signal
const NO_REQUEST = new HttpRequest({
  method: '',
  path: '',
  query: '',
  host: '',
  scheme: 'http',
  version: 'HTTP/1.1',
  headers: new HeaderList(),
})
