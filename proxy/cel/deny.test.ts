import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { compileAuthorization } from '../policy/auth/authorization.ts'
import { environmentOf, exchangeOf, runRequest } from '../policy/exchange.testing.ts'
import type { Exchange } from '../exchange/exchange.ts'

const TEXT = 'string(request.body).contains("attack")'
const JSON_FIELD = 'json(request.body).role == "guest"'
const PREFIX = 'string(request.bodyPrefix).contains("attack")'

function withBody(body: string | Buffer, headers: readonly (readonly [string, string])[] = []): Exchange {
  const exchange = exchangeOf({ method: 'POST', headers })
  exchange.request.body = Buffer.from(body)
  return exchange
}

/** A body over the limit, as the pipeline leaves it. */
function tooLarge(): Exchange {
  const exchange = exchangeOf({ method: 'POST' })
  // It only matters that it is not a buffer.
  exchange.request.body = Readable.from([]) as unknown as Exchange['request']['body']
  return exchange
}

function statusOf(exchange: Exchange, ...matchExpressions: string[]): number | undefined {
  return runRequest(compileAuthorization([{ action: 'Deny', matchExpressions }], environmentOf()), exchange)?.status
}

describe('a Deny rule that reads the body', () => {
  it.each<[string, Exchange, string]>([
    ['is over the limit', tooLarge(), TEXT],
    ['is over the limit, asked for with has()', tooLarge(), `has(request.body) && ${TEXT}`],
    ['is over the limit, with a default', tooLarge(), 'string(default(request.body, b"")).contains("attack")'],
    ['is compressed', withBody('attack', [['content-encoding', 'gzip']]), TEXT],
    ['is compressed in several steps', withBody('x', [['content-encoding', 'identity, br']]), TEXT],
    [
      'is compressed, which the second of two fields names',
      withBody('attack', [
        ['content-encoding', 'identity'],
        ['content-encoding', 'deflate'],
      ]),
      TEXT.replace('attack', 'other'),
    ],
    ['is compressed gRPC', withBody('x', [['grpc-encoding', 'gzip']]), TEXT],
    ['is compressed, read by its prefix', withBody('x', [['content-encoding', 'zstd']]), PREFIX],
    ['is compressed, read by its size', withBody('x', [['content-encoding', 'gzip']]), 'size(request.body) > 1000'],
    ['is not UTF-8', withBody(Buffer.from([0x61, 0xff, 0xfe])), TEXT],
    ['is not JSON', withBody('{"role": "guest"'), JSON_FIELD],
    ['is JSON of another type', withBody('[]'), JSON_FIELD],
    ['is not JSON, among all variables', withBody('{'), 'json(variables().request.body).role == "guest"'],
  ])('denies a body that %s', (_name, exchange, source) => {
    expect(statusOf(exchange, source)).toBe(403)
    expect(exchange.denyGuard).toBeUndefined()
  })

  it.each<[string, Exchange, string]>([
    ['can be read and does not match', withBody('harmless'), TEXT],
    ['says that it is not compressed', withBody('harmless', [['content-encoding', 'Identity']]), TEXT],
    ['is JSON without the field', withBody('{"name": "ann"}'), JSON_FIELD],
    ['is not there', exchangeOf(), TEXT],
    ['is empty', withBody(''), JSON_FIELD],
    ['is empty and is called compressed', withBody('', [['content-encoding', 'gzip']]), TEXT],
    ['is over the limit, where the path decides', tooLarge(), `request.path == "/other" && ${TEXT}`],
    ['is over the limit, where the path decides later', tooLarge(), `${TEXT} && request.path == "/other"`],
  ])('passes a body that %s', (_name, exchange, source) => {
    expect(statusOf(exchange, source)).toBeUndefined()
  })

  it('needs all of its expressions to be true or unknown', () => {
    expect(statusOf(tooLarge(), TEXT, 'request.path == "/"')).toBe(403)
    expect(statusOf(tooLarge(), TEXT, 'request.path == "/other"')).toBeUndefined()
  })
})

describe('other rules', () => {
  it('still see the bytes of a compressed body', () => {
    const policy = compileAuthorization(
      [{ action: 'Allow', matchExpressions: ['size(request.body) == 1'] }],
      environmentOf(),
    )
    expect(runRequest(policy, withBody('x', [['content-encoding', 'gzip']]))).toBeUndefined()
  })
})
