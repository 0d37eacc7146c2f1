import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { ApiKeyAuthentication } from '#api/ir/types.gen.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { compileApiKeyAuthentication } from './api-key-authentication.ts'
import { evaluate, isTrue } from '../../cel/evaluate.ts'
import { authEnvironment, exchangeOf, expression, runRequest, textOf, type ExchangeParts } from '../exchange.testing.ts'

const SECRETS = { raw: 'key-raw', json: '{"key": "key-json", "metadata": {"team": "a", "limits": {"rpm": 5}}}' }
const keyHash = `sha256:${createHash('sha256').update('key-map').digest('hex')}`

function run(auth: Partial<ApiKeyAuthentication>, parts: ExchangeParts): Exchange {
  const exchange = exchangeOf(parts)
  const keys = [{ secret: 'raw' }, { secret: 'json' }, { secret: 'missing' }]
  const full: ApiKeyAuthentication = { mode: 'Strict', keys, hashes: [{ keyHash, metadata: { team: 'm' } }], ...auth }
  runRequest(compileApiKeyAuthentication(full, authEnvironment(SECRETS)), exchange)
  return exchange
}

type Mode = ApiKeyAuthentication['mode']
const bearer = (key: string): ExchangeParts => ({ headers: [['authorization', `Bearer ${key}`]] })
const answerOf = ({ response, reason }: Exchange) =>
  response === undefined ? undefined : [response.status, textOf(response.body), reason]
const MISSING = [401, 'api key authentication failure: no API Key found', 'APIKeyAuth']
const WRONG = [401, 'api key authentication failure: invalid credentials', 'APIKeyAuth']

describe('modes', () => {
  it.each<Mode>(['Strict', 'Optional', 'Permissive'])('%s: a known key passes and is removed', (mode) => {
    for (const key of ['key-raw', 'key-json', 'key-map']) {
      const exchange = run({ mode }, bearer(key))
      expect(answerOf(exchange)).toBeUndefined()
      expect(exchange.request.headers.has('authorization')).toBe(false)
      expect(evaluate(expression('string(apiKey.key)'), exchange)).toBe('<redacted>')
      expect(evaluate(expression('apiKey.key.unredacted()'), exchange)).toBe(key)
    }
  })

  it.each<[Mode, unknown, unknown]>([
    ['Strict', MISSING, WRONG],
    ['Optional', undefined, WRONG],
    ['Permissive', undefined, undefined],
  ])('%s: without a key, and with an unknown one', (mode, missing, wrong) => {
    expect(answerOf(run({ mode }, {}))).toEqual(missing)
    for (const key of ['key-ra', 'KEY-RAW', SECRETS.json, keyHash, 'missing', 'undefined']) {
      const exchange = run({ mode }, bearer(key))
      expect(answerOf(exchange)).toEqual(wrong)
      expect(exchange.attributes).toBeUndefined()
      expect(exchange.request.headers.has('authorization')).toBe(mode === 'Permissive')
      expect(exchange.response?.headers.has('www-authenticate') ?? false).toBe(false)
      expect(exchange.errorDetail ?? '').not.toContain(key)
    }
  })
})

it('metadata is available as fields of apiKey', () => {
  const exchange = run({}, bearer('key-json'))
  expect(isTrue(expression('apiKey.team == "a" && apiKey.limits.rpm == 5'), exchange)).toBe(true)
  expect(isTrue(expression('apiKey.team == "m"'), run({}, bearer('key-map')))).toBe(true)
  expect(isTrue(expression('has(apiKey.team)'), run({}, bearer('key-raw')))).toBe(false)
})

it('a key in the query is never logged', () => {
  const location = { queryParameter: { name: 'key' } }
  for (const [mode, key, query] of [
    ['Strict', 'key-raw', 'a=1'],
    ['Strict', 'wrong', 'a=1'],
    ['Permissive', 'wrong', 'key=wrong&a=1'],
  ] as const) {
    const { request } = run({ mode, location }, { query: `key=${key}&a=1` })
    expect([request.query, request.loggedQuery]).toEqual([query, 'a=1'])
  }
})

it('without known keys all requests are rejected', () => {
  for (const auth of [
    { keys: [], hashes: [] },
    { keys: [{ secret: 'missing' }], hashes: [{ keyHash: 'x' }] },
  ]) {
    for (const key of ['key-raw', 'undefined', '']) expect(answerOf(run(auth, bearer(key)))?.[0]).toBe(401)
  }
})
