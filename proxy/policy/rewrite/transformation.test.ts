import { describe, expect, it } from 'vitest'
import type { Transform } from '#api/ir/types.gen.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import {
  environmentOf,
  exchangeOf,
  fieldsOf,
  runRequest,
  runResponse,
  textOf,
  upstreamResponse,
} from '../exchange.testing.ts'
import { compileTransformation } from './transformation.ts'
import type { Cancellable } from '../../message/body.ts'

function onRequest(request: Transform, exchange: Exchange): Exchange {
  expect(runRequest(compileTransformation({ request }, environmentOf()), exchange)).toBeUndefined()
  return exchange
}

function onResponse(response: Transform, exchange: Exchange): Exchange {
  runResponse(compileTransformation({ response }, environmentOf()), exchange)
  return exchange
}

const named = (name: string, expression: string) => ({ name, expression })

describe('request', () => {
  it('runs metadata, add, set, remove, body in this order', () => {
    const exchange = onRequest(
      {
        metadata: [named('who', '"me"')],
        add: [named('X-A', 'metadata.who'), named('x-b', '"added"'), named('x-c', '"added"')],
        set: [named('x-b', '"set"')],
        remove: ['X-C', 'x-old'],
        body: 'request.headers["x-b"] + metadata.who',
      },
      exchangeOf({ headers: [['x-a', 'first'], ['x-old', '1'], ['content-length', '3']], body: 'abc' }), // prettier-ignore
    )
    expect(fieldsOf(exchange.request.headers)).toEqual(['x-a: first', 'x-a: me', 'x-b: set'])
    expect(textOf(exchange.request.body)).toBe('setme')
  })

  it.each([
    ['"text"', 'text'],
    ['12', '12'],
    ['12u', '12'],
    ['1.5', '1.5'],
    ['true', 'true'],
    ['b"bytes"', 'bytes'],
    ['request.pathAndQuery', '/p?q=1'],
    ['duration("1500ms")', '1.5s'],
    ['"Grüße"', Buffer.from('Grüße', 'utf8').toString('latin1')],
    // Cut to one byte, U+010A would be a line feed.
    ['"\\u010a"', Buffer.from('\u010a', 'utf8').toString('latin1')],
    ['null', undefined],
    ['[1]', undefined],
    ['{"a": 1}', undefined],
    ['request.headers["absent"]', undefined],
    ['does not compile', undefined],
    ['"a\\r\\nx-evil: 1"', undefined],
    ['"a\\u0000"', undefined],
  ])('a header of %s is %s', (source, value) => {
    const set = onRequest(
      { set: [named('x', source)] },
      exchangeOf({ path: '/p', query: 'q=1', headers: [['x', 'old']] }),
    )
    expect(set.request.headers.getAll('x')).toEqual(value === undefined ? [] : [value])
    const add = onRequest(
      { add: [named('x', source)] },
      exchangeOf({ path: '/p', query: 'q=1', headers: [['x', 'old']] }),
    )
    expect(add.request.headers.getAll('x')).toEqual(value === undefined ? [] : ['old', value])
  })

  it('changes the request line by pseudo-headers, and keeps it if that fails', () => {
    const good = onRequest(
      {
        set: [
          named(':method', '"PATCH"'),
          named(':path', '"/new?x=1"'),
          named(':scheme', '"https"'),
          named(':authority', '"Other.example:81"'),
        ],
      },
      exchangeOf({ path: '/old', query: 'q=1' }),
    ).request
    expect([good.method, good.path, good.query, good.scheme, good.host]).toEqual([
      'PATCH', '/new', 'x=1', 'https', 'other.example:81',
    ]) // prettier-ignore
    const bad = onRequest(
      {
        set: [
          named(':method', '"BAD METHOD"'),
          named(':path', '"no slash"'),
          named(':scheme', '"ftp"'),
          named(':authority', '"a b"'),
          named(':status', '"200"'),
        ],
      },
      exchangeOf({ path: '/old', query: 'q=1' }),
    ).request
    expect([bad.method, bad.path, bad.query, bad.scheme, bad.host]).toEqual([
      'GET',
      '/old',
      'q=1',
      'http',
      'example.com',
    ])
    expect(fieldsOf(bad.headers)).toEqual([])
  })

  it('keeps the query if only the path is set, and uses host as the authority', () => {
    const { request } = onRequest(
      { set: [named(':path', '"/p2"'), named('Host', '"h2"')] },
      exchangeOf({ path: '/p', query: 'q=1' }),
    )
    expect([request.path, request.query, request.host, request.headers.has('host')]).toEqual([
      '/p2',
      'q=1',
      'h2',
      false,
    ])
  })

  it('replaces all fields but framing and host, before the others', () => {
    const { request } = onRequest(
      {
        metadata: [named('who', '"me"')],
        replace:
          '{"X-A": metadata.who, "x-b": ["1", 2, null], "x c": "bad name", ":path": "/evil", "host": "evil", "content-length": "9"}',
        add: [named('x-a', '"added"')],
        remove: ['x-b'],
      },
      exchangeOf({ path: '/p', headers: [['x-old', '1'], ['content-length', '3'], ['x-old', '2']], body: 'abc' }), // prettier-ignore
    )
    expect(fieldsOf(request.headers)).toEqual(['content-length: 3', 'x-a: me', 'x-a: added'])
    expect([request.path, request.host]).toEqual(['/p', 'example.com'])
  })

  it('has one field for each member of a list', () => {
    const { request } = onRequest({ replace: '{"x": ["1", 2, null]}' }, exchangeOf({ headers: [['x', '0']] }))
    expect(fieldsOf(request.headers)).toEqual(['x: 1', 'x: 2'])
  })

  it.each(['request.headers["absent"]', '"no map"', 'does not compile'])(
    'leaves no field if the expression of replace is %s',
    (replace) => {
      const { request } = onRequest({ replace }, exchangeOf({ headers: [['x-old', '1']] }))
      expect(fieldsOf(request.headers)).toEqual([])
    },
  )

  it.each(['content-length', 'Transfer-Encoding', 'connection', 'upgrade'])('never writes %s', (name) => {
    const { request } = onRequest({ set: [named(name, '"1"')], add: [named(name, '"1"')] }, exchangeOf())
    expect(fieldsOf(request.headers)).toEqual([])
  })

  it.each([
    ['"text"', 'text'],
    ['{"a": [1, 2.5, true, null]}', '{"a":[1,2.5,true,null]}'],
    ['json(request.body).a', '{"b":1}'],
    ['request.headers["absent"]', ''],
    ['does not compile', ''],
  ])('a body of %s is %s', (source, text) => {
    const { request } = onRequest({ body: source }, exchangeOf({ body: '{"a":{"b":1}}' }))
    expect(textOf(request.body)).toBe(text)
  })

  it('drops metadata that fails, and names of prototype members have no effect', () => {
    const exchange = onRequest(
      { metadata: [named('bad', 'nothing.here'), named('__proto__', '"x"')], set: [named('y', 'metadata.__proto__')] },
      exchangeOf(),
    )
    expect(Object.keys(exchange.metadata ?? {})).toEqual(['__proto__'])
    expect(exchange.request.headers.get('y')).toBe('x')
  })
})

