// The policy with a real rate limit service on loopback: its calls, its decisions, and later charges.
import { create, type MessageInitShape } from '@bufbuild/protobuf'
import { afterEach, describe, expect, it } from 'vitest'
import { SecretString } from '#api/cel/values/secret-string.ts'
import type { RateLimitDescriptor, RateLimitGlobal, RateLimitGlobalOrConditional } from '#api/ir/types.gen.ts'
import {
  RateLimitResponse_Code,
  RateLimitResponseSchema,
  RateLimitService,
  type RateLimitRequest,
} from '../../envoy/gen/envoy/service/ratelimit/v3/rls.gen.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import type { LlmFacts } from '../../exchange/facts.ts'
import { type LimitCall, limitCalls } from '../../exchange/limit-calls.ts'
import { emptyFacts } from '../../llm/usage.ts'
import { grpcServer, unaryMethod, until } from '../../grpc/server.testing.ts'
import type { HttpResponse } from '../../message/message.ts'
import { exchangeOf, expression, fieldsOf, queuedOf, textOf, type ExchangeParts } from '../exchange.testing.ts'
import type { CompiledPolicy } from '../../chain/filter.ts'
import { compileRateLimitGlobal } from './rate-limit-global.ts'
import { testService, type TestService } from '../external/service.testing.ts'

const open: (() => unknown)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

type Answer = MessageInitShape<typeof RateLimitResponseSchema>

const OK: Answer = { overallCode: 1 }
const OVER: Answer = { overallCode: 2 }
const INVALID: Answer = { overallCode: 0 }

interface Limiter {
  readonly service: TestService
  readonly asked: RateLimitRequest[]
  /** Of the calls from now on. */
  answer: Answer
}

async function limiter(answer: Answer | undefined = OK): Promise<Limiter> {
  const asked: RateLimitRequest[] = []
  const server = await grpcServer([
    unaryMethod(RateLimitService.method.shouldRateLimit, (call, reply) => {
      asked.push(call.request)
      reply(null, create(RateLimitResponseSchema, started.answer))
    }),
  ])
  const service = testService(server.port)
  open.push(
    () => server.kill(),
    () => service.close(),
  )
  const started: Limiter = { service, asked, answer }
  return started
}

const requests = (...entries: [string, string][]): RateLimitDescriptor => ({
  unit: 'Requests',
  entries: entries.map(([name, source]) => ({ name, expression: source })),
})
const tokens = (more: Partial<RateLimitDescriptor> = {}): RateLimitDescriptor => ({
  unit: 'Tokens',
  entries: [{ name: 'user', expression: 'request.headers["x-user"]' }],
  ...more,
})

const policyOf = (descriptors: RateLimitDescriptor[], more: Partial<RateLimitGlobal> = {}): RateLimitGlobal => ({
  service: { backend: 'ns/rls' },
  failureMode: 'FailClosed',
  domain: 'shop',
  descriptors,
  ...more,
})

function compile(payload: RateLimitGlobalOrConditional, service: TestService | undefined): CompiledPolicy {
  return compileRateLimitGlobal(payload, { expression, policyKey: 'test', service: () => service?.caller })
}

async function run(policy: CompiledPolicy, exchange: Exchange): Promise<HttpResponse | undefined> {
  const verdict = await policy.request?.(exchange)
  if (verdict !== undefined) exchange.response = verdict
  return verdict
}

/** Descriptors of a call in short: `key=value,key=value +hits`. */
function shortly(request: RateLimitRequest | undefined): string[] {
  return (request?.descriptors ?? []).map(({ entries, hitsAddend, limit }) => {
    const text = entries.map(({ key, value }) => `${key}=${value}`).join(',')
    const hits = hitsAddend === undefined ? '' : ` +${hitsAddend}`
    return text + hits + (limit === undefined ? '' : ` <=${limit.requestsPerUnit}/${limit.unit}`)
  })
}

const facts = (totalTokens: number | undefined, more: Partial<LlmFacts> = {}): LlmFacts => ({
  ...emptyFacts('openai'),
  requestModel: 'm',
  responseModel: 'm-1',
  inputTokens: 10,
  outputTokens: 5,
  totalTokens,
  ...more,
})

