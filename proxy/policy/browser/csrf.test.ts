import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileCsrf } from './csrf.ts'
import { exchangeOf, runRequest } from '../exchange.testing.ts'

const policy = compileCsrf({ additionalOrigins: ['https://partner.org', 'http://local:3000'] })

describe('csrf', () => {
  it.each([
    // Sec-Fetch-Site, Origin, passes
    [undefined, undefined, true],
    [undefined, 'null', false],
    ['same-origin', 'https://evil.org', true],
    ['none', undefined, true],
    ['same-site', undefined, false],
    ['cross-site', undefined, false],
    ['cross-site', 'null', false],
    ['cross-site', 'http://example.com:8080', false],
    ['cross-site', 'https://partner.org', true],
    ['same-site', 'https://partner.org:443', true],
    ['', undefined, false],
    [undefined, 'http://example.com:8080', true],
    [undefined, 'http://EXAMPLE.com:8080', true],
    [undefined, 'http://example.com', false],
    [undefined, 'https://example.com:8080', false],
    [undefined, 'http://local:3000', true],
    [undefined, 'http://local', false],
    [undefined, 'https://evil.org', false],
    [undefined, 'nonsense', false],
    [undefined, '', false],
  ])('Sec-Fetch-Site %s, Origin %s: %s', (site, origin, passes) => {
    const headers: [string, string][] = []
    if (site !== undefined) headers.push(['sec-fetch-site', site])
    if (origin !== undefined) headers.push(['origin', origin])
    const exchange = exchangeOf({ method: 'POST', host: 'example.com:8080', headers })
    const response = runRequest(policy, exchange)
    expect(response?.status).toBe(passes ? undefined : 403)
    if (!passes) {
      expect(response?.body).toBe('CSRF validation failed')
      expect(exchange.reason).toBe('Authorization')
    }
  })

  it.each<[string, [string, string][]]>([
    [
      'an own Origin before a foreign one',
      [
        ['origin', 'http://example.com:8080'],
        ['origin', 'https://evil.org'],
      ],
    ],
    [
      'a foreign Origin before an own one',
      [
        ['origin', 'https://evil.org'],
        ['origin', 'http://example.com:8080'],
      ],
    ],
    [
      'two listed ones',
      [
        ['origin', 'https://partner.org'],
        ['origin', 'https://partner.org'],
      ],
    ],
    [
      'two Sec-Fetch-Site',
      [
        ['sec-fetch-site', 'same-origin'],
        ['sec-fetch-site', 'cross-site'],
      ],
    ],
    [
      'two Origin beside Sec-Fetch-Site',
      [
        ['sec-fetch-site', 'none'],
        ['origin', 'null'],
        ['origin', 'null'],
      ],
    ],
    ['a list in one Origin', [['origin', 'http://example.com:8080, https://evil.org']]],
  ])('rejects %s', (_what, headers) => {
    const exchange = exchangeOf({ method: 'POST', host: 'example.com:8080', headers })
    expect(runRequest(policy, exchange)?.status).toBe(403)
  })

  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'get', 'CONNECT', 'PROPFIND'])('checks %s', (method) => {
    expect(runRequest(policy, exchangeOf({ method, headers: [['sec-fetch-site', 'cross-site']] }))?.status).toBe(403)
  })

  it('allows every safe method, whatever the headers', () => {
    const method = fc.constantFrom('GET', 'HEAD', 'OPTIONS')
    const header = fc.tuple(fc.constantFrom('origin', 'sec-fetch-site'), fc.string())
    fc.assert(
      fc.property(method, fc.array(header), (name, headers) => {
        expect(runRequest(policy, exchangeOf({ method: name, headers }))).toBeUndefined()
      }),
    )
  })
})
