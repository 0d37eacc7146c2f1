import { beforeAll, describe, expect, it } from 'vitest'
import type { JwtAuthentication } from '#api/ir/types.gen.ts'
import { testIssuer, type TestIssuer } from '../../auth/jwt.testing.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { evaluate, isTrue } from '../../cel/evaluate.ts'
import { authEnvironment, exchangeOf, expression, fieldsOf, textOf, type ExchangeParts } from '../exchange.testing.ts'
import { compileJwtAuthentication } from './jwt-authentication.ts'

let issuer: TestIssuer
let good: string
let bad: string

beforeAll(async () => {
  issuer = await testIssuer('https://issuer.example')
  good = await issuer.token({ sub: 'me', level: 2 })
  bad = await issuer.token({ iss: 'https://other.example' })
})

type Mode = JwtAuthentication['mode']
const MODES: readonly Mode[] = ['Strict', 'Optional', 'Permissive']

async function run(auth: Partial<JwtAuthentication>, parts: ExchangeParts): Promise<Exchange> {
  const exchange = exchangeOf(parts)
  const policy = compileJwtAuthentication({ mode: 'Strict', providers: [issuer], ...auth }, authEnvironment())
  const verdict = await policy.request?.(exchange)
  expect(verdict).toBe(exchange.response)
  return exchange
}

const bearer = (token: string): ExchangeParts => ({ headers: [['authorization', `Bearer ${token}`]] })
const outcome = ({ response, reason, attributes, request }: Exchange) => ({
  answer: response === undefined ? undefined : [response.status, textOf(response.body), reason],
  hasClaims: attributes?.['jwt'] !== undefined,
  hasCredential: request.headers.has('authorization'),
})
const refused = (why: string) => [401, `authentication failure: ${why}`, 'JwtAuth']

describe('modes', () => {
  it.each(MODES)('%s: a valid token passes, is removed, and its claims are known', async (mode) => {
    const exchange = await run({ mode }, bearer(good))
    expect(outcome(exchange)).toEqual({ answer: undefined, hasClaims: true, hasCredential: false })
    expect(isTrue(expression('jwt.sub == "me" && jwt.level == 2'), exchange)).toBe(true)
    expect(evaluate(expression('string(jwt.rawToken)'), exchange)).toBe('<redacted>')
    expect(evaluate(expression('jwt.rawToken.unredacted()'), exchange)).toBe(good)
  })

  it.each<[Mode, readonly unknown[] | undefined]>([
    ['Strict', refused('no token found')],
    ['Optional', undefined],
    ['Permissive', undefined],
  ])('%s without a token', async (mode, answer) => {
    for (const parts of [{}, { headers: [['authorization', 'Basic eDp5']] } satisfies ExchangeParts]) {
      const exchange = await run({ mode }, parts)
      expect(outcome(exchange)).toMatchObject({ answer, hasClaims: false, hasCredential: 'headers' in parts })
    }
  })

  it.each<[Mode, readonly unknown[] | undefined]>([
    ['Strict', refused('issuer not accepted')],
    ['Optional', refused('issuer not accepted')],
    ['Permissive', undefined],
  ])('%s with an invalid token', async (mode, answer) => {
    const exchange = await run({ mode }, bearer(bad))
    expect(outcome(exchange)).toMatchObject({ answer, hasClaims: false })
    if (mode === 'Permissive') expect(fieldsOf(exchange.request.headers)).toEqual([`authorization: Bearer ${bad}`])
    expect(exchange.response?.headers.has('www-authenticate') ?? false).toBe(false)
    expect(exchange.errorDetail ?? '').not.toContain(bad)
  })
})

it('returns no promise the second time', async () => {
  const policy = compileJwtAuthentication({ mode: 'Strict', providers: [issuer] }, authEnvironment())
  expect(policy.request?.(exchangeOf(bearer(good)))).toBeInstanceOf(Promise)
  await policy.request?.(exchangeOf(bearer(good)))
  const exchange = exchangeOf(bearer(good))
  expect(policy.request?.(exchange)).toBeUndefined()
  expect(outcome(exchange)).toEqual({ answer: undefined, hasClaims: true, hasCredential: false })
})

describe('locations', () => {
  it('a token in the query is never logged, whether it is valid or not', async () => {
    const location = { queryParameter: { name: 'access_token' } }
    for (const mode of MODES) {
      for (const token of [good, bad]) {
        const { request } = await run({ mode, location }, { query: `a=1&access_token=${token}` })
        expect(request.loggedQuery).toBe('a=1')
        expect(request.query).toBe(mode === 'Permissive' && token === bad ? `a=1&access_token=${bad}` : 'a=1')
      }
    }
  })

  it('a cookie, and an expression that keeps the value it reads', async () => {
    const cookie = await run({ location: { cookie: { name: 't' } } }, { headers: [['cookie', `a=1; t=${good}`]] })
    expect([cookie.response, fieldsOf(cookie.request.headers)]).toEqual([undefined, ['cookie: a=1']])
    const own = await run({ location: { expression: 'request.headers["x-token"]' } }, { headers: [['x-token', good]] })
    expect([own.response, fieldsOf(own.request.headers)]).toEqual([undefined, [`x-token: ${good}`]])
  })

  it('requires the body if its expression reads it', () => {
    const location = { expression: 'json(request.body).token' }
    const policy = compileJwtAuthentication({ mode: 'Strict', providers: [], location }, authEnvironment())
    expect(policy.readsRequestBody).toBe(true)
  })
})

it('without keys, Strict rejects everything and no mode accepts a token', async () => {
  for (const providers of [[], [{ issuer: issuer.issuer, unavailable: 'not fetched' }], [{ ...issuer, jwks: '{}' }]]) {
    expect(outcome(await run({ providers }, bearer(good))).answer).toEqual(refused('unknown key'))
    expect(outcome(await run({ providers }, {})).answer).toEqual(refused('no token found'))
    expect(outcome(await run({ providers, mode: 'Optional' }, bearer(good))).answer).toEqual(refused('unknown key'))
    expect(outcome(await run({ providers, mode: 'Permissive' }, bearer(good)))).toMatchObject({ hasClaims: false })
  }
})

it('gRPC clients get a status', async () => {
  const { response } = await run({}, { headers: [['content-type', 'application/grpc']] })
  expect([response?.status, response?.headers.get('grpc-status')]).toEqual([200, '16'])
})