describe('the call', () => {
  it('has domain and descriptors; one with an entry that fails or has no text is dropped', async () => {
    const { service, asked } = await limiter()
    const descriptors = [
      requests(['path', 'request.path'], ['const', '"x"']),
      requests(['number', '7'], ['flag', 'true']),
      requests(['path', 'request.path'], ['missing', 'request.headers["none"]']),
      requests(['list', '[1]']),
    ]
    expect(await run(compile(policyOf(descriptors), service), exchangeOf({ path: '/a' }))).toBeUndefined()
    expect(asked[0]).toMatchObject({ domain: 'shop', hitsAddend: 0 })
    expect(shortly(asked[0])).toEqual(['path=/a,const=x', 'number=7,flag=true'])
  })

  it('is not made if no descriptor is left', async () => {
    const { service, asked } = await limiter(OVER)
    const policy = compile(policyOf([requests(['a', 'request.headers["none"]'])]), service)
    expect(await run(policy, exchangeOf())).toBeUndefined()
    expect(asked).toEqual([])
  })

  it.each([
    ['3', ' +3'],
    ['0', ' +0'],
    ['-4', ''],
    ['-0.5', ''],
    ['-1e300', ''],
    ['2.9', ' +2'],
    ['5u', ' +5'],
    ['99999999999', ' +4294967295'],
    ['"text"', ''],
    ['request.headers["none"]', ''],
  ])('has cost %s as%s', async (cost, expected) => {
    const { service, asked } = await limiter()
    await run(compile(policyOf([{ ...requests(['a', '"b"']), cost }]), service), exchangeOf())
    expect(shortly(asked[0])).toEqual([`a=b${expected}`])
  })

  it('has the limit of the policy', async () => {
    const { service, asked } = await limiter()
    const descriptor = { ...requests(['a', '"b"']), limitOverride: { requestsPerUnit: 9, unit: 'Hour' as const } }
    await run(compile(policyOf([descriptor]), service), exchangeOf())
    expect(shortly(asked[0])).toEqual(['a=b <=9/3'])
  })
})

describe('the response', () => {
  const policy = policyOf([requests(['a', '"b"'])])
  const header = (key: string, value: string) => ({ key, value })

  it('OK adds headers to the request and to the response', async () => {
    const { service } = await limiter({
      ...OK,
      requestHeadersToAdd: [header('X-Tier', 'gold'), header('content-length', '1'), header('x-bad', 'a\nb')],
      responseHeadersToAdd: [header('x-left', '3')],
    })
    const exchange = exchangeOf({ headers: [['x-tier', 'forged']] })
    expect(await run(compile(policy, service), exchange)).toBeUndefined()
    expect(fieldsOf(exchange.request.headers)).toEqual(['x-tier: gold'])
    expect(queuedOf(exchange)).toEqual(['x-left: 3'])
  })

  it('OVER_LIMIT is 429 with the body of the service', async () => {
    const { service } = await limiter({
      ...OVER,
      rawBody: Buffer.from('slow down'),
      responseHeadersToAdd: [header('retry-after', '5')],
      requestHeadersToAdd: [header('x-tier', 'gold')],
    })
    const exchange = exchangeOf()
    const response = await run(compile(policy, service), exchange)
    expect(response?.status).toBe(429)
    expect(textOf(response?.body)).toBe('slow down')
    expect(queuedOf(exchange)).toEqual(['retry-after: 5'])
    expect(exchange.reason).toBe('RateLimit')
    expect(fieldsOf(exchange.request.headers)).toEqual([])
  })

  it('OVER_LIMIT without a body has a default message, also for gRPC clients', async () => {
    const { service } = await limiter(OVER)
    expect(await run(compile(policy, service), exchangeOf())).toMatchObject({
      status: 429,
      body: 'rate limit exceeded',
    })
    const grpc = await run(compile(policy, service), exchangeOf({ headers: [['content-type', 'application/grpc']] }))
    expect(grpc?.headers.get('grpc-status')).toBe('14')
  })

  const status = (limitRemaining: number, requestsPerUnit: number, seconds: bigint) => ({
    currentLimit: { requestsPerUnit },
    limitRemaining,
    durationUntilReset: { seconds, nanos: 1 },
  })

  const over = (seconds: bigint) => ({ ...status(0, 9, seconds), code: RateLimitResponse_Code.OVER_LIMIT })

  it.each([
    ['fewest of the service', [status(5, 10, 3n), status(2, 20, 4n), {}], undefined, ['20', '2', '5']],
    ['local limit', [status(5, 10, 3n)], { limit: 7, remaining: 1, resetSeconds: 9 }, ['7', '1', '9']],
    ['service', [status(0, 10, 0n)], { limit: 7, remaining: 1, resetSeconds: 9 }, ['10', '0', '1']],
    ['no policy', [{}], undefined, [undefined, undefined, undefined]],
  ])('x-ratelimit is that of the %s', async (_, statuses, local, expected) => {
    const { service } = await limiter({ ...OK, statuses })
    const exchange = exchangeOf()
    exchange.rateLimit = local
    const compiled = compile(policy, service)
    await run(compiled, exchange)
    exchange.response = exchange.fail('internal')
    await compiled.response?.(exchange)
    const { headers } = exchange.response
    expect(['limit', 'remaining', 'reset'].map((name) => headers.get(`x-ratelimit-${name}`))).toEqual(expected)
  })

  it.each([
    ['the longest of the exceeded limits', [over(3n), over(7n), status(5, 10, 90n)], [], '8'],
    ['that of the service', [over(3n)], [header('Retry-After', '99')], undefined],
    ['none without a time', [{ ...over(3n), durationUntilReset: undefined }], [], undefined],
  ])('OVER_LIMIT has the retry-after: %s', async (_, statuses, responseHeadersToAdd, expected) => {
    const { service } = await limiter({ ...OVER, statuses, responseHeadersToAdd })
    const exchange = exchangeOf()
    const response = await run(compile(policy, service), exchange)
    expect(response?.headers.get('retry-after')).toBe(expected)
    expect(queuedOf(exchange)).toEqual(responseHeadersToAdd.map(({ value }) => `retry-after: ${value}`))
  })

  it.each([
    ['FailClosed', 500, 'rate limit failed'],
    ['FailOpen', undefined, undefined],
  ] as const)('with an invalid decision ends with %s in %s', async (failureMode, expected, body) => {
    const { service } = await limiter({ overallCode: 0 })
    for (const each of [service, undefined, testService(1)]) {
      const exchange = exchangeOf()
      const response = await run(compile({ ...policy, failureMode }, each), exchange)
      expect(response?.status).toBe(expected)
      expect(response?.body).toBe(body)
      expect(exchange.errorDetail).toBeDefined()
    }
  })
})

