import { beforeAll, describe, expect, it } from 'vitest'
import type { TrafficPayload } from '#api/ir/types.gen.ts'
import type { EffectiveTraffic } from '../chain/effective.ts'
import { environmentOf, exchangeOf } from './exchange.testing.ts'
import { indexPolicies } from './policy-index.ts'
import { effectiveTraffic } from './merge.ts'
import { compileBackendChain, compileChain, mergeResponseFilters, POLICY_ORDER } from './order.ts'
import type { CompiledChain } from '../chain/filter.ts'
import { SERVICE_POLICIES } from './service-policies.ts'

const LIMIT = { unit: 'Requests', tokensPerFill: 1, fillIntervalMs: 1000, tokensMax: 1 } as const
const EVERYTHING: Required<TrafficPayload> = {
  requestMirror: [{ ref: { backend: 'ns/shadow' }, numerator: 1, denominator: 2 }],
  delay: { ms: 5 },
  buffer: { request: { failureMode: 'FailClosed' }, response: { failureMode: 'FailClosed' } },
  retry: { attempts: 1 },
  directResponse: { status: 200 },
  requestRedirect: { status: 302 },
  urlRewrite: {},
  hostRewrite: { mode: 'Auto' },
  responseHeaderModifier: {},
  requestHeaderModifier: {},
  csrf: {},
  extProc: { service: { backend: 'ns/processor' }, failureMode: 'FailClosed' },
  transformation: { request: { body: 'request.body' }, response: { body: 'response.body' } },
  rateLimitGlobal: {
    service: { backend: 'ns/rls' },
    failureMode: 'FailClosed',
    domain: 'd',
    descriptors: [{ unit: 'Requests', entries: [{ name: 'k', expression: '"v"' }] }],
  },
  rateLimit: { limits: [LIMIT] },
  authorization: { action: 'Allow', matchExpressions: ['true'] },
  extAuth: { service: { backend: 'ns/authz' }, failureMode: 'FailClosed' },
  apiKeyAuthentication: { mode: 'Strict' },
  basicAuthentication: { mode: 'Strict', realm: 'r', users: { secret: 's' } },
  jwtAuthentication: { mode: 'Strict', providers: [] },
  cors: {},
  timeouts: { requestMs: 1 },
  deny: { field: 'f', message: 'm' },
}

/** Like inline policies of a route whose bucket keys are those of the test environment. */
function effective(payload: TrafficPayload): EffectiveTraffic {
  const name = { kind: 'HTTPRoute', namespace: 'ns', name: 'r' } as const
  const place = { gateway: { namespace: 'ns', name: 'gw' }, routes: [{ key: 'k', name, inlinePolicies: payload }] }
  const { postRouting } = effectiveTraffic(indexPolicies([]), place)
  const { rateLimit } = postRouting
  return rateLimit === undefined ? postRouting : { ...postRouting, rateLimit: { ...rateLimit, source: 'test' } }
}

function chain(payload: TrafficPayload, phase: 'PreRouting' | 'PostRouting' = 'PostRouting'): CompiledChain {
  return compileChain(effective(payload), phase, environmentOf({ limits: [LIMIT] }))
}

const namesOf = (filters: readonly { readonly name: string }[]): string[] => filters.map(({ name }) => name)

beforeAll(() => SERVICE_POLICIES.load())

