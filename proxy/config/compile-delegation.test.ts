// Following routes to other routes: selection by weight, matches of each level, loops, depth, the rewritten prefix.
import { describe, expect, it } from 'vitest'
import type { Route, RouteBackend } from '#api/ir/types.gen.ts'
import type { RoutePlan } from '../chain/plan.ts'
import { requestOf } from '../route/request.testing.ts'
import { HostTables } from '../route/router.ts'
import { DelegationChains, RouteGroups } from './compile-delegation.ts'

interface Sketch {
  readonly name: string
  readonly group?: string
  readonly prefix?: string
  readonly hostname?: string
  readonly rewrites?: boolean
  /** Groups with their weights; `here` is a backend of the rule itself. */
  readonly to: Readonly<Record<string, number>>
}

function routeOf({ name, group, prefix = '/', hostname, rewrites = false, to }: Sketch): Route {
  const backends = Object.entries(to).map(([key, weight]): RouteBackend => ({
    weight,
    ref: key === 'here' ? { backend: name } : { routeGroup: key },
  }))
  return {
    key: `ns/${name}.00.x`,
    ...(group === undefined ? { listenerKey: 'l' } : { routeGroupKey: group }),
    name: { kind: 'HTTPRoute', namespace: 'ns', name },
    hostnames: hostname === undefined ? [] : [hostname],
    matches: [{ path: { pathPrefix: prefix } }],
    backends,
    ...(rewrites && { inlinePolicies: { urlRewrite: { path: { prefix: '/' } } } }),
  }
}

/** The result for a request to the first route: the names of the chain, and the prefix; or the failure. */
function follow(sketches: readonly Sketch[], path = '/a/b', compiled: string[] = []): string {
  const routes = sketches.map(routeOf)
  const groups = new RouteGroups(
    (group) => routes.filter(({ routeGroupKey }) => routeGroupKey === group),
    new HostTables(({ name, matches }) => ({ matches, order: { ...name, ruleIndex: 0 } })),
  )
  const chains = new DelegationChains(groups, (route, parents) => {
    compiled.push([...parents, route].map(({ name }) => name.name).join('>'))
    // Only its identity is compared here.
    return {} as RoutePlan
  })
  const [first] = routes
  const delegate = first === undefined ? undefined : chains.delegateOf(first)
  if (delegate === undefined) return 'itself'
  let end = ''
  for (let time = 0; time < 2; time++) {
    const found = delegate(requestOf({ path, host: 'a.example.com' }), '/parent')
    if ('failure' in found) return found.failure
    expect(found.value.plan).toBe(found.value.plan)
    end = `${found.value.key} ${found.matchedPrefix}`
  }
  return end
}

describe('delegation', () => {
  it.each<[string, readonly Sketch[], string]>([
    ['a route of its own backends', [{ name: 'p', to: { here: 1 } }], 'itself'],
    [
      'one level',
      [
        { name: 'p', to: { g: 1 } },
        { name: 'c', group: 'g', prefix: '/a', to: { here: 1 } },
      ],
      'c /a',
    ],
    [
      'the longest match of the group',
      [
        { name: 'p', to: { g: 1 } },
        { name: 'c', group: 'g', prefix: '/a', to: { here: 1 } },
        { name: 'd', group: 'g', prefix: '/a/b', to: { here: 1 } },
      ],
      'd /a/b',
    ],
    [
      'a child for the host before one for any',
      [
        { name: 'p', to: { g: 1 } },
        { name: 'c', group: 'g', prefix: '/a/b', to: { here: 1 } },
        { name: 'd', group: 'g', hostname: 'a.example.com', to: { here: 1 } },
      ],
      'd /',
    ],
    [
      'a child for another host',
      [
        { name: 'p', to: { g: 1 } },
        { name: 'c', group: 'g', hostname: 'b.example.com', to: { here: 1 } },
      ],
      'routeNotFound',
    ],
    ['an empty group', [{ name: 'p', to: { g: 1 } }], 'routeNotFound'],
    [
      'two levels',
      [
        { name: 'p', to: { g: 1 } },
        { name: 'c', group: 'g', prefix: '/a', to: { h: 1 } },
        { name: 'd', group: 'h', prefix: '/a/b', to: { here: 1 } },
      ],
      'd /a/b',
    ],
    [
      'the prefix of the level that rewrites',
      [
        { name: 'p', to: { g: 1 }, rewrites: true },
        { name: 'c', group: 'g', prefix: '/a', to: { here: 1 } },
      ],
      'c /parent',
    ],
    [
      'itself again',
      [
        { name: 'p', to: { g: 1 } },
        { name: 'p', group: 'g', to: { g: 1 } },
      ],
      'routeCycle',
    ],
    [
      'two that name each other',
      [
        { name: 'p', to: { g: 1 } },
        { name: 'c', group: 'g', to: { h: 1 } },
        { name: 'p', group: 'h', to: { g: 1 } },
      ],
      'routeCycle',
    ],
    [
      'a group of weight 0 beside one',
      [
        { name: 'p', to: { g: 0, h: 1 } },
        { name: 'c', group: 'h', to: { here: 1 } },
      ],
      'c /',
    ],
    ['only weights of 0', [{ name: 'p', to: { g: 0 } }], 'p /parent'],
  ])('%s', (_title, sketches, expected) => {
    expect(follow(sketches)).toBe(expected.replace(/^([a-z]) /, 'ns/$1.00.x '))
  })

  it('stops at a chain that is too long', () => {
    const chain = (length: number): Sketch[] => [
      { name: 'p', to: { g1: 1 } },
      ...Array.from({ length }, (_, index) => ({
        name: `c${index + 1}`,
        group: `g${index + 1}`,
        to: index + 1 === length ? { here: 1 } : { [`g${index + 2}`]: 1 },
      })),
    ]
    expect(follow(chain(16))).toBe('ns/c16.00.x /')
    expect(follow(chain(17))).toBe('routeCycle')
  })

  it('compiles a chain once, with its parents in order', () => {
    const compiled: string[] = []
    follow(
      [
        { name: 'p', to: { g: 1 } },
        { name: 'c', group: 'g', to: { h: 1 } },
        { name: 'd', group: 'h', to: { here: 1 } },
      ],
      '/',
      compiled,
    )
    expect(compiled).toEqual(['p>c>d'])
  })
})
