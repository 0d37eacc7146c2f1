import { describe, expect, it } from 'vitest'
import type { BasicAuthentication } from '#api/ir/types.gen.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { compileBasicAuthentication } from './basic-authentication.ts'
import { evaluate } from '../../cel/evaluate.ts'
import { authEnvironment, exchangeOf, expression, fieldsOf, textOf, type ExchangeParts } from '../exchange.testing.ts'

const USERS = [
  'alice:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=',
  'bob:$2y$04$abcdefghijklmnopqrstuughE8Ev8uGFaUgY2cNEySvxngrb/Jzdm',
].join('\n')

async function run(auth: Partial<BasicAuthentication>, parts: ExchangeParts, users = USERS): Promise<Exchange> {
  const exchange = exchangeOf(parts)
  const environment = authEnvironment({ users })
  const policy = compileBasicAuthentication(
    { mode: 'Strict', realm: 'Staff', users: { secret: 'users' }, ...auth },
    environment,
  )
  const verdict = await policy.request?.(exchange)
  expect(verdict).toBe(exchange.response)
  return exchange
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const basic = (text: string): ExchangeParts => ({ headers: [['authorization', `Basic ${base64(text)}`]] })
const answerOf = ({ response, reason }: Exchange) =>
  response === undefined ? undefined : [response.status, textOf(response.body), reason, ...fieldsOf(response.headers)]
const refused = (why: string) => [
  401,
  `basic authentication failure: ${why}`,
  'BasicAuth',
  'content-type: text/plain',
  'www-authenticate: Basic realm="Staff"',
]

describe('modes', () => {
  it.each(['Strict', 'Optional'] as const)('%s: right credentials pass and are removed', async (mode) => {
    for (const name of ['alice', 'bob']) {
      const exchange = await run({ mode }, basic(`${name}:password`))
      expect(answerOf(exchange)).toBeUndefined()
      expect(exchange.request.headers.has('authorization')).toBe(false)
      expect(evaluate(expression('basicAuth.username'), exchange)).toBe(name)
    }
  })

  it('Strict requires credentials, Optional does not', async () => {
    for (const parts of [{}, { headers: [['authorization', 'Bearer x']] } satisfies ExchangeParts]) {
      expect(answerOf(await run({}, parts))).toEqual(refused('no credentials found'))
      const exchange = await run({ mode: 'Optional' }, parts)
      expect([answerOf(exchange), exchange.attributes]).toEqual([undefined, undefined])
    }
  })

  it.each(['Strict', 'Optional'] as const)('%s: wrong credentials are refused', async (mode) => {
    const wrong = [
      'alice:Password',
      'bob:wrong',
      'mallory:password',
      'alice:',
      ':password',
      'alice',
      'alice:password\n',
    ]
    for (const parts of [...wrong.map(basic), { headers: [['authorization', 'Basic %%%']] } satisfies ExchangeParts]) {
      const exchange = await run({ mode }, parts)
      expect(answerOf(exchange)).toEqual(refused('invalid credentials'))
      expect(exchange.attributes).toBeUndefined()
      expect(exchange.errorDetail).not.toMatch(/alice|password/i)
    }
  })
})

describe('locations', () => {
  it('of a proxy return 407', async () => {
    const location = { header: { name: 'Proxy-Authorization', prefix: 'Basic ' } }
    expect(answerOf(await run({ location }, {}))).toEqual([
      407,
      'basic authentication failure: no credentials found',
      'BasicAuth',
      'content-type: text/plain',
      'proxy-authenticate: Basic realm="Staff"',
    ])
    const headers: [string, string][] = [['proxy-authorization', `Basic ${base64('alice:password')}`]]
    const exchange = await run({ location }, { headers })
    expect([answerOf(exchange), fieldsOf(exchange.request.headers)]).toEqual([undefined, []])
  })

  it('in the query are never logged', async () => {
    const location = { queryParameter: { name: 'auth' } }
    for (const text of ['alice:password', 'alice:wrong', 'none']) {
      const { request } = await run({ location }, { query: `auth=${encodeURIComponent(base64(text))}&a=1` })
      expect([request.query, request.loggedQuery]).toEqual(['a=1', 'a=1'])
    }
  })
})

describe('the challenge', () => {
  it.each([
    ['say "hi" \\', String.raw`Basic realm="say \"hi\" \\"`],
    ['line\r\nx: 1', 'Basic realm="Restricted"'],
    ['Größe', 'Basic realm="Größe"'],
    ['\u010a', 'Basic realm="\u00c4\u008a"'],
  ])('quotes realm %j', async (realm, challenge) => {
    const { response } = await run({ realm }, {})
    expect(response?.headers.get('www-authenticate')).toBe(challenge)
  })

  it('is not sent to gRPC clients', async () => {
    const { response } = await run({}, { headers: [['content-type', 'application/grpc']] })
    expect([response?.status, response?.headers.get('grpc-status')]).toEqual([200, '16'])
    expect(response?.headers.has('www-authenticate')).toBe(false)
  })
})

it('without users all credentials are rejected', async () => {
  const none: [Partial<BasicAuthentication>, string][] = [
    [{ users: { secret: 'missing' } }, USERS],
    [{}, ''],
    [{}, 'alice:password'],
  ]
  for (const [auth, users] of none) {
    for (const text of ['alice:password', 'alice:', 'x:']) {
      expect(answerOf(await run(auth, basic(text), users))).toEqual(refused('invalid credentials'))
    }
    expect(answerOf(await run(auth, {}, users))).toEqual(refused('no credentials found'))
  }
})
