import { describe, expect, it } from 'vitest'
import { exchangeOf } from '../exchange.testing.ts'
import { replacePrefix, setHost, setMethod, setTarget } from './request-target.ts'

describe('replacePrefix', () => {
  it.each([
    // path, matched prefix, replacement, result: the table of Gateway API, HTTPPathModifier
    ['/foo/bar', '/foo', '/xyz', '/xyz/bar'],
    ['/foo/bar', '/foo', '/xyz/', '/xyz/bar'],
    ['/foo', '/foo', '/xyz', '/xyz'],
    ['/foo/', '/foo', '/xyz', '/xyz/'],
    ['/foo/bar', '/foo', '', '/bar'],
    ['/foo/', '/foo', '', '/'],
    ['/foo', '/foo', '', '/'],
    ['/foo/', '/foo', '/', '/'],
    ['/foo', '/foo', '/', '/'],
    ['/bar', '/', '/xyz', '/xyz/bar'],
    ['/', '/', '/xyz', '/xyz'],
    ['/', '/', '/', '/'],
    ['/bar', '/', '', '/bar'],
    ['/foobar', '/foo', '/xyz', undefined],
    ['/other', '/foo', '/xyz', undefined],
    ['/foo', undefined, '/xyz', undefined],
  ])('%s with %s by %s is %s', (path, prefix, replacement, result) => {
    expect(replacePrefix(path, prefix, replacement)).toBe(result)
  })
})

it.each([
  ['/a', '/a', 'q=1'],
  ['/a?', '/a', ''],
  ['/a?b=c', '/a', 'b=c'],
  ['/a?b?c', '/a', 'b?c'],
  ['/caf\u00e9', '/caf\u00e9', 'q=1'],
  ['a', undefined, undefined],
  ['', undefined, undefined],
  ['/a b', undefined, undefined],
  ['/a#b', undefined, undefined],
  ['/a\r\nx: y', undefined, undefined],
  ['/\u010a', undefined, undefined],
])('target %j', (value, path, query) => {
  const { request } = exchangeOf({ path: '/p', query: 'q=1' })
  expect(setTarget(request, value)).toBe(path !== undefined)
  expect([request.path, request.query]).toEqual([path ?? '/p', query ?? 'q=1'])
})

it.each([
  ['A.com', 'a.com'],
  ['a.com:8080', 'a.com:8080'],
  ['[::1]:80', '[::1]:80'],
  ['a_b.c-d', 'a_b.c-d'],
  ['', undefined],
  ['a b', undefined],
  ['secret.test..', undefined],
  ['a.com:99999', undefined],
  ['a/b', undefined],
  ['user@a', undefined],
  ['a\n', undefined],
])('host %j', (value, host) => {
  const { request } = exchangeOf({ host: 'h' })
  expect(setHost(request, value)).toBe(host !== undefined)
  expect(request.host).toBe(host ?? 'h')
})

it.each([
  ['PURGE', true],
  ['M-SEARCH', true],
  ['CONNECT', false],
  ['', false],
  ['A B', false],
  ['GET\n', false],
])('method %j', (value, isTaken) => {
  const { request } = exchangeOf()
  expect(setMethod(request, value)).toBe(isTaken)
  expect(request.method).toBe(isTaken ? value : 'GET')
})
