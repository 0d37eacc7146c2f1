// Bugs in policies, plans and callbacks: the request is refused, the cause is reported with its stack, nothing else
// breaks, and the client hears nothing of the cause.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CompiledChain, CompiledPolicy, NamedFilter } from '../chain/filter.ts'
import type { ListenerPlan, RoutePlan } from '../chain/plan.ts'
import { defects } from '../exchange/defects.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { DEFAULT_LIMITS } from '../http/handler.ts'
import { CredentialNames } from '../log/credential-names.ts'
import { HttpResponse } from '../message/message.ts'
import { exchangeOf } from '../policy/exchange.testing.ts'
import { pipeline } from './pipeline.ts'

const PLACE = {
  bind: '80/ns/gw',
  gatewayNamespace: 'ns',
  gatewayName: 'gw',
  listener: 'http',
  routeKind: undefined,
  routeNamespace: undefined,
  routeName: undefined,
  routeRule: undefined,
}

function boom(): never {
  throw new TypeError('secret cause')
}
const boomLater = (): Promise<never> => Promise.reject(new TypeError('secret cause'))

let reported: { place: string; stack: string | undefined }[]
beforeEach(() => {
  reported = []
  defects.onReport = (place, error) =>
    void reported.push({ place, stack: error instanceof Error ? error.stack : undefined })
})
afterEach(() => {
  defects.onReport = undefined
})

function chainOf(policy: CompiledPolicy = {}): CompiledChain {
  const named = (filter: NamedFilter['filter'] | undefined): NamedFilter[] =>
    filter === undefined ? [] : [{ name: 'policy', filter }]
  return {
    request: named(policy.request),
    response: [],
    selected: policy.selected === undefined ? [] : [policy.selected],
    finished: policy.finished === undefined ? [] : [policy.finished],
    readsRequestBody: false,
    readsResponseBody: false,
    fetched: undefined,
    effective: {},
  }
}

interface Plans {
  readonly listener?: CompiledPolicy
  readonly route?: CompiledPolicy
  readonly response?: NamedFilter['filter']
  readonly plan?: () => RoutePlan
}

/** Sends a request through the pipeline. The backend answers 200. */
async function answered({ listener = {}, route = {}, response, plan }: Plans): Promise<Exchange> {
  const responsePlan = {
    filters: response === undefined ? [] : [{ name: 'policy', filter: response }],
    readsBody: false,
  }
  const backend = (exchange: Exchange, done: (exchange: Exchange) => void): void => {
    exchange.response = HttpResponse.local(200, 'from the backend')
    done(exchange)
  }
  const routePlan: RoutePlan = {
    place: PLACE,
    chain: chainOf(route),
    response: responsePlan,
    pickBackend: () => ({
      name: 'backend',
      type: 'static',
      protocol: 'http',
      request: [],
      readsRequestBody: false,
      response: responsePlan,
      handler: backend,
      tunnel: backend,
      mirror: undefined,
    }),
  }
  const value = {
    key: 'ns/route',
    get plan() {
      return plan === undefined ? routePlan : plan()
    },
  }
  const listenerPlan: ListenerPlan = {
    place: PLACE,
    chain: chainOf(listener),
    response: responsePlan,
    router: {
      find: () => ({ value, matchedPrefix: undefined, matchLabel: '/*' }),
      evaluated: () => [],
      candidates: () => [],
    },
    accessLog: undefined,
  }
  const handler = pipeline({
    limits: DEFAULT_LIMITS,
    observer: { finished() {}, transferred() {}, refused() {} },
    credentialNames: () => new CredentialNames(),
    findListener: () => listenerPlan,
  })
  const exchange = exchangeOf()
  await new Promise<void>((resolve) => {
    handler.handle(exchange, () => resolve())
  })
  handler.finished(exchange, true)
  return exchange
}

describe('a bug costs one request', () => {
  it.each<[string, Plans, string]>([
    ['in a request filter of the listener', { listener: { request: boom } }, 'policy'],
    ['in a request filter of the route', { route: { request: boom } }, 'policy'],
    ['in a request filter that rejects', { route: { request: boomLater } }, 'policy'],
    ['in a response filter', { response: boom }, 'policy'],
    ['in a response filter that rejects', { response: boomLater }, 'policy'],
    ['in what runs when the route is chosen', { route: { selected: boom } }, 'route'],
    ['in the compilation of a route', { plan: boom }, 'route ns/route'],
    [
      'in the compilation of a route after a wait',
      { plan: boom, listener: { request: nothingLater } },
      'route ns/route',
    ],
  ])('%s', async (_, plans, place) => {
    const before = defects.count
    const exchange = await answered(plans)
    expect([exchange.failure, exchange.response?.status, exchange.response?.body]).toEqual([
      'internal',
      503,
      'processing failed',
    ])
    expect(exchange.errorDetail).toContain('secret cause')
    // A response filter runs on the answer to the failure as well.
    expect(new Set(reported.map((one) => one.place))).toEqual(new Set([place]))
    expect(reported[0]?.stack).toContain('defects.test.ts')
    expect(defects.count).toBe(before + reported.length)
  })

  it('in what runs at the end leaves the answer and the rest of the end as they are', async () => {
    const ends: string[] = []
    const exchange = await answered({
      listener: { finished: boom },
      route: { finished: () => void ends.push('route') },
    })
    expect([exchange.response?.status, ends]).toEqual([200, ['route']])
    expect(reported.map(({ place }) => place)).toEqual(['end of request'])
  })
})

function nothingLater(): Promise<undefined> {
  return Promise.resolve(undefined)
}