describe('what figures about limits get', () => {
  const callsOf = (exchange: Exchange): LimitCall[] => [...(limitCalls(exchange)?.values() ?? [])]
  const status = (remaining: number, unit: 0 | 4 = 4) => ({
    currentLimit: { requestsPerUnit: 10, unit },
    limitRemaining: remaining,
    durationUntilReset: { seconds: 9n, nanos: 0 },
  })
  const state = { capacity: 10, unit: 4, resetSeconds: 9 }

  it('is the decision, with what the service reports about values that the gateway has verified', async () => {
    const { service } = await limiter({ ...OK, statuses: [status(5), status(6), status(7), {}] })
    const descriptors = [
      requests(['missing', 'request.headers["none"]']),
      requests(['key', 'apiKey.name'], ['all', '"x"']),
      requests(['user', 'request.headers["x-user"]']),
      requests(['sub', 'default(jwt.sub, "none")']),
      requests(['user', 'basicAuth.username']),
    ]
    const exchange = exchangeOf({ headers: [['x-user', 'secret']] })
    exchange.attributes = { apiKey: { name: 'ann' }, basicAuth: { username: 'eve' } }
    await run(compile(policyOf(descriptors), service), exchange)
    const states = [
      { ...state, descriptor: 1, entries: 'key=ann, all=x', remaining: 5 },
      { ...state, descriptor: 3, entries: 'sub=none', remaining: 7 },
    ]
    expect(callsOf(exchange)).toEqual([{ result: 'allowed', states }])
  })

  it.each(['apiKey.key', 'apiKey.key.unredacted()', 'jwt.rawToken.unredacted()', 'source.address', 'variables().a'])(
    'has no value of %s',
    async (source) => {
      const { service, asked } = await limiter({ ...OK, statuses: [status(5)] })
      const exchange = exchangeOf()
      exchange.attributes = { apiKey: { key: new SecretString('k') }, jwt: { rawToken: new SecretString('t') } }
      await run(compile(policyOf([requests(['a', `default(${source}, "b")`])]), service), exchange)
      expect(asked).toHaveLength(1)
      expect(callsOf(exchange).flatMap(({ states }) => states)).toEqual([])
    },
  )

  it('is a rejection with its state', async () => {
    const { service } = await limiter({ ...OVER, statuses: [status(0)] })
    const exchange = exchangeOf()
    await run(compile(policyOf([requests(['a', '"b"'])]), service), exchange)
    expect(callsOf(exchange)).toEqual([
      { result: 'rejected', states: [{ ...state, descriptor: 0, entries: 'a=b', remaining: 0 }] },
    ])
  })

  it.each(['FailClosed', 'FailOpen'] as const)('is a failure of the service, with %s', async (failureMode) => {
    const { service } = await limiter(INVALID)
    const exchange = exchangeOf()
    await run(compile(policyOf([requests(['a', '"b"'])], { failureMode }), service), exchange)
    expect(callsOf(exchange)).toEqual([{ result: 'failed', states: [] }])
  })

  it('is one decision for a request whose prompt is charged before the call', async () => {
    const over = await limiter()
    const exchange = exchangeOf({ headers: [['x-user', 'ann']] })
    await run(compile(policyOf([tokens()]), over.service), exchange)
    over.answer = OVER
    await exchange.tokenLimits?.[0]?.chargePrompt(exchange, 30)
    expect(callsOf(exchange).map(({ result }) => result)).toEqual(['rejected'])
  })

  it('is nothing if the service was not called', async () => {
    const { service } = await limiter()
    const exchange = exchangeOf()
    await run(compile(policyOf([requests(['a', 'request.headers["none"]'])]), service), exchange)
    expect(callsOf(exchange)).toEqual([])
  })
})