describe('response', () => {
  it('reads response and request, and metadata of the request', () => {
    const exchange = onRequest({ metadata: [named('a', '"request"'), named('b', '"request"')] }, exchangeOf())
    exchange.response = upstreamResponse([['x-up', '1']], 'old')
    onResponse(
      {
        metadata: [named('b', '"response"')],
        set: [
          named('x-code', 'response.code'),
          named('x-meta', 'metadata.a + "," + metadata.b'),
          named(':status', '201'),
        ],
        remove: ['x-up'],
        body: 'string(response.body) + request.method',
      },
      exchange,
    )
    expect(exchange.response.status).toBe(201)
    expect(fieldsOf(exchange.response.headers)).toEqual(['x-code: 200', 'x-meta: request,response'])
    expect(textOf(exchange.response.body)).toBe('oldGET')
  })

  it.each(['"99"', '"1000"', '"20x"', '"101"'])('ignores %s as a status', (source) => {
    const exchange = exchangeOf()
    exchange.response = upstreamResponse()
    expect(onResponse({ set: [named(':status', source)] }, exchange).response?.status).toBe(200)
  })

  it('cancels a stream that it replaces', () => {
    const exchange = exchangeOf()
    let isCancelled = false
    const body: Cancellable<Buffer> = {
      [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true, value: undefined }) }),
      cancel() {
        isCancelled = true
      },
    }
    exchange.response = upstreamResponse([], body)
    onResponse({ body: '"new"' }, exchange)
    expect(textOf(exchange.response.body)).toBe('new')
    expect(isCancelled).toBe(true)
  })

  it.each([
    ['of the body of a backend is not known', 'string(response.body) + "!"', undefined],
    ['of a text is', '"new"', 'new'],
  ])('the content-length of HEAD %s', (_, source, text) => {
    const exchange = exchangeOf({ method: 'HEAD' })
    exchange.response = upstreamResponse([['content-length', '7']], Buffer.alloc(0))
    const { response } = onResponse({ body: source }, exchange)
    expect(response?.headers.get('content-length')).toBeUndefined()
    expect(response?.body === undefined ? undefined : textOf(response.body)).toBe(text)
  })

  it('HEAD of a response of the gateway has its length', () => {
    const exchange = exchangeOf({ method: 'HEAD' })
    exchange.fail('routeNotFound')
    const { response } = onResponse({ body: 'string(response.body) + "!"' }, exchange)
    expect(textOf(response?.body)).toBe('route not found!')
  })

  it('requires a response', () => {
    expect(onResponse({ set: [named('a', '"b"')] }, exchangeOf()).response).toBeUndefined()
  })
})

