import { describe, expect, it } from 'vitest'
import type { Cors } from '#api/ir/types.gen.ts'
import { compileCors } from './cors.ts'
import { exchangeOf, fieldsOf, queuedOf, runRequest } from '../exchange.testing.ts'

const FULL: Cors = {
  allowOrigins: ['https://a.com'],
  allowMethods: ['GET', 'POST'],
  allowHeaders: ['x-one', 'x-two'],
  exposeHeaders: ['x-three'],
  allowCredentials: true,
  maxAgeSeconds: 5,
}
const WILD: Cors = { allowOrigins: ['*'], allowMethods: ['*'], allowHeaders: ['*'] }

function preflight(payload: Cors, headers: readonly (readonly [string, string])[]): string[] | undefined {
  const exchange = exchangeOf({ method: 'OPTIONS', headers })
  const response = runRequest(compileCors(payload), exchange)
  if (response !== undefined) {
    expect(response.status).toBe(200)
    expect(response.body).toBe('')
    expect(exchange.reason).toBe('DirectResponse')
  }
  return response === undefined ? undefined : fieldsOf(response.headers)
}

describe('OPTIONS', () => {
  it('answers an allowed origin with everything that is granted', () => {
    expect(preflight(FULL, [['origin', 'https://a.com']])).toEqual([
      'access-control-allow-origin: https://a.com',
      'access-control-allow-methods: GET,POST',
      'access-control-allow-headers: x-one,x-two',
      'access-control-max-age: 5',
      'access-control-allow-credentials: true',
      'access-control-expose-headers: x-three',
    ])
  })

  it('echoes the requested values if everything is allowed', () => {
    const asked = [
      ['origin', 'https://b.org'],
      ['access-control-request-method', 'PATCH'],
      ['access-control-request-headers', 'x-a, x-b'],
    ] as const
    expect(preflight(WILD, asked)).toEqual([
      'access-control-allow-origin: https://b.org',
      'access-control-allow-methods: PATCH',
      'access-control-allow-headers: x-a, x-b',
    ])
  })

  it('grants nothing to two origins', () => {
    expect(
      preflight(WILD, [
        ['origin', 'https://a.com'],
        ['origin', 'https://evil.org'],
        ['access-control-request-method', 'GET'],
      ]),
    ).toEqual([])
  })

  it('returns * if nothing was requested, and nothing with credentials', () => {
    expect(preflight(WILD, [['origin', 'https://b.org']])).toEqual([
      'access-control-allow-origin: https://b.org',
      'access-control-allow-methods: *',
      'access-control-allow-headers: *',
    ])
    expect(preflight({ ...WILD, allowCredentials: true }, [['origin', 'https://b.org']])).toEqual([
      'access-control-allow-origin: https://b.org',
      'access-control-allow-credentials: true',
    ])
  })

  it('answers a preflight of another origin without headers, and forwards plain OPTIONS', () => {
    expect(preflight(FULL, [['origin', 'https://b.org'], ['access-control-request-method', 'GET']])).toEqual([]) // prettier-ignore
    expect(preflight(FULL, [['origin', 'https://b.org']])).toBeUndefined()
    expect(preflight(FULL, [['access-control-request-method', 'GET']])).toBeUndefined()
    expect(preflight(FULL, [['origin', 'null'], ['access-control-request-method', 'GET']])).toEqual([]) // prettier-ignore
  })
})

describe('other methods', () => {
  it.each([
    [[], []],
    [[['origin', 'https://b.org']], []],
    [
      [['origin', 'https://a.com']],
      [
        'access-control-allow-origin: https://a.com',
        'access-control-allow-credentials: true',
        'access-control-expose-headers: x-three',
      ],
    ],
  ] as const)('%j', (headers, queued) => {
    const exchange = exchangeOf({ method: 'POST', headers })
    expect(runRequest(compileCors(FULL), exchange)).toBeUndefined()
    expect(queuedOf(exchange)).toEqual(queued)
  })

  it('queues each header once if both gateway and route have the policy', () => {
    const exchange = exchangeOf({ headers: [['origin', 'https://a.com']] })
    runRequest(compileCors(FULL), exchange)
    runRequest(compileCors({ allowOrigins: ['*'], exposeHeaders: ['x-route'] }), exchange)
    expect(queuedOf(exchange)).toEqual([
      'access-control-allow-origin: https://a.com',
      'access-control-allow-credentials: true',
      'access-control-expose-headers: x-route',
    ])
  })
})
