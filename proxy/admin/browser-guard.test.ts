import { describe, expect, it } from 'vitest'
import { corsHeaders, isSameOrigin, isTrustedHost } from './browser-guard.ts'

describe('isTrustedHost', () => {
  it.each([
    ['localhost', true],
    ['LOCALHOST:15000', true],
    ['127.0.0.1:15000', true],
    ['[::1]:15000', true],
    ['[::1]', true],
    [undefined, false],
    ['', false],
    ['evil.example', false],
    ['localhost.evil.example', false],
    ['127.0.0.1.evil.example:15000', false],
    ['10.0.0.7:15000', false],
    ['my-pod', false],
    ['localhost:15000:1', false],
  ])('%j is %j', (host, isTrusted) => {
    expect(isTrustedHost(host, undefined)).toBe(isTrusted)
  })

  it('trusts the configured listen address only', () => {
    expect(isTrustedHost('10.0.0.7:15000', '10.0.0.7')).toBe(true)
    expect(isTrustedHost('[fd00::7]:15000', 'fd00::7')).toBe(true)
    expect(isTrustedHost('10.0.0.8:15000', '10.0.0.7')).toBe(false)
  })
})

describe('isSameOrigin', () => {
  it.each([
    [{}, true],
    [{ 'sec-fetch-site': 'none' }, true],
    [{ 'sec-fetch-site': 'same-origin', origin: 'http://localhost:15000' }, true],
    [{ 'sec-fetch-site': 'same-site' }, false],
    [{ 'sec-fetch-site': 'cross-site' }, false],
    [{ host: 'localhost:15000', origin: 'http://localhost:15000' }, true],
    [{ host: 'localhost:15000', origin: 'http://localhost:3001' }, false],
    [{ host: 'localhost:15000', origin: 'http://localhost:3000', 'sec-fetch-site': 'same-site' }, true],
    [{ host: 'localhost:15000', origin: 'null' }, false],
    [{ host: 'localhost:15000', origin: 'https://evil.example' }, false],
  ])('%j is %j', (headers, isSame) => {
    expect(isSameOrigin(headers)).toBe(isSame)
  })
})

describe('corsHeaders', () => {
  const hosts = ['localhost', '127.0.0.1', '0.0.0.0']
  const trusted = hosts.flatMap((host) => [`http://${host}:3000`, `http://${host}:19000`])

  it.each(trusted)('%s may read answers, with credentials', (origin) => {
    expect(corsHeaders({ origin })).toEqual({
      'access-control-allow-origin': origin,
      'access-control-allow-credentials': 'true',
      vary: 'origin',
    })
  })

  it.each([
    undefined,
    'null',
    'https://localhost:3000',
    'http://localhost',
    'http://localhost:30000',
    'http://localhost:3000.evil.example',
    'http://evil.example:3000',
  ])('%s may not', (origin) => {
    expect(corsHeaders(origin === undefined ? {} : { origin })).toBeUndefined()
  })
})
