// The one way out to backends: pools by target key, deadlines, DNS. Implements the seam of target.ts.
import type { Exchange } from '../exchange/exchange.ts'
import { type DeadlineWheel, requestDeadlines, type Sweepable, Sweeper } from '../socket/deadlines.ts'
import { BodyAborted } from '../message/body.ts'
import { discardBody } from '../http/body-writer.ts'
import { IncomingBody } from '../message/incoming-body.ts'
import type { RequestSigner } from '../message/request-signer.ts'
import { BodyQueue } from './await-body.ts'
import { type CallFailure, type CallVersion, ForwardCall, SendCall, type UpstreamCall } from './call.ts'
import type { ConnectObserver } from './connect-observer.ts'
import { CONNECTION_DEFAULTS, type ConnectionDefaults } from './connection-defaults.ts'
import { DnsCache } from './dns-cache.ts'
import { callsEndingWith } from './ending-calls.ts'
import { Http2Upstream } from './http2-client.ts'
import { wantsHttp2 } from './http2-version.ts'
import { signExchange, signRequest } from './signing.ts'
import { type PoolLimits, type PoolShared, TargetPool } from './pool.ts'
import { UpstreamError } from './target.ts'
import type {
  CallOutcome,
  SendOptions,
  UpstreamClient,
  UpstreamRequest,
  UpstreamResponse,
  UpstreamTarget,
} from './target.ts'

export interface UpstreamClientOptions {
  readonly limits?: Partial<PoolLimits>
  /** Those of this worker. */
  readonly connections?: ConnectionDefaults | undefined
  readonly dns?: DnsCache
  readonly connected?: ConnectObserver | undefined
}

/** The idle time is that of the process. */
type OwnLimits = Omit<PoolLimits, 'idleTimeoutMs'>

/**
 * A gateway that queues at a small pool fails with slow backends (a 60 ms backend and 300 users have emptied pools of
 * peers), so the bound on open connections is far above the number that is kept idle.
 */
const DEFAULT_POOL_LIMITS: OwnLimits = {
  idlePerTargetMax: 512,
  openPerTargetMax: 4096,
  openMax: 16_384,
  targetsMax: Infinity,
}

function limitsOf({ limits, connections = CONNECTION_DEFAULTS }: UpstreamClientOptions): PoolLimits {
  const { idleTimeoutMs, idleMax: idlePerTargetMax = DEFAULT_POOL_LIMITS.idlePerTargetMax } = connections
  return { ...DEFAULT_POOL_LIMITS, idleTimeoutMs, idlePerTargetMax, ...limits }
}

/** Seam plus what the proxy's own start-up code and tests need. */
export interface HttpUpstreamClient extends UpstreamClient, ConnectionCounts {}

export interface ConnectionCounts {
  readonly openConnections: number
  readonly idleConnections: number
  /** For people who look: one for each target and HTTP version. */
  pools(): Iterable<PoolCounts>
}

/** Connections that share a target. */
export interface PoolCounts {
  /** `host:port`. */
  readonly label: string
  /** Idle ones included. */
  readonly openCount: number
  readonly idleCount: number
  readonly openMax: number
}

export function createUpstreamClient(options: UpstreamClientOptions = {}): HttpUpstreamClient {
  return new Client(options)
}

/** Where a call goes, whatever the version. */
interface CallPool {
  readonly label: string
  dispatch(call: UpstreamCall): void
}

const FULL: CallPool = {
  label: 'none',
  dispatch: (call) => call.failed('overloaded', 'too many destinations at once'),
}

class Client implements HttpUpstreamClient, Sweepable {
  readonly #pools = new Map<string, TargetPool>()
  readonly #sweeper = new Sweeper()
  readonly #shared: PoolShared
  readonly #http2: Http2Upstream
  readonly #bodies = new BodyQueue()
  #isClosed = false

