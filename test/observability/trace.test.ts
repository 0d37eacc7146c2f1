// Every event of a trace, each from a request that causes it; and the decisions of policies with their reasons.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { POLICY_ORDER } from '#proxy/policy/order.ts'
import { displayName } from '#proxy/trace/policy-names.ts'
import { EVENT_ORDER, outline, watchTrace } from '#proxy/trace/watcher.testing.ts'
import type { TraceEvent } from '#proxy/trace/trace-writer.ts'
import type { TraceMessage } from '#proxy/exchange/request-trace.ts'
import { ask, type Question } from '#test/conformance/suite/ask.ts'
import { API_KEY, startEverything, type Everything } from './everything.ts'

let all: Everything
let token: string

beforeAll(async () => {
  all = await startEverything()
  token = await all.issuer.token({ sub: 'alice' })
}, 60_000)

afterAll(() => all.stop())

async function traceOf(path: string, question: Question = {}): Promise<TraceEvent[]> {
  const expression = `request.pathAndQuery == "${path}"`
  const watcher = await watchTrace({ adminPort: all.proxy.ports.admin, expression })
  await ask(`http://127.0.0.1:${all.ports.http}${path}`, question)
  return watcher.ended
}

const json = (body: object): Question => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})
const CHAT = { model: 'demo', messages: [{ role: 'user', content: 'one two' }], stream: true }
const header = (name: string, value: string): Question => ({ headers: { [name]: value } })

type Sent = readonly [path: string, question?: Question]

type Decision = readonly [kind: string, said: string | RegExp, path: string, question?: Question]

/** The compiler checks that the list is complete. */
const EVENTS: Readonly<Record<TraceMessage['type'], Sent>> = {
  requestStarted: ['/echo'],
  requestSnapshot: ['/echo'],
  policySelection: ['/echo'],
  policy: ['/cross', header('origin', 'https://shop.example.com')],
  policyEvent: ['/bucket?first'],
  cel: ['/ruled'],
  traceSampling: ['/echo'],
  authorizationResult: ['/ruled'],
  routeSelection: ['/echo'],
  llmRouteResolved: ['/model/v1/chat/completions', json(CHAT)],
  llmRequestDetected: ['/model/v1/chat/completions', json(CHAT)],
  llmStreamingTranslation: ['/claude/v1/chat/completions', json(CHAT)],
  llmUsage: ['/model/v1/chat/completions', json(CHAT)],
  backendCallStart: ['/echo'],
  backendCallResult: ['/gone'],
  responseSnapshot: ['/echo'],
  bodySnapshot: ['/echo'],
  requestFinished: ['/echo'],
}

describe('events', () => {
  it.each(Object.entries(EVENTS))('%s', async (type, [path, question]) => {
    const events = await traceOf(path, question)
    expect(events.map(({ message }) => message.type)).toContain(type)
    expect(events.map(({ message }) => message.type).at(-1)).toBe('requestFinished')
  })

  const ordered: readonly Sent[] = [
    ['/echo?plain', json({ a: 1 })],
    ['/changed?a', json({ a: 1 })],
    ['/processed?a', json({ a: 1 })],
    ['/model/v1/chat/completions', json(CHAT)],
  ]

  it.each(ordered.map(([path, question = {}]) => ({ path, question })))(
    'of $path are in the order of the specification',
    async ({ path, question }) => {
      const own = (await traceOf(path, question)).filter(({ scope }) => scope === undefined)
      const seen = outline(own).filter((event) => EVENT_ORDER.includes(event))
      expect(seen.filter((event, index) => seen.indexOf(event) === index)).toEqual(EVENT_ORDER)
    },
  )
})

