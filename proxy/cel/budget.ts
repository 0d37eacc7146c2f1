// Limits the cost of expressions: all expressions of one request share a budget of steps, and those of one route a
// share of the thread's time. Above either limit, expressions fail. Expressions without loops over long values take no
// steps: they are not counted, and also run on a route whose share is used up.
import { EVALUATION_STEPS_MAX } from '#api/cel/compile.ts'
import type { CelExpression } from '#api/cel/expression.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { ExchangePlace } from '../exchange/facts.ts'
import { variablesOf } from './variables.ts'

/** For all expressions while a request is handled, and once more for those of its logs, metrics and spans. */
export const REQUEST_STEPS_MAX = EVALUATION_STEPS_MAX
/** A million steps are about 30 ms: a quarter of a thread's time. */
export const ROUTE_STEPS_PER_SECOND = 8_000_000
/** The burst of a route after a second without use. */
const ROUTE_STEPS_BURST = ROUTE_STEPS_PER_SECOND
/** The budget of a request whose route has no share left: 0.3 ms. */
export const SCARCE_STEPS_MAX = 10_000
/** Remembered routes with expensive expressions; the oldest one is dropped. */
const ROUTES_MAX = 4096

interface Share {
  steps: number
  atMs: number
}

/** For one thread. */
export class RouteShares {
  /** Evaluations that exceeded the steps. */
  exceeded = 0
  readonly #shares = new Map<string, Share>()
  /** Routes without a share left: empty in normal operation. */
  readonly #spent = new Set<string>()
  readonly #nowMs: () => number

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /** @throws {CelError} as the expression does. */
  evaluate(expression: CelExpression, exchange: Exchange): unknown {
    if (this.#spent.size > 0) this.#limit(exchange)
    const before = exchange.celStepsLeft
    try {
      return expression.evaluate(variablesOf(exchange), exchange)
    } finally {
      if (exchange.celStepsLeft !== before) this.#charge(exchange, before - exchange.celStepsLeft)
    }
  }

  #limit(exchange: Exchange): void {
    const key = keyOf(exchange.place)
    if (!this.#spent.has(key)) return
    const share = this.#shares.get(key)
    if (share === undefined || this.#refill(share) > 0) this.#spent.delete(key)
    else exchange.celStepsLeft = Math.min(exchange.celStepsLeft, SCARCE_STEPS_MAX)
  }

  #charge(exchange: Exchange, steps: number): void {
    if (exchange.celStepsLeft === 0) this.exceeded++
    const key = keyOf(exchange.place)
    const share = this.#shares.get(key) ?? this.#add(key)
    this.#refill(share)
    share.steps -= steps
    if (share.steps <= 0) this.#spent.add(key)
  }

  #refill(share: Share): number {
    const nowMs = this.#nowMs()
    const gained = ((nowMs - share.atMs) * ROUTE_STEPS_PER_SECOND) / 1000
    share.steps = Math.min(ROUTE_STEPS_BURST, share.steps + gained)
    share.atMs = nowMs
    return share.steps
  }

  #add(key: string): Share {
    for (const oldest of this.#shares.keys()) {
      if (this.#shares.size < ROUTES_MAX) break
      this.#shares.delete(oldest)
      this.#spent.delete(oldest)
    }
    const share = { steps: ROUTE_STEPS_BURST, atMs: this.#nowMs() }
    this.#shares.set(key, share)
    return share
  }
}

/** Later expressions of the request that take steps fail as well: a request that depends on one must be rejected. */
export function isOutOfSteps({ celStepsLeft }: Exchange): boolean {
  return celStepsLeft === 0
}

/** For logs. */
export const OUT_OF_STEPS = 'the expressions of the request take too many steps'

/** All rules of a route have one share, and so have all requests of a listener whose route is not selected yet. */
function keyOf(place: ExchangePlace | undefined): string {
  if (place === undefined) return ''
  if (place.routeName === undefined) return `${place.gatewayNamespace}/${place.gatewayName}/${place.listener}`
  return `${place.routeKind}/${place.routeNamespace}/${place.routeName}`
}

/** Of this thread: each worker has its own. */
export const routeShares = new RouteShares()