  constructor(options: UpstreamClientOptions) {
    this.#shared = {
      limits: limitsOf(options),
      wheel: requestDeadlines,
      dns: options.dns ?? new DnsCache(),
      connected: options.connected,
      byHttp2: (call) => this.#http2.pool(call.target).dispatch(call),
      openConnections: 0,
    }
    this.#http2 = new Http2Upstream({
      ...this.#shared,
      byHttp1: (call) => this.#pool(call.target).dispatch(call),
      adopt: (call, socket, address) => this.#pool(call.target).adopt(call, socket, address),
    })
  }

  get openConnections(): number {
    return this.#shared.openConnections + this.#http2.openConnections
  }

  get idleConnections(): number {
    let count = this.#http2.idleConnections
    for (const pool of this.#pools.values()) count += pool.idleCount
    return count
  }

  *pools(): IterableIterator<PoolCounts> {
    yield* this.#pools.values()
    yield* this.#http2.pools()
  }

  forward(exchange: Exchange, target: UpstreamTarget, authority: string, done: (exchange: Exchange) => void): void {
    const call = new ForwardCall({ exchange, target, authority, isTunnel: false, done })
    const { signer } = exchange.request
    if (signer === undefined) this.#run(exchange, call)
    else void this.#runSigned(exchange, call, signer)
  }

  async #runSigned(exchange: Exchange, call: ForwardCall, signer: RequestSigner): Promise<void> {
    const failure = await signExchange(exchange, signer, call.authority)
    if (failure === undefined) this.#run(exchange, call)
    else call.failed(failure.code, failure.detail)
  }

  tunnel(exchange: Exchange, target: UpstreamTarget, done: (exchange: Exchange) => void): void {
    this.#run(exchange, new ForwardCall({ exchange, target, authority: '', isTunnel: true, done }))
  }

  send(target: UpstreamTarget, request: UpstreamRequest, options: SendOptions): Promise<UpstreamResponse> {
    return new Promise((resolve, reject) => {
      this.call(target, request, options, { answered: resolve, failed: reject })
    })
  }

  call(target: UpstreamTarget, request: UpstreamRequest, options: SendOptions, outcome: CallOutcome): void {
    const { signer } = request
    if (signer === undefined) this.#call(target, request, options, outcome)
    else {
      const signed = signRequest(request, signer, { target, signal: options.signal })
      signed.then(
        () => this.#call(target, request, options, outcome),
        (error: unknown) => outcome.failed(error),
      )
    }
  }

  #call(target: UpstreamTarget, request: UpstreamRequest, options: SendOptions, outcome: CallOutcome): void {
    const { deadlineMs, bodyDeadlineMs, signal, exchange } = options
    if (signal?.aborted === true || exchange?.connection.signal.aborted === true) {
      discardBody(request.body)
      outcome.failed(new UpstreamError('upstreamFailure', 'aborted'))
      return
    }
    const whole = bodyDeadlineMs === undefined ? outcome : endingAt(bodyDeadlineMs, this.#shared.wheel, outcome)
    const call = new SendCall(target, request, whole, signal && callsEndingWith(signal))
    if (exchange !== undefined) exchange.upstreamCall = call
    call.version = target.negotiates === true ? 'Chosen' : target.httpVersion
    this.#start(call, this.#poolOf(call), deadlineMs, 'upstreamTimeout')
  }

  close(): void {
    this.#isClosed = true
    for (const pool of this.#pools.values()) pool.destroyAll()
    this.#pools.clear()
    this.#http2.close()
    this.#sweeper.remove(this)
  }

  sweep(nowMs: number): void {
    for (const [key, pool] of this.#pools) {
      pool.sweep(nowMs)
      if (pool.isEmpty) this.#pools.delete(key)
    }
    if (this.#pools.size === 0) this.#sweeper.remove(this)
  }

  #run(exchange: Exchange, call: ForwardCall): void {
    call.version = call.isTunnel ? 'HTTP1' : versionFor(exchange, call)
    const pool = this.#poolOf(call)
    exchange.endpoint = pool.label
    exchange.upstreamStartMs = performance.now()
    exchange.upstreamCall = call
    const perTry =
      exchange.backendRequestTimeoutMs === undefined
        ? Infinity
        : exchange.upstreamStartMs + exchange.backendRequestTimeoutMs
    const whole = exchange.deadlineMs ?? Infinity
    this.#start(call, pool, Math.min(perTry, whole), whole <= perTry ? 'requestTimeout' : 'upstreamTimeout')
  }

  #start(call: UpstreamCall, pool: CallPool, deadlineMs: number, code: CallFailure): void {
    if (this.#isClosed) {
      call.failed('upstreamFailure', 'the client is closed')
      return
    }
    if (deadlineMs !== Infinity) {
      if (deadlineMs <= performance.now()) {
        call.failed(code, 'the deadline has passed')
        return
      }
      call.watch(this.#shared.wheel, deadlineMs, code)
    }
    const awaited = this.#bodies.awaited(call)
    if (awaited === 0) pool.dispatch(call)
    // The pool may be gone by then.
    else this.#bodies.hold(call, awaited, () => this.#poolOf(call).dispatch(call))
  }

  #poolOf({ target, version }: UpstreamCall): CallPool {
    const { targetsMax } = this.#shared.limits
    const isFull = this.#pools.size + this.#http2.size >= targetsMax
    if (isFull && !this.#pools.has(target.key) && !this.#http2.has(target.key)) return FULL
    if (version === 'Chosen') return this.#chosenPool(target)
    return version === 'HTTP2' ? this.#http2.pool(target) : this.#pool(target)
  }

  /** What the last handshake came to; before the first one that of HTTP/2, in which calls wait for the outcome. */
  #chosenPool(target: UpstreamTarget): CallPool {
    const known = this.#pools.get(target.key)
    return known?.isChosen === true && !known.isEmpty ? this.#pool(target) : this.#http2.pool(target)
  }

  #pool(target: UpstreamTarget): TargetPool {
    const known = this.#pools.get(target.key)
    if (known !== undefined) return known
    const pool = new TargetPool(target, this.#shared)
    this.#pools.set(target.key, pool)
    this.#sweeper.add(this)
    return pool
  }
}

function versionFor(exchange: Exchange, call: ForwardCall): CallVersion {
  const { target } = call
  if (target.negotiates === true && exchange.request.upgrade === undefined) {
    call.needsHttp2 = exchange.isGrpc
    return exchange.isGrpc ? 'HTTP2' : 'Chosen'
  }
  return wantsHttp2(exchange, target) ? 'HTTP2' : 'HTTP1'
}

/** Whoever waits for more of the body gets its end then. */
function endingAt(deadlineMs: number, wheel: DeadlineWheel, outcome: CallOutcome): CallOutcome {
  return {
    answered(response) {
      const { body } = response
      if (body instanceof IncomingBody) {
        const item = { expired: () => body.interrupt(new BodyAborted('the deadline has passed')) }
        const slot = wheel.add(item, deadlineMs)
        body.observe({ seen: () => {}, over: () => wheel.remove(item, slot) })
      }
      outcome.answered(response)
    },
    failed: (error) => outcome.failed(error),
  }
}
