// Tables for each rule of route matching.
import { describe, expect, it } from 'vitest'
import type { RouteMatch } from '#api/ir/types.gen.ts'
import { hostOf, portOf } from '../message/authority.ts'
import { requestOf, type RequestParts } from './request.testing.ts'
import { buildRouter, type RouterEntry } from './router.ts'

function entry(value: string, matches: RouteMatch[], options: Partial<RouterEntry<string>> = {}): RouterEntry<string> {
  const order = { namespace: 'default', name: value, ruleIndex: 0 }
  return { hostnames: [], matches, order, value, ...options }
}

function found(entries: readonly RouterEntry<string>[], parts: RequestParts): string | undefined {
  return buildRouter(entries).find(requestOf(parts))?.value
}

describe('hostnames', () => {
  const entries = [
    entry('exact', [{}], { hostnames: ['a.example.com'] }),
    entry('long', [{}], { hostnames: ['*.b.example.com'] }),
    entry('short', [{}], { hostnames: ['*.example.com'] }),
    entry('any', [{}]),
    entry('address', [{}], { hostnames: ['[::1]'] }),
  ]
  it.each([
    ['a.example.com', 'exact'],
    ['A.Example.com:8080', 'exact'],
    ['x.a.example.com', 'short'],
    ['b.example.com', 'short'],
    ['x.b.example.com', 'long'],
    ['y.x.b.example.com:80', 'long'],
    ['example.com', 'any'],
    ['.example.com', 'any'],
    ['other.org', 'any'],
    ['[::1]:8080', 'address'],
    ['[::1]', 'address'],
    [`${'a.'.repeat(200)}example.com`, 'any'],
    ['', 'any'],
  ])('%s goes to %s', (host, value) => {
    expect(found(entries, { host })).toBe(value)
  })

  it('leaves a level without a matching route, and stays on the first level that has one', () => {
    const levels = [
      entry('exact', [{ path: { pathPrefix: '/only' } }], { hostnames: ['a.example.com'] }),
      entry('wildcard', [{ path: { exact: '/only/this' } }, { path: { pathPrefix: '/wild' } }], {
        hostnames: ['*.example.com'],
      }),
      entry('any', [{}]),
    ]
    expect(found(levels, { host: 'a.example.com', path: '/only/this' })).toBe('exact')
    expect(found(levels, { host: 'a.example.com', path: '/wild' })).toBe('wildcard')
    expect(found(levels, { host: 'a.example.com', path: '/else' })).toBe('any')
  })

  it('finds nothing where no hostname fits', () => {
    expect(found([entry('a', [{}], { hostnames: ['a.org'] })], { host: 'b.org' })).toBeUndefined()
    expect(found([], {})).toBeUndefined()
  })
})

describe('paths', () => {
  const entries = [
    entry('exact', [{ path: { exact: '/foo/bar' } }]),
    entry('foo', [{ path: { pathPrefix: '/foo/' } }]),
    entry('deep', [{ path: { pathPrefix: '/foo/bar/baz' } }]),
    entry('regex', [{ path: { regex: '/re/[0-9]+|/other' } }]),
    entry('root', [{ path: { pathPrefix: '/' } }]),
  ]
  it.each([
    ['/foo/bar', 'exact', undefined, '/foo/bar'],
    ['/foo', 'foo', '/foo', '/foo/*'],
    ['/foo/', 'foo', '/foo', '/foo/*'],
    ['/foo/bar/', 'foo', '/foo', '/foo/*'],
    ['/foobar', 'root', '/', '/*'],
    ['/foo/bar/baz/x', 'deep', '/foo/bar/baz', '/foo/bar/baz/*'],
    ['/foo/bar/bazx', 'foo', '/foo', '/foo/*'],
    ['/', 'root', '/', '/*'],
    ['*', 'root', '/', '/*'],
  ])('%s goes to %s', (path, value, matchedPrefix, matchLabel) => {
    expect(buildRouter(entries).find(requestOf({ path }))).toEqual({ value, matchedPrefix, matchLabel })
  })

  it('tries regular expressions last and over the whole path', () => {
    const regexOnly = [entry('regex', [{ path: { regex: '/re/[0-9]+|/other' } }])]
    expect(found(regexOnly, { path: '/re/12' })).toBe('regex')
    expect(found(regexOnly, { path: '/other' })).toBe('regex')
    expect(found(regexOnly, { path: '/re/12/x' })).toBeUndefined()
    expect(found(regexOnly, { path: '/x/re/12' })).toBeUndefined()
    expect(found(entries, { path: '/re/12' })).toBe('root')
  })

  it('prefers the longer of many expressions, and drops one that does not compile', () => {
    const sources = ['/a.*', '/ab.*', '/abc.*', '/(', '/abcd?.*', '/x|/y']
    const many = sources.map((regex) => entry(regex, [{ path: { regex } }]))
    expect(found(many, { path: '/abc' })).toBe('/abcd?.*')
    expect(found(many, { path: '/ab' })).toBe('/ab.*')
    expect(found(many, { path: '/y' })).toBe('/x|/y')
    expect(found(many, { path: '/x/y' })).toBeUndefined()
  })

  it('matches CONNECT without a path as /', () => {
    expect(found(entries, { method: 'CONNECT', path: 'example.com:443' })).toBe('root')
    expect(found(entries, { method: 'CONNECT', path: '' })).toBe('root')
  })
})

