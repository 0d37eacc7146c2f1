import { describe, expect, it } from 'vitest'
import { candidateNames, parseResolvConf } from './resolv-conf.ts'

describe('parseResolvConf', () => {
  it.each<[string, string, { search: string[]; ndots: number }]>([
    ['an empty file', '', { search: [], ndots: 1 }],
    [
      'a pod of a cluster',
      'search a.svc.c svc.c c\nnameserver 10.0.0.1\noptions ndots:5\n',
      { search: ['a.svc.c', 'svc.c', 'c'], ndots: 5 },
    ],
    ['the last of several lines', 'domain x\nsearch a b\nsearch c\n', { search: ['c'], ndots: 1 }],
    ['a domain', 'domain corp.example\n', { search: ['corp.example'], ndots: 1 }],
    ['comments and final dots', '# search no\nsearch a. . ; b\n', { search: ['a'], ndots: 1 }],
    ['options among others', 'options edns0 ndots:0 trust-ad\n', { search: [], ndots: 0 }],
    ['an option out of range', 'options ndots:99\n', { search: [], ndots: 15 }],
    ['an unknown option', 'options ndots:x\n', { search: [], ndots: 1 }],
  ])('%s', (_, text, expected) => {
    expect(parseResolvConf(text)).toEqual(expected)
  })

  it('takes no endless search list', () => {
    const names = Array.from({ length: 40 }, (_, index) => `s${index}`)
    expect(parseResolvConf(`search ${names.join(' ')}`).search).toEqual(names.slice(0, 32))
  })
})

describe('candidateNames', () => {
  const rules = { search: ['a.c', 'c'], ndots: 2 }
  it.each([
    ['web', ['web.a.c', 'web.c', 'web']],
    ['web.x', ['web.x.a.c', 'web.x.c', 'web.x']],
    ['web.x.y', ['web.x.y', 'web.x.y.a.c', 'web.x.y.c']],
    ['web.', ['web']],
  ])('%s', (host, expected) => {
    expect(candidateNames(host, rules)).toEqual(expected)
  })
})
