// urlRewrite, requestRedirect, hostRewrite, timeout, deny: policies that change or stop the way of a request.
import { describe, expect, it } from 'vitest'
import type { RequestRedirect, UrlRewrite } from '#api/ir/types.gen.ts'
import { compileDeny } from '../../chain/deny.ts'
import { exchangeOf, fieldsOf, runRequest, type ExchangeParts } from '../exchange.testing.ts'
import { compileHostRewrite } from './host-rewrite.ts'
import { compileRequestRedirect } from './request-redirect.ts'
import { compileTimeouts } from '../resilience/timeouts.ts'
import { compileUrlRewrite } from './url-rewrite.ts'

describe('urlRewrite', () => {
  it.each<[UrlRewrite, string | undefined, string]>([
    [{ host: 'Up.org' }, undefined, 'up.org/a/b?q=1'],
    [{ path: { full: '/new' } }, undefined, 'example.com/new?q=1'],
    [{ path: { full: '/new?x=2' } }, undefined, 'example.com/new?x=2'],
    [{ path: { prefix: '/new' } }, '/a', 'example.com/new/b?q=1'],
    [{ path: { prefix: '/' } }, '/a', 'example.com/b?q=1'],
    [{ host: 'up.org', path: { prefix: '/new' } }, '/', 'up.org/new/a/b?q=1'],
  ])('%j', (payload, matchedPrefix, result) => {
    const exchange = exchangeOf({ path: '/a/b', query: 'q=1' })
    exchange.matchedPrefix = matchedPrefix
    expect(runRequest(compileUrlRewrite(payload), exchange)).toBeUndefined()
    expect(exchange.request.host + exchange.request.pathAndQuery).toBe(result)
    expect(exchange.hasExplicitHost).toBe(payload.host !== undefined)
  })

  it('fails without a matched prefix, and with an invalid path', () => {
    const exchange = exchangeOf({ path: '/a' })
    expect(runRequest(compileUrlRewrite({ path: { prefix: '/x' } }), exchange)?.body).toBe(
      'failed to apply filters: urlRewrite: the path has no matched prefix',
    )
    expect(runRequest(compileUrlRewrite({ path: { full: 'x y' } }), exchangeOf())?.status).toBe(500)
  })
})

describe('requestRedirect', () => {
  it.each<[Partial<RequestRedirect>, ExchangeParts, string]>([
    [{}, {}, 'http://example.com/a/b?q=1'],
    [{ scheme: 'https' }, {}, 'https://example.com/a/b?q=1'],
    [{ scheme: 'https' }, { host: 'example.com:8080' }, 'https://example.com/a/b?q=1'],
    [{ scheme: 'https', port: 443 }, {}, 'https://example.com/a/b?q=1'],
    [{ scheme: 'https', port: 80 }, {}, 'https://example.com:80/a/b?q=1'],
    [{ port: 80 }, { scheme: 'https', localPort: 443 }, 'https://example.com:80/a/b?q=1'],
    [{ port: 8443 }, {}, 'http://example.com:8443/a/b?q=1'],
    [{}, { host: 'example.com:8080', localPort: 9000 }, 'http://example.com:8080/a/b?q=1'],
    [{}, { localPort: 8080 }, 'http://example.com:8080/a/b?q=1'],
    [{ host: 'other.org' }, { host: 'example.com:8080', localPort: 9000 }, 'http://other.org:9000/a/b?q=1'],
    [{ host: 'other.org' }, { scheme: 'https', localPort: 443 }, 'https://other.org/a/b?q=1'],
    [{}, { host: '[::1]:81' }, 'http://[::1]:81/a/b?q=1'],
    [{ path: { full: '/x' } }, {}, 'http://example.com/x?q=1'],
    [{ path: { full: '/x?y=2' } }, {}, 'http://example.com/x?y=2'],
    [{ path: { prefix: '/x' } }, {}, 'http://example.com/x/b?q=1'],
    [{ path: { full: '/x' } }, { query: '' }, 'http://example.com/x'],
  ])('%j of %j', (payload, parts, location) => {
    const exchange = exchangeOf({ path: '/a/b', query: 'q=1', ...parts })
    exchange.matchedPrefix = '/a'
    const response = runRequest(compileRequestRedirect({ status: 302, ...payload }, {}), exchange)
    expect(response?.status).toBe(302)
    expect(response?.body).toBe('')
    expect(fieldsOf(exchange.response?.headers ?? exchange.request.headers)).toEqual([`location: ${location}`])
    expect(exchange.reason).toBe('DirectResponse')
  })

  it('prefers the port of the listener to that of the socket', () => {
    const policy = compileRequestRedirect({ status: 301, host: 'a.org' }, { listenerPort: 8080 })
    const response = runRequest(policy, exchangeOf({ localPort: 40_001 }))
    expect(response?.headers.get('location')).toBe('http://a.org:8080/')
  })

  it('fails without a matched prefix', () => {
    const policy = compileRequestRedirect({ status: 301, path: { prefix: '/x' } }, {})
    expect(runRequest(policy, exchangeOf())?.status).toBe(500)
  })

  it('fails with an invalid path', () => {
    const policy = compileRequestRedirect({ status: 301, path: { full: '/a\r\nx: y' } }, {})
    expect(runRequest(policy, exchangeOf())?.body).toBe(
      'failed to apply filters: requestRedirect: the result is not a path',
    )
  })
})

it('hostRewrite records the mode', () => {
  const exchange = exchangeOf()
  runRequest(compileHostRewrite({ mode: 'None' }), exchange)
  expect(exchange.hostRewriteMode).toBe('None')
})

it('timeout sets the configured values, counted from the arrival of the request', () => {
  const exchange = exchangeOf()
  compileTimeouts({ requestMs: 250 }).selected?.(exchange)
  exchange.deadline?.settle()
  expect([exchange.deadlineMs, exchange.backendRequestTimeoutMs]).toEqual([exchange.startMs + 250, undefined])
  runRequest(compileTimeouts({ backendRequestMs: 50 }), exchange)
  expect([exchange.deadlineMs, exchange.backendRequestTimeoutMs]).toEqual([exchange.startMs + 250, 50])
  expect(compileTimeouts({})).toEqual({})
})

it('deny rejects without revealing the reason', () => {
  const exchange = exchangeOf()
  const response = runRequest(compileDeny({ field: 'traffic.jwtAuthentication', message: 'no keys' }), exchange)
  expect([response?.status, response?.body]).toEqual([403, 'denied by policy'])
  expect(exchange.errorDetail).toBe('traffic.jwtAuthentication: no keys')
})