describe('tokens', () => {
  const user = (name: string): ExchangeParts => ({ headers: [['x-user', name]] })

  it('are charged after the response, with 0 before', async () => {
    const { service, asked } = await limiter()
    const policy = compile(policyOf([requests(['a', '"b"']), tokens()]), service)
    const exchange = exchangeOf(user('ann'))
    expect(await run(policy, exchange)).toBeUndefined()
    expect(shortly(asked[0])).toEqual(['a=b', 'user=ann +0'])
    // A policy of the backend has removed the value of the entry: the charge uses the same counter.
    exchange.request.headers.remove('x-user')
    exchange.llm = facts(42)
    policy.finished?.(exchange)
    await until(() => asked.length === 2, 'the charge')
    expect(shortly(asked[1])).toEqual(['user=ann +42'])
  })

  it.each([
    ['input and output when there is no total', undefined, facts(undefined), 'user=ann +15'],
    ['the cost of the policy', 'llm.outputTokens * 3', facts(42), 'user=ann +15'],
  ])('count %s', async (_, cost, llm, expected) => {
    const { service, asked } = await limiter()
    const policy = compile(policyOf([tokens(cost === undefined ? {} : { cost })]), service)
    const exchange = exchangeOf(user('ann'))
    await run(policy, exchange)
    exchange.llm = llm
    policy.finished?.(exchange)
    await until(() => asked.length === 2, 'the charge')
    expect(shortly(asked[1])).toEqual([expected])
  })

  it('may be counted by values of the response', async () => {
    const { service, asked } = await limiter()
    const descriptor = tokens({ entries: [{ name: 'model', expression: 'llm.responseModel' }] })
    const policy = compile(policyOf([descriptor]), service)
    const exchange = exchangeOf()
    await run(policy, exchange)
    expect(asked).toEqual([])
    exchange.llm = facts(7)
    policy.finished?.(exchange)
    await until(() => asked.length === 1, 'the charge')
    expect(shortly(asked[0])).toEqual(['model=m-1 +7'])
  })

  it('are not charged without LLM facts, for zero tokens, or for rejected requests', async () => {
    const { service, asked } = await limiter()
    const policy = compile(policyOf([tokens()]), service)
    const plain = exchangeOf(user('plain'))
    await run(policy, plain)
    policy.finished?.(plain)
    const none = exchangeOf(user('none'))
    await run(policy, none)
    none.llm = facts(0)
    policy.finished?.(none)
    const over = await limiter(OVER)
    const strict = compile(policyOf([tokens()]), over.service)
    const refused = exchangeOf(user('refused'))
    expect((await run(strict, refused))?.status).toBe(429)
    refused.llm = facts(9)
    strict.finished?.(refused)
    const last = exchangeOf(user('last'))
    await run(policy, last)
    last.llm = facts(1)
    policy.finished?.(last)
    await until(() => asked.length === 4, 'the only charge')
    expect(asked.flatMap(shortly)).toEqual(['user=plain +0', 'user=none +0', 'user=last +0', 'user=last +1'])
    expect(over.asked).toHaveLength(1)
  })

  it('of a prompt are charged before the call, and the rest of the usage after it', async () => {
    const { service, asked } = await limiter()
    const policy = compile(policyOf([requests(['a', '"b"']), tokens(), tokens({ cost: 'llm.outputTokens' })]), service)
    const exchange = exchangeOf(user('ann'))
    await run(policy, exchange)
    exchange.llm = facts(42)
    expect(await exchange.tokenLimits?.[0]?.chargePrompt(exchange, 30)).toBeUndefined()
    expect(shortly(asked[1])).toEqual(['user=ann +30'])
    policy.finished?.(exchange)
    await until(() => asked.length === 3, 'the charge')
    expect(shortly(asked[2])).toEqual(['user=ann +12', 'user=ann +5'])
  })

  it('of a prompt are not charged again if the usage is lower', async () => {
    const { service, asked } = await limiter()
    const policy = compile(policyOf([tokens()]), service)
    const [lower, next] = [exchangeOf(user('lower')), exchangeOf(user('next'))]
    for (const [exchange, total] of [
      [lower, 20],
      [next, 31],
    ] as const) {
      await run(policy, exchange)
      exchange.llm = facts(total)
      await exchange.tokenLimits?.[0]?.chargePrompt(exchange, 30)
      policy.finished?.(exchange)
    }
    await until(() => asked.length === 5, 'the charge')
    expect(asked.flatMap(shortly)).toEqual(expect.arrayContaining(['user=lower +30', 'user=next +30', 'user=next +1']))
  })

  it('of a prompt above the limit reject the request, which is not charged', async () => {
    const over = await limiter()
    const policy = compile(policyOf([tokens()]), over.service)
    const exchange = exchangeOf(user('ann'))
    await run(policy, exchange)
    over.answer = OVER
    expect((await exchange.tokenLimits?.[0]?.chargePrompt(exchange, 30))?.status).toBe(429)
    exchange.llm = facts(42)
    policy.finished?.(exchange)
    expect(over.asked.flatMap(shortly)).toEqual(['user=ann +0', 'user=ann +30'])
  })

  it('of a prompt that the service does not decide on reject the request with FailClosed', async () => {
    const broken = await limiter()
    const exchange = exchangeOf(user('ann'))
    await run(compile(policyOf([tokens()]), broken.service), exchange)
    broken.answer = INVALID
    expect((await exchange.tokenLimits?.[0]?.chargePrompt(exchange, 30))?.status).toBe(500)
  })

  it('of a prompt that the service does not decide on are charged after the call with FailOpen', async () => {
    const broken = await limiter()
    const policy = compile(policyOf([tokens()], { failureMode: 'FailOpen' }), broken.service)
    const exchange = exchangeOf(user('ann'))
    await run(policy, exchange)
    broken.answer = INVALID
    expect(await exchange.tokenLimits?.[0]?.chargePrompt(exchange, 30)).toBeUndefined()
    exchange.llm = facts(42)
    policy.finished?.(exchange)
    await until(() => broken.asked.length === 3, 'the charge')
    expect(shortly(broken.asked[2])).toEqual(['user=ann +42'])
  })

  it('of a conditional policy are charged to the selected entry', async () => {
    const { service, asked } = await limiter()
    const entry = (name: string) => policyOf([tokens({ entries: [{ name, expression: '"x"' }] })])
    const conditional = [{ condition: 'request.path == "/a"', policy: entry('a') }, { policy: entry('b') }]
    const policy = compile({ conditional }, service)
    const exchange = exchangeOf({ path: '/b' })
    await run(policy, exchange)
    exchange.request.path = '/a'
    exchange.llm = facts(3)
    policy.finished?.(exchange)
    await until(() => asked.length === 2, 'the charge')
    expect(asked.flatMap(shortly)).toEqual(['b=x +0', 'b=x +3'])
  })
})
