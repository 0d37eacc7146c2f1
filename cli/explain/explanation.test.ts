import { describe, expect, it } from 'vitest'
import type { TraceEvent } from '../trace/event-reader.ts'
import { decidingEvent, explanationOf } from './explanation.ts'
import { explanationText } from './text.ts'

type Message = TraceEvent['message']

const LISTENER: Message = {
  type: 'policySelection',
  phase: 'gateway',
  gateway: 'shop/web',
  listener: 'https',
  effectivePolicy: {},
}
const ROUTE: Message = {
  type: 'routeSelection',
  selectedRoute: 'shop/cart.00.https',
  route: 'shop/cart',
  rule: 'admin',
  evaluatedRoutes: ['shop/cart.00.https'],
}

function trace(status: number, error: string | null, body: string, ...messages: readonly Message[]): TraceEvent[] {
  const response: Message = { type: 'bodySnapshot', stage: 'response', body: Buffer.from(body).toString('base64') }
  const all: Message[] = [{ type: 'requestStarted' }, ...messages, response, { type: 'requestFinished', status, error }]
  return all.map((message) => ({ eventStart: null, eventEnd: 1900, severity: 'info', message }))
}

function selection(phase: 'gateway' | 'route' | 'backend', field: string, key: string): Message {
  return { type: 'policySelection', phase, effectivePolicy: { [field]: {} }, sources: { [field]: [key] } }
}

function policy(kind: string, details: string): Message {
  return { type: 'policy', kind, result: { type: 'apply', details } }
}

function textOf(events: readonly TraceEvent[]): string[] {
  const explanation = explanationOf(events)
  return explanation === undefined ? [] : explanationText(explanation).split('\n')
}

