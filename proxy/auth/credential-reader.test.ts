import { describe, expect, it } from 'vitest'
import type { ExtractionLocation } from '#api/ir/types.gen.ts'
import { exchangeOf, expression, fieldsOf, type ExchangeParts } from '../policy/exchange.testing.ts'
import { compileCredentialReader, isProxyAuthorization } from './credential-reader.ts'

type Headers = [string, string][]

function readAndRemove(location: ExtractionLocation | undefined, parts: ExchangeParts) {
  const exchange = exchangeOf(parts)
  const reader = compileCredentialReader(location, 'Bearer ', expression)
  const value = reader.read(exchange)
  if (value !== undefined) reader.remove(exchange)
  const { request } = exchange
  return { value, headers: fieldsOf(request.headers), query: request.query, loggedQuery: request.loggedQuery }
}

describe('header', () => {
  it.each<[string, ExtractionLocation | undefined, Headers, string | undefined]>([
    ['the default', undefined, [['authorization', 'Bearer t']], 't'],
    ['the scheme in any case', undefined, [['authorization', 'bEARER t']], 't'],
    ['blanks after the scheme', undefined, [['authorization', 'Bearer   t']], 't'],
    ['another scheme', undefined, [['authorization', 'Basic t']], undefined],
    ['a scheme that only begins so', undefined, [['authorization', 'Bearert']], undefined],
    ['the scheme alone', undefined, [['authorization', 'Bearer']], undefined],
    ['nothing after the scheme', undefined, [['authorization', 'Bearer ']], undefined],
    ['no header', undefined, [], undefined],
    ['no prefix', { header: { name: 'X-Key' } }, [['x-key', 'k']], 'k'],
    ['an empty value', { header: { name: 'x-key' } }, [['x-key', '']], undefined],
    ['text beyond ASCII', { header: { name: 'x-key' } }, [['x-key', 'sch\u00c3\u00b6n']], 'schön'],
    [
      'the default when the policy names another',
      { header: { name: 'x-key' } },
      [['authorization', 'Bearer t']],
      undefined,
    ],
  ])('reads %s', (_, location, headers, value) => {
    expect(readAndRemove(location, { headers }).value).toBe(value)
  })

  it('reads the first of several fields and removes all', () => {
    const headers: Headers = [
      ['authorization', 'Bearer a'],
      ['accept', '*/*'],
      ['authorization', 'Bearer b'],
    ]
    expect(readAndRemove(undefined, { headers })).toMatchObject({ value: 'a', headers: ['accept: */*'] })
  })

  it('ignores later fields if the first one does not match', () => {
    const headers: Headers = [
      ['authorization', 'Basic a'],
      ['authorization', 'Bearer b'],
    ]
    expect(readAndRemove(undefined, { headers }).value).toBeUndefined()
  })

  it('reads the header for proxies', () => {
    expect(isProxyAuthorization({ header: { name: 'Proxy-Authorization', prefix: 'Basic ' } })).toBe(true)
    expect([isProxyAuthorization(undefined), isProxyAuthorization({ header: { name: 'authorization' } })]).toEqual([
      false,
      false,
    ])
  })
})

describe('query parameter', () => {
  it.each<[string, string | undefined, string]>([
    ['key=k', 'k', ''],
    ['a=1&key=k&b=2', 'k', 'a=1&b=2'],
    ['a=1&key=k&b=%2F&key=l', 'k', 'a=1&b=%2F'],
    ['%6Bey=k%2F+1', 'k/ 1', ''],
    ['key=%zz', '%zz', ''],
    ['key', undefined, 'key'],
    ['key=', undefined, 'key='],
    ['keys=k', undefined, 'keys=k'],
    ['KEY=k', undefined, 'KEY=k'],
    ['a=b=key=k', undefined, 'a=b=key=k'],
    ['', undefined, ''],
    ['&&key=k=l&', 'k=l', '&&'],
  ])('%s', (query, value, left) => {
    const found = readAndRemove({ queryParameter: { name: 'key' } }, { query })
    expect(found).toMatchObject({ value, query: left })
    expect(found.loggedQuery).toBe(value === undefined ? undefined : left)
  })
})

describe('cookie', () => {
  it.each<[Headers, string | undefined, string[]]>([
    [[['cookie', 'key=k']], 'k', []],
    [[['cookie', 'a=1; key=k;b=2']], 'k', ['cookie: a=1; b=2']],
    [
      [
        ['cookie', 'a=1'],
        ['cookie', 'key=k; key=l'],
      ],
      'k',
      ['cookie: a=1'],
    ],
    [[['cookie', 'key="k"']], 'k', []],
    [[['cookie', 'key=a=b']], 'a=b', []],
    [[['cookie', 'akey=k; key']], undefined, ['cookie: akey=k; key']],
    [[['cookie', 'key=']], undefined, ['cookie: key=']],
    [[], undefined, []],
  ])('%j', (headers, value, left) => {
    expect(readAndRemove({ cookie: { name: 'key' } }, { headers })).toMatchObject({ value, headers: left })
  })
})

describe('expression', () => {
  it.each<[string, string | undefined]>([
    ['request.headers["x-token"].split(" ")[1]', 't'],
    ['request.headers["x-none"]', undefined],
    ['request.path == "/"', undefined],
    ['""', undefined],
    ['this is not CEL', undefined],
  ])('%s', (source, value) => {
    const headers: Headers = [['x-token', 'Token t']]
    expect(readAndRemove({ expression: source }, { headers })).toMatchObject({ value, headers: ['x-token: Token t'] })
  })

  it('reports whether it reads the body', () => {
    const readsBody = (source: string) =>
      compileCredentialReader({ expression: source }, '', expression).readsRequestBody
    expect([readsBody('string(request.body)'), readsBody('request.path')]).toEqual([true, false])
  })
})