describe('other conditions', () => {
  const header = (name: string, exact: string): RouteMatch => ({ headers: [{ name, value: { exact } }] })
  const query = (name: string, exact: string): RouteMatch => ({ query: [{ name, value: { exact } }] })

  it('prefers method, then header count, then query count', () => {
    const entries = [
      entry('plain', [{}]),
      entry('query', [query('q', '1')]),
      entry('header', [header('h', '1')]),
      entry('two-headers', [{ headers: [...(header('h', '1').headers ?? []), ...(header('i', '1').headers ?? [])] }]),
      entry('method', [{ method: 'POST' }]),
    ]
    const all: RequestParts = { method: 'POST', query: 'q=1', headers: [['h', '1'], ['i', '1']] } // prettier-ignore
    expect(found(entries, all)).toBe('method')
    expect(found(entries, { ...all, method: 'GET' })).toBe('two-headers')
    expect(found(entries, { query: 'q=1', headers: [['h', '1']] })).toBe('header')
    expect(found(entries, { query: 'q=1' })).toBe('query')
    expect(found(entries, {})).toBe('plain')
  })

  it('takes any of repeated header fields', () => {
    const entries = [entry('a', [header('X-Tenant', 'b')])]
    expect(found(entries, { headers: [['x-tenant', 'a'], ['x-tenant', 'b']] })).toBe('a') // prettier-ignore
    expect(found(entries, { headers: [['x-tenant', 'a']] })).toBeUndefined()
  })

  it.each([
    [':method', 'GET'],
    [':path', '/p?a=b'],
    [':scheme', 'http'],
    [':authority', 'example.com:81'],
    ['host', 'example.com:81'],
  ])('reads the pseudo-header %s', (name, value) => {
    const request: RequestParts = { path: '/p', query: 'a=b', host: 'example.com:81' }
    expect(found([entry('a', [header(name, value)])], request)).toBe('a')
    expect(found([entry('a', [header(name, `${value}x`)])], request)).toBeUndefined()
  })

  it.each([
    ['q=1', '1', true],
    ['q=2&q=1', '1', true],
    ['q=1&q=2', '1', false],
    ['a=1&q=1&b=2', '1', true],
    ['%71=1', '1', true],
    ['q=a%20b', 'a b', true],
    ['q=a+b', 'a b', true],
    ['q=%zz', '%zz', true],
    ['q', '', true],
    ['q=', '', true],
    ['qq=1', '1', false],
    ['', '', false],
    ['=1', '1', false],
    ['q=1&', '1', true],
  ])('query %s against q=%s', (text, value, isFound) => {
    expect(found([entry('a', [query('q', value)])], { query: text })).toBe(isFound ? 'a' : undefined)
  })

  it('matches values by regular expression in full', () => {
    const entries = [entry('a', [{ headers: [{ name: 'v', value: { regex: '[0-9]+' } }] }])]
    expect(found(entries, { headers: [['v', '12']] })).toBe('a')
    expect(found(entries, { headers: [['v', '12a']] })).toBeUndefined()
  })

  it('breaks ties by age, then name, then rule', () => {
    const order = (createdAt: number | undefined, name: string, ruleIndex = 0): Partial<RouterEntry<string>> => ({
      order: { createdAt, namespace: 'ns', name, ruleIndex },
    })
    expect(found([entry('new', [{}], order(2, 'a')), entry('old', [{}], order(1, 'b'))], {})).toBe('old')
    expect(found([entry('unknown', [{}], order(undefined, 'a')), entry('old', [{}], order(9, 'b'))], {})).toBe('old')
    expect(found([entry('b', [{}], order(1, 'b')), entry('a', [{}], order(1, 'a'))], {})).toBe('a')
    expect(found([entry('1', [{}], order(1, 'a', 1)), entry('0', [{}], order(1, 'a', 0))], {})).toBe('0')
  })
})

describe('authority', () => {
  it.each([
    ['example.com', 'example.com', undefined],
    ['Example.com:8080', 'example.com', 8080],
    ['[FE80::1]:443', '[fe80::1]', 443],
    ['[::1]', '[::1]', undefined],
    ['[::1', '[::1', undefined],
    ['a:', 'a', undefined],
    ['a:0', 'a', undefined],
    ['a:65536', 'a', undefined],
    ['a:8x', 'a', undefined],
    ['', '', undefined],
  ])('%s', (authority, host, port) => {
    expect(hostOf(authority)).toBe(host)
    expect(portOf(authority)).toBe(port)
  })
})