it('reports which bodies it reads', () => {
  const environment = environmentOf()
  const flags = (request: Transform | undefined, response: Transform | undefined): (boolean | undefined)[] => {
    const policy = compileTransformation({ ...(request && { request }), ...(response && { response }) }, environment)
    return [policy.readsRequestBody, policy.readsResponseBody]
  }
  expect(flags({ set: [named('a', 'request.path')] }, undefined)).toEqual([false, false])
  expect(flags({ body: 'request.body' }, undefined)).toEqual([true, false])
  expect(flags(undefined, { set: [named('a', 'string(request.bodyPrefix)')] })).toEqual([true, false])
  expect(flags(undefined, { body: 'response.body' })).toEqual([false, true])
  expect(flags(undefined, { metadata: [named('a', 'variables()')] })).toEqual([true, true])
})

describe('conditional', () => {
  const policy = compileTransformation(
    {
      conditional: [
        { condition: 'request.headers["kind"] == "a"', policy: { response: { set: [named('x', '"a"')] } } },
        {
          condition: 'request.method == "POST"',
          policy: { request: { set: [named('kind', '"a"')] }, response: { set: [named('x', '"post"')] } },
        },
        { policy: { response: { set: [named('x', '"rest"')] } } },
      ],
    },
    environmentOf(),
  )

  it.each([
    [{ method: 'GET' }, 'rest'],
    [{ method: 'GET', headers: [['kind', 'a']] }, 'a'],
    // The first condition is true on the request side; the selection stays.
    [{ method: 'POST' }, 'post'],
  ] as const)('%j takes %s on both sides', (parts, value) => {
    const exchange = exchangeOf(parts)
    runRequest(policy, exchange)
    exchange.response = upstreamResponse()
    runResponse(policy, exchange)
    expect(exchange.response.headers.get('x')).toBe(value)
  })

  it('does nothing on the response if the request did not reach it', () => {
    const exchange = exchangeOf()
    exchange.response = upstreamResponse()
    runResponse(policy, exchange)
    expect(fieldsOf(exchange.response.headers)).toEqual([])
  })
})

it('text of expressions and fields is UTF-8, in both directions', () => {
  const bytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')
  const headers: [string, string][] = [['x-in', bytes('Jürgen €')], ['x-latin', 'J\u00fcrgen'], ['cookie', `who=${bytes('Jürgen')}`]] // prettier-ignore
  const set = {
    'x-literal': '"Jürgen"',
    'x-same': 'request.headers["x-in"]',
    'x-size': 'size(request.headers["x-in"])',
    'x-equal': 'request.headers["x-in"] == "Jürgen €"',
    'x-latin': 'request.headers["x-latin"] + "!"',
    'x-cookie': 'request.headers.cookie("who")',
    'x-both': '"Łukasz und " + request.headers["x-in"]',
  }
  const { request } = onRequest(
    { set: Object.entries(set).map(([name, source]) => named(name, source)) },
    exchangeOf({ headers }),
  )
  expect(Object.keys(set).map((name) => request.headers.get(name))).toEqual([
    bytes('Jürgen'),
    bytes('Jürgen €'),
    '8',
    'true',
    bytes('Jürgen!'),
    bytes('Jürgen'),
    bytes('Łukasz und Jürgen €'),
  ])
})
