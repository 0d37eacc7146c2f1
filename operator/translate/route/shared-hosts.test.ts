import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RouteListener } from '../gateway/listener.ts'
import type { AttachedRoute } from './routes.ts'
import { SharedHosts } from './shared-hosts.ts'

const gateway = { kind: 'Gateway', metadata: { name: 'edge', namespace: 'infra' } }

/** Only what is looked at. */
function listenerOf(key: string, hostname?: string, namespace?: string): RouteListener {
  const set = namespace === undefined ? {} : { set: { kind: 'ListenerSet', metadata: { name: key, namespace } } }
  return {
    key,
    gateway,
    spec: { port: 80, ...(hostname !== undefined && { hostname }) },
    ...set,
  } as unknown as RouteListener
}

const ANY = listenerOf('any')
const SET = listenerOf('set', 'x.example.com', 's')

interface Row {
  readonly name: string
  readonly hosts?: readonly string[]
  readonly paths?: readonly string[]
  readonly regex?: string
  readonly at?: RouteListener
}

/** `name`: `namespace/name` */
function routeOf({ name, hosts = ['x.example.com'], paths = ['/'], regex, at = ANY }: Row): AttachedRoute {
  const [namespace, own] = name.split('/')
  const matches = regex === undefined ? paths.map((path) => ({ path: { pathPrefix: path } })) : [{ path: { regex } }]
  const route = { kind: 'HTTPRoute', metadata: { namespace, name: own }, spec: { hostnames: hosts } }
  // Only what is looked at.
  return { route, translation: { rules: [{ matches }] }, listeners: [at] } as unknown as AttachedRoute
}

function textsOf(rows: readonly Row[], listeners: readonly RouteListener[] = [ANY]): Record<string, string> {
  const hosts = new SharedHosts()
  hosts.enter(rows.map(routeOf), listeners)
  const owners = [...rows.map(({ name }) => `HTTPRoute ${name}`), 'ListenerSet s/set']
  return Object.fromEntries(owners.map((owner) => [owner, hosts.textOf(owner)]).filter(([, text]) => text !== ''))
}

describe('SharedHosts', () => {
  it.each<[string, Row[], number]>([
    ['a longer path', [{ name: 'a/r' }, { name: 'b/r', paths: ['/login'] }], 2],
    ['the same path', [{ name: 'a/r' }, { name: 'b/r' }], 2],
    [
      'a regular expression',
      [
        { name: 'a/r', paths: ['/a'] },
        { name: 'b/r', regex: '/.*' },
      ],
      2,
    ],
    ['a narrower host', [{ name: 'a/r', hosts: ['*.example.com'] }, { name: 'b/r' }], 2],
    [
      'a narrower wildcard',
      [
        { name: 'a/r', hosts: ['*.com'] },
        { name: 'b/r', hosts: ['*.example.com'] },
      ],
      2,
    ],
    [
      'paths beside each other',
      [
        { name: 'a/r', paths: ['/a'] },
        { name: 'b/r', paths: ['/ab', '/b'] },
      ],
      0,
    ],
    ['a longer path of its own namespace', [{ name: 'a/r' }, { name: 'a/s', paths: ['/login'] }], 0],
    ['other hosts', [{ name: 'a/r' }, { name: 'b/r', hosts: ['y.example.com'] }], 0],
    ['a host of the same suffix without a wildcard', [{ name: 'a/r', hosts: ['example.com'] }, { name: 'b/r' }], 0],
    ['a route for all hosts', [{ name: 'a/r', hosts: [] }, { name: 'b/r' }], 0],
    [
      'a path below one of its own namespace',
      [{ name: 'a/r' }, { name: 'b/r', paths: ['/b'] }, { name: 'b/s', paths: ['/b/c'] }],
      2,
    ],
  ])('%s', (_, rows, expected) => {
    expect(Object.keys(textsOf(rows))).toHaveLength(expected)
    expect(textsOf(rows.toReversed())).toEqual(textsOf(rows))
  })

  it('names the other route, the host and the path to both owners', () => {
    expect(textsOf([{ name: 'a/shop' }, { name: 'b/login', paths: ['/login'] }])).toEqual({
      'HTTPRoute a/shop': 'requests for x.example.com/login go to HTTPRoute b/login',
      'HTTPRoute b/login': 'takes requests for x.example.com/login from HTTPRoute a/shop',
    })
  })

  it('reports to a ListenerSet and the routes that it takes a host from, and not to the routes attached to it', () => {
    const rows = [{ name: 'a/shop' }, { name: 'c/guest', hosts: [], at: SET, paths: ['/guest'] }]
    expect(textsOf(rows, [ANY, SET])).toMatchObject({
      'HTTPRoute a/shop': expect.stringContaining('requests for x.example.com go to ListenerSet s/set'),
      'ListenerSet s/set': 'takes requests for x.example.com from HTTPRoute a/shop, which serves x.example.com',
    })
    expect(textsOf(rows.slice(1), [ANY, SET])).toEqual({})
  })

  it('names a few of many, and counts the others', () => {
    const takers = Array.from({ length: 100 }, (_, at) => ({ name: `b/r${at}`, paths: [`/p${at}`] }))
    const lines = (textsOf([{ name: 'a/r' }, ...takers])['HTTPRoute a/r'] ?? '').split('\n')
    expect(lines).toHaveLength(6)
    expect(lines[5]).toBe('and 95 more')
  })

  it('checks only the hosts of a changed route', () => {
    const hosts = new SharedHosts()
    const routes = Array.from({ length: 1000 }, (_, at) => routeOf({ name: `n${at}/r`, hosts: [`h${at}.example.com`] }))
    hosts.enter(routes, [ANY])
    expect(hosts.enter(routes.with(7, routeOf({ name: 'n7/r', hosts: ['h8.example.com'] })), [ANY])).toEqual(
      new Set(['HTTPRoute n7/r', 'HTTPRoute n8/r']),
    )
  })

  it('returns the same texts after changes as for the last list alone', () => {
    const row = fc.record({
      name: fc.constantFrom('a/r', 'a/s', 'b/r', 'b/s', 'c/r'),
      hosts: fc.subarray(['x.example.com', '*.example.com', 'y.x.example.com', '*.x.example.com']),
      paths: fc.subarray(['/', '/a', '/a/b', '/c'], { minLength: 1 }),
      at: fc.constantFrom(ANY, SET),
    })
    const list = fc.uniqueArray(row, { selector: ({ name }) => name, maxLength: 5 })
    const step = fc.tuple(list, fc.subarray([ANY, SET]))
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 5 }), (steps) => {
        const hosts = new SharedHosts()
        for (const [rows, listeners] of steps) {
          hosts.enter(rows.map(routeOf), listeners)
          const fresh = textsOf(rows, listeners)
          for (const owner of ['a/r', 'a/s', 'b/r', 'b/s', 'c/r'].map((name) => `HTTPRoute ${name}`)) {
            expect(hosts.textOf(owner)).toBe(fresh[owner] ?? '')
          }
        }
      }),
    )
  })
})