describe('phases of policySelection', () => {
  it.each([
    ['/echo?phases', ['gateway', 'route', 'backend']],
    ['/inlined', ['gateway', 'route', 'backend', 'inlineBackend']],
    ['/model/v1/chat/completions', ['gateway', 'route', 'backend', 'subBackend']],
  ])('of %s', async (path, phases) => {
    const events = await traceOf(path, path.includes('completions') ? json(CHAT) : {})
    const selections = events.filter(({ message }) => message.type === 'policySelection')
    expect(selections.map(({ message }) => message.phase)).toEqual(phases)
  })

  it('list the policies of the backendRef of the rule', async () => {
    const events = await traceOf('/inlined?own')
    const policies = events.filter(({ message }) => message.phase === 'inlineBackend' || message.phase === 'backend')
    const own = { requestHeaderModifier: { set: [{ name: 'x-inline', value: '1' }] } }
    expect(policies.map(({ message }) => message.effectivePolicy)).toEqual([expect.objectContaining(own), own])
  })
})

describe('decisions', () => {
  const alice = header('authorization', 'Bearer alice-token')
  const post = (headers: Readonly<Record<string, string>>): Question => ({ method: 'POST', headers })

  // prettier-ignore
  const table: readonly Decision[] = [
    ['cors', 'the origin https://shop.example.com is allowed', '/cross', header('origin', 'https://shop.example.com')],
    ['cors', 'the origin https://evil.example is not allowed', '/cross', header('origin', 'https://evil.example')],
    ['cors', 'no Origin', '/cross'],
    ['csrf', 'the method is safe', '/forged'],
    ['csrf', 'no Sec-Fetch-Site and no Origin: not sent by a browser', '/forged', post({})],
    ['csrf', /^answered 403: .*; the origin is neither the host/, '/forged', post({ origin: 'https://evil.example' })],
    ['csrf', 'the origin is one of additionalOrigins', '/forged', post({ origin: 'https://shop.example.com' })],
    ['jwt auth', /^answered 401: .*no token found/, '/jwt'],
    ['api key', /^the key is .*core/, '/key', header('authorization', `Bearer ${API_KEY}`)],
    ['api key', /^answered 401: .*invalid credentials/, '/key', header('authorization', 'Bearer other')],
    ['basic auth', 'the user is ann', '/basic', header('authorization', 'Basic YW5uOnNlY3JldA==')],
    ['ext authz', 'the service allows the request', '/asked', alice],
    ['ext authz', /^answered 403: .*; the service rejects the request$/, '/asked'],
    ['remote rate limit', 'descriptors sent: user', '/limited', header('x-user', 'ann')],
    ['remote rate limit', 'no descriptor has all its values: the service is not called', '/limited'],
    ['local rate limit', /^answered 429: .*; limits\[0\] is exhausted$/, '/bucket?second'],
    ['retry', 'up to 2 more tries', '/retried'],
    ['direct response', 'answered 201; conditional[0]: request.headers["x-team"] == "core"', '/chosen', header('x-team', 'core')],
    ['direct response', 'answered 202; conditional[1]: for all others', '/chosen'],
    ['timeout', 'request timeout: 20000 ms', '/chosen'],
    ['buffer', 'the body is larger than 10 bytes', '/held', json({ a: 'larger' })],
    ['buffer', 'no request body', '/held'],
    ['delay', 'delay: 1 ms', '/late'],
    ['host rewrite', 'the host is set to that of the backend', '/named'],
    ['ext proc', 'the processor allows the request', '/processed'],
    ['transformation', 'applied', '/changed'],
    ['request header modifier', 'applied', '/named'],
    ['response header modifier', 'applied', '/named'],
    ['url rewrite', 'applied', '/model/v1/chat/completions', json(CHAT)],
    ['request redirect', 'answered 302', '/moved'],
    ['remote rate limit', 'the service cannot be called, and failureMode is FailOpen', '/unlimited'],
    ['remote rate limit', /^answered 500: .*ECONNREFUSED/, '/uncounted'],
    ['ext authz', 'the service cannot be called, and failureMode is FailOpen', '/unasked'],
    ['ext authz', /^answered 403: .*ECONNREFUSED/, '/unallowed'],
    ['ext proc', 'the processor failed; failureMode FailOpen allows the request', '/unprocessed'],
    ['ext proc', /^answered 500: .*ECONNREFUSED/, '/halted'],
    ['delay', 'the delay is not positive', '/prompt'],
    ['retry', 'the precondition is not true', '/once'],
    ['direct response', /^answered 500: /, '/mute'],
    ['buffer', /^answered 413/, '/tight', json({ a: 'larger' })],
    ['backend http', 'timeout of each try: 20000 ms', '/tried'],
    ['backend auth', /^adds the credential of .*model-key/, '/model/v1/chat/completions', json(CHAT)],
  ]

  it.each(table.map(([kind, said, path, question = {}]) => ({ kind, said, path, question })))(
    '$kind: $said',
    async ({ kind, said, path, question }) => {
      const events = await traceOf(path, question)
      const results = events.flatMap(({ message }) =>
        message.type === 'policy' && message.kind === kind ? [message.result as Record<string, string>] : [],
      )
      const texts = results.map(({ details, reason }) => details ?? reason)
      expect(texts).toContainEqual(typeof said === 'string' ? said : expect.stringMatching(said))
    },
  )

  /** Reported by a separate event, or only by a rejection. */
  const OTHERWISE: ReadonlySet<string> = new Set([
    'deny', // proxy/trace/trace.test.ts: answered 403, with the reason
    'authorization', // authorizationResult
    'requestMirror', // events with the scope `mirror`
  ])

  it('of every policy of a route are in the table', () => {
    const kinds = new Set(table.map(([kind]) => kind))
    const missing = POLICY_ORDER.filter((field) => !OTHERWISE.has(field) && !kinds.has(displayName(field, undefined)))
    expect(missing).toEqual([])
  })

  it('of a copy are separate events', async () => {
    const scopes = (await traceOf('/mirrored')).map(({ scope }) => scope?.[0])
    expect(scopes).toContain('mirror')
  })

  it('of a skipped copy report it', async () => {
    const events = await traceOf('/unmirrored')
    expect(events.filter(({ message }) => message.kind === 'mirror').map(({ message }) => message.details)).toEqual([
      'skipped: not in the percentage',
    ])
  })

  it('of missing keys name the key, and not the token', async () => {
    const events = await traceOf('/keyless', header('authorization', `Bearer ${token}`))
    const results = events.flatMap(({ message }) => (message.kind === 'jwt auth' ? [message.result] : []))
    expect(results).toEqual([expect.objectContaining({ details: expect.stringMatching(/^answered 401: .*key/) })])
    expect(JSON.stringify(events)).not.toContain(token)
  })

  it.each([
    ['/echo?way', 'HTTP/1.1, without TLS'],
    ['/secure?way', 'HTTP/1.1, with TLS'],
    ['/tunnelled', 'HTTP/1.1, without TLS, through a proxy'],
  ])('of the connection to the backend: %s', async (path, details) => {
    const starts = (await traceOf(path)).filter(({ message }) => message.type === 'backendCallStart')
    expect(starts.map(({ message }) => message.details)).toEqual([details])
  })

  it('of health name the evicted endpoint', async () => {
    const events = await traceOf('/evicted')
    const found = events.filter(({ message }) => message.type === 'policyEvent' && message.kind === 'health')
    expect(found.map(({ message }) => message.details)).toEqual([
      expect.stringMatching(/^127\.0\.0\.1:\d+ failed and is evicted$/),
    ])
  })

  it('of a token names its issuer, and not the token', async () => {
    const events = await traceOf('/jwt', header('authorization', `Bearer ${token}`))
    const text = JSON.stringify(events)
    expect(text).toContain('valid token from issuer https://idp.example.com')
    expect(text).not.toContain(token)
  })

  it('of retries contain the reason', async () => {
    const events = await traceOf('/retried?why')
    const found = events.filter(({ message }) => message.type === 'policyEvent' && message.kind === 'retry')
    expect(found.map(({ message }) => message.details)).toEqual(['try 1 failed with status 503: next try in 1 ms'])
  })
})