describe('PostRouting', () => {
  it('runs in the order of the specification', () => {
    const { request, response, readsRequestBody, readsResponseBody } = chain(EVERYTHING)
    expect(namesOf(request)).toEqual([
      'deny',
      'timeouts',
      'cors',
      'jwtAuthentication',
      'basicAuthentication',
      'apiKeyAuthentication',
      'extAuth',
      'authorization',
      'retry',
      'rateLimit',
      'rateLimitGlobal',
      'buffer',
      'extProc',
      'transformation',
      'csrf',
      'requestHeaderModifier',
      'hostRewrite',
      'urlRewrite',
      'requestRedirect',
      'delay',
      'directResponse',
    ])
    expect(namesOf(response)).toEqual([
      'responseHeaderModifier',
      'buffer',
      'transformation',
      'extProc',
      'rateLimit',
      'rateLimitGlobal',
    ])
    expect([readsRequestBody, readsResponseBody]).toEqual([true, true])
    expect(POLICY_ORDER).toHaveLength(Object.keys(EVERYTHING).length)
  })

  it('is empty without policies', () => {
    expect(chain({})).toEqual({
      request: [],
      response: [],
      selected: [],
      finished: [],
      readsRequestBody: false,
      readsResponseBody: false,
      effective: { authorization: [], deny: [] },
    })
  })

  it('collects the filters that run at the end', () => {
    const limit = { ...LIMIT, unit: 'Tokens' } as const
    const compiled = compileChain(
      effective({ rateLimit: { limits: [limit] } }),
      'PostRouting',
      environmentOf({ limits: [limit] }),
    )
    expect(compiled.finished).toHaveLength(1)
  })
})

describe('PreRouting', () => {
  const {
    deny,
    cors,
    jwtAuthentication,
    basicAuthentication,
    apiKeyAuthentication,
    extAuth,
    authorization,
    extProc,
    transformation,
    ...rest
  } = EVERYTHING

  it('has its own policies', () => {
    const own = {
      transformation,
      extProc,
      extAuth,
      apiKeyAuthentication,
      basicAuthentication,
      jwtAuthentication,
      authorization,
      cors,
      deny,
    }
    expect(namesOf(chain(own, 'PreRouting').request)).toEqual([
      'deny',
      'cors',
      'jwtAuthentication',
      'basicAuthentication',
      'apiKeyAuthentication',
      'extAuth',
      'authorization',
      'extProc',
      'transformation',
    ])
  })

  it.each(Object.entries(rest))('rejects everything for %s, which it does not have', (field, value) => {
    const { request, response } = chain({ [field]: value }, 'PreRouting')
    expect(namesOf(request)).toEqual([field])
    expect(response).toEqual([])
    const exchange = exchangeOf()
    expect(request[0]?.filter(exchange)).toMatchObject({ status: 403 })
    expect(exchange.errorDetail).toBe(`traffic.${field}: cannot run in phase PreRouting`)
  })
})

it('runs credentials before the filters of a backend, and its response filters between those of route and gateway', () => {
  const backend = compileBackendChain(
    {
      mcpAuthorization: [],
      deny: { field: 'f', message: 'm' },
      transformation: { request: { body: '""' }, response: { body: '""' } },
      requestHeaderModifier: {},
      responseHeaderModifier: {},
      urlRewrite: {},
      requestRedirect: { status: 301 },
      auth: { key: { secret: 'ns/s/k' } },
      http: { requestTimeoutMs: 5 },
    },
    environmentOf(),
  )
  expect(namesOf(backend.request)).toEqual([
    'http',
    'deny',
    'auth',
    'transformation',
    'requestHeaderModifier',
    'urlRewrite',
    'requestRedirect',
  ])
  const { transformation, extProc } = EVERYTHING
  const gateway = chain({ transformation, extProc }, 'PreRouting')
  const route = chain(EVERYTHING)
  const merged = mergeResponseFilters([gateway, backend, route])
  const places = new Map([
    ...gateway.response.map((f) => [f, 'gateway'] as const),
    ...backend.response.map((f) => [f, 'backend'] as const),
  ])
  expect(merged.map((filter) => `${places.get(filter) ?? 'route'} ${filter.name}`)).toEqual([
    'route responseHeaderModifier',
    'backend responseHeaderModifier',
    'route buffer',
    'route transformation',
    'backend transformation',
    'gateway transformation',
    'route extProc',
    'gateway extProc',
    'route rateLimit',
    'route rateLimitGlobal',
  ])
})