describe('explanationOf', () => {
  it('names the rule, the policy and the field that rejected the request', () => {
    const expr = 'request.headers["x-role"] == "admin"'
    const selected: Message = {
      type: 'policySelection',
      phase: 'route',
      effectivePolicy: { jwtAuthentication: {}, authorization: {} },
      sources: {
        jwtAuthentication: ['traffic/shop/login:jwt:shop/cart'],
        authorization: ['traffic/shop/admin-only:rbac:shop/cart'],
      },
    }
    const events = trace(
      403,
      'authorization failed',
      'authorization failed',
      LISTENER,
      ROUTE,
      selected,
      policy('jwt auth', 'valid token from issuer https://idp.example.com'),
      policy('timeout', 'applied'),
      { type: 'cel', expr, result: { error: 'no such key: x-role' } },
      { type: 'authorizationResult', result: 'deny', rules: [{ name: expr, matched: false, mode: 'allow' }] },
      policy('authorization', 'answered 403: authorization failed'),
    )
    expect(textOf(events)).toEqual([
      '403 Forbidden: authorization failed (1.9 ms)',
      '  listener    https of shop/web',
      '  route       shop/cart, rule admin',
      '  decided by  authorization',
      '              GwPolicy shop/admin-only (spec.traffic.authorization)',
      '              allow request.headers["x-role"] == "admin": no such key: x-role',
      '  before it   jwt auth: valid token from issuer https://idp.example.com',
      '  to pass     send a request for which an allow rule is true, or change GwPolicy shop/admin-only',
    ])
  })

  it.each([
    ['deny', true, 'send a request for which every deny rule is false'],
    ['require', false, 'send a request for which every require rule is true'],
  ] as const)('names the cure of a %s rule', (mode, matched, cure) => {
    const rules = [
      { name: 'a', matched: true, mode: 'allow' },
      { name: 'b', matched, mode },
    ] as const
    const events = trace(
      403,
      'authorization failed',
      'authorization failed',
      selection('gateway', 'authorization', 'traffic/infra/p:rbac:infra/edge'),
      { type: 'authorizationResult', result: 'deny', rules: [...rules] },
      policy('gateway authorization', 'answered 403: authorization failed'),
    )
    expect(explanationOf(events)).toMatchObject({
      decision: {
        name: 'gateway authorization',
        sources: [{ object: 'GwPolicy infra/p', field: 'spec.traffic.authorization' }],
        details: ['allow a: true', `${mode} b: ${matched}`],
      },
      cure: `${cure}, or change GwPolicy infra/p`,
    })
  })

  it('takes the meaning of other rejections from the registry of failures', () => {
    const events = trace(
      429,
      'rate limit exceeded: limits[0] is exhausted',
      'rate limit exceeded',
      ROUTE,
      selection('route', 'rateLimitGlobal', 'traffic/shop/limits:rl-global:shop/cart'),
      policy('remote rate limit', 'answered 429: limits[0] is exhausted'),
    )
    expect(explanationOf(events)).toMatchObject({
      decision: {
        by: 'policy',
        name: 'remote rate limit',
        sources: [{ object: 'GwPolicy shop/limits', field: 'spec.traffic.rateLimit' }],
        details: ['limits[0] is exhausted'],
      },
      cure: undefined,
      meaning: expect.stringMatching(/^[A-Z`].*\. Set by GwPolicy shop\/limits\.$/),
    })
  })

  it.each([
    ['route/default/shop/authorization/0', 'the rule default/shop', 'csrf'],
    ['route/shop/cart.00.https', 'the rule shop/cart.00.https', 'csrf'],
    ['gateway/default', 'gateway/default', undefined],
  ])('names the origin of %s', (key, object, field) => {
    const events = trace(403, 'x', 'x', selection('route', 'csrf', key), policy('csrf', 'answered 403'))
    expect(explanationOf(events)?.decision.sources).toEqual([{ key, object, field }])
  })

  it('has the key of the rule, and the position of the event that decided', () => {
    const events = trace(403, 'x', 'x', ROUTE, policy('cors', 'skipped'), policy('csrf', 'answered 403'))
    expect(explanationOf(events)?.routeKey).toBe(ROUTE.selectedRoute)
    expect(events[decidingEvent(events)]?.message.kind).toBe('csrf')
    expect(decidingEvent(trace(200, null, 'x', ROUTE))).toBe(-1)
  })

  it('lists the rules that do not match', () => {
    const missed: Message = { type: 'routeSelection', evaluatedRoutes: ['shop/cart.00.https', 'shop/cart.01.https'] }
    expect(textOf(trace(404, 'route not found', 'route not found', LISTENER, missed))).toEqual([
      '404 Not Found: route not found (1.9 ms)',
      '  listener    https of shop/web',
      '  decided by  no route matches',
      '              no match: shop/cart.00.https',
      '              no match: shop/cart.01.https',
      '  meaning     No route matched. Check hostnames, path, method, header and query matches.',
    ])
  })

  it('names the host that has no listener', () => {
    const details = 'port 443 has no listener for the host a.example'
    const event: Message = { type: 'policyEvent', kind: 'listener', details }
    expect(explanationOf(trace(404, 'listener not found', 'listener not found', event))).toMatchObject({
      decision: { by: 'routing', name: 'no listener matches', details: [details] },
      meaning: expect.stringContaining('No listener of the port serves this host.'),
    })
  })

  it('distinguishes a response of the backend from a failed call', () => {
    const target = '10.0.0.1:8080'
    const own = trace(503, null, 'busy', ROUTE, { type: 'backendCallResult', target, status: 503, error: null })
    expect(explanationOf(own)).toMatchObject({
      decision: { by: 'backend', name: target, details: ['status 503'] },
      cure: `the backend ${target} sent this response; read its log`,
    })
    const error = 'connection refused'
    const body = 'upstream call failed: connection refused'
    const failed = trace(503, error, body, ROUTE, { type: 'backendCallResult', target, error })
    expect(explanationOf(failed)).toMatchObject({
      decision: { by: 'backend', name: target, details: ['no response: connection refused'] },
    })
    expect(explanationOf(failed)).toMatchObject({ cure: undefined, meaning: expect.stringMatching(/\.$/) })
  })

  it('has no cure for a request that succeeded, and nothing for an incomplete trace', () => {
    const answer: Message = { type: 'backendCallResult', target: 'a:1', status: 200, error: null }
    expect(explanationOf(trace(200, null, 'ok', ROUTE, answer))).toMatchObject({ cure: undefined, meaning: undefined })
    expect(explanationOf(trace(200, null, 'ok').slice(0, -1))).toBeUndefined()
  })

  it('ignores the events of other calls', () => {
    const call = trace(403, null, '', policy('ext authz', 'answered 403'))
    const [, inner] = call
    const outer = trace(200, null, 'ok', ROUTE)
    const events = inner === undefined ? outer : [{ ...inner, scope: ['mirror'] }, ...outer]
    expect(explanationOf(events)?.decision).toMatchObject({ by: 'gateway' })
  })
})

describe('explanationText', () => {
  it('escapes control characters of the request', () => {
    const details = 'port 1 has no listener for the host \u001b[31m'
    const [, line] = textOf(trace(404, null, '', { type: 'policyEvent', kind: 'listener', details })).slice(1)
    expect(line).toBe('              port 1 has no listener for the host \\x1b[31m')
  })
})
