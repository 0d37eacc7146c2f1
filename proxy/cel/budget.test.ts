import { describe, expect, it } from 'vitest'
import { FAILED } from './evaluate.ts'
import { REQUEST_STEPS_MAX, ROUTE_STEPS_PER_SECOND, RouteShares, SCARCE_STEPS_MAX } from './budget.ts'
import { compileAuthorization } from '../policy/auth/authorization.ts'
import { compileConditional } from '../chain/conditional.ts'
import { environmentOf, exchangeOf, expression, runRequest } from '../policy/exchange.testing.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { ExchangePlace } from '../exchange/facts.ts'

/** A nested loop: some hundred thousand steps, and true. */
const list = `[${'0,'.repeat(250)}0]`
const COSTLY = expression(`${list}.all(a, ${list}.all(b, a == b && request.method != ""))`)
const CHEAP = expression('request.path == "/"')

function placeOf(routeName: string | undefined, routeRule = 'a'): ExchangePlace {
  const route = { routeKind: 'HTTPRoute', routeNamespace: 'shop', routeName, routeRule }
  return { bind: '80', gatewayNamespace: 'infra', gatewayName: 'edge', listener: 'http', ...route }
}

function at(routeName: string | undefined, rule?: string): Exchange {
  const exchange = exchangeOf()
  exchange.place = placeOf(routeName, rule)
  return exchange
}

function tried(shares: RouteShares, exchange: Exchange, one = COSTLY): unknown {
  try {
    return shares.evaluate(one, exchange)
  } catch {
    return FAILED
  }
}

describe('the budget of a request', () => {
  it('is shared by all of its expressions', () => {
    const shares = new RouteShares()
    const exchange = exchangeOf()
    expect(tried(shares, exchange)).toBe(true)
    const cost = REQUEST_STEPS_MAX - exchange.celStepsLeft
    expect(cost).toBeGreaterThan(100_000)
    const results = Array.from({ length: 16 }, () => tried(shares, exchange))
    expect(results.filter((one) => one === true)).toHaveLength(Math.floor(REQUEST_STEPS_MAX / cost) - 1)
    expect(exchange.celStepsLeft).toBe(0)
    expect(shares.exceeded).toBe(1)
  })

  it('is not used by expressions without long loops, which also run when it is exhausted', () => {
    const shares = new RouteShares()
    const exchange = exchangeOf()
    expect(tried(shares, exchange, CHEAP)).toBe(true)
    expect(exchange.celStepsLeft).toBe(REQUEST_STEPS_MAX)
    exchange.celStepsLeft = 0
    expect(tried(shares, exchange, CHEAP)).toBe(true)
    expect(tried(shares, exchange)).toBe(FAILED)
  })
})

describe('the share of a route', () => {
  it('is exhausted for all of its rules, and not for other routes, until time has passed', () => {
    let nowMs = 0
    const shares = new RouteShares(() => nowMs)
    const first = at('web')
    tried(shares, first)
    const cost = REQUEST_STEPS_MAX - first.celStepsLeft
    let requests = 1
    while (tried(shares, at('web', `rule-${requests}`)) === true && requests < 1000) requests++
    expect(requests).toBe(Math.ceil(ROUTE_STEPS_PER_SECOND / cost))
    expect(tried(shares, at('web'), CHEAP)).toBe(true)
    expect(tried(shares, at('other'))).toBe(true)
    expect(tried(shares, at(undefined))).toBe(true)
    nowMs = 1000
    expect(tried(shares, at('web'))).toBe(true)
  })

  it('limits a route with constant load to its steps per second', () => {
    let nowMs = 0
    const shares = new RouteShares(() => nowMs)
    let steps = 0
    for (; nowMs < 10_000; nowMs += 5) {
      const exchange = at('web')
      tried(shares, exchange)
      const most = Math.max(0, REQUEST_STEPS_MAX - exchange.celStepsLeft)
      steps += most === REQUEST_STEPS_MAX ? SCARCE_STEPS_MAX : most
    }
    // The initial burst, and one request more than the remaining steps.
    expect(steps).toBeLessThan(ROUTE_STEPS_PER_SECOND * 11.5)
    expect(steps).toBeGreaterThan(ROUTE_STEPS_PER_SECOND * 9)
  })
})

describe('a request without steps left', () => {
  const spent = (): Exchange => {
    const exchange = exchangeOf()
    exchange.celStepsLeft = 0
    return exchange
  }

  it.each(['Deny', 'Require', 'Allow'] as const)('is rejected by a rule with action %s that needs some', (action) => {
    const never = `!(${COSTLY.source})`
    const source = action === 'Deny' ? never : COSTLY.source
    const policy = compileAuthorization([{ action, matchExpressions: [source] }], environmentOf())
    expect(runRequest(policy, exchangeOf())).toBeUndefined()
    expect(runRequest(policy, spent())?.status).toBe(403)
  })

  it('is rejected if a condition needs some', () => {
    const entries = [{ condition: COSTLY.source, policy: {} }]
    const policy = compileConditional(entries, environmentOf(), () => ({ request: () => undefined }))
    expect(runRequest(policy, exchangeOf())).toBeUndefined()
    expect(runRequest(policy, spent())?.status).toBe(403)
  })
})
