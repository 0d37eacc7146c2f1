// What a Gateway that is full says and serves, and that the work for many policies on many routes is shared.
import { describe, expect, it } from 'vitest'
import type { RouteBody, PolicyBody } from './object-status.ts'
import type { GatewayCaps } from './caps.ts'
import type { KubeObject } from './kube.ts'
import { snapshotOf } from './snapshot.ts'
import { translate } from './cluster/translate.ts'
import type { Translation } from './translation.ts'

const ROOMY: GatewayCaps = { listenersMax: 1000, routeRulesMax: 1000, policyTargetsMax: 1000 }
const SETTINGS = { controllerName: 'gw.dev/controller', className: 'gw', clusterDomain: 'cluster.local' }
const GATEWAY_API = 'gateway.networking.k8s.io/v1'
const FROM_ALL = { namespaces: { from: 'All' } }

function translated(objects: readonly unknown[], caps: Partial<GatewayCaps> = {}): Translation {
  const all = [
    {
      apiVersion: GATEWAY_API,
      kind: 'GatewayClass',
      metadata: { name: 'gw' },
      spec: { controllerName: 'gw.dev/controller' },
    },
    {
      apiVersion: GATEWAY_API,
      kind: 'Gateway',
      metadata: metadata('edge', 'infra', 0),
      spec: {
        gatewayClassName: 'gw',
        allowedListeners: FROM_ALL,
        listeners: [{ name: 'http', port: 80, protocol: 'HTTP', allowedRoutes: FROM_ALL }],
      },
    },
    ...objects,
  ]
  // The literals of this file have the shape of their kinds.
  return translate(snapshotOf(all as KubeObject[]), { ...SETTINGS, caps: { ...ROOMY, ...caps } })
}

function metadata(name: string, namespace: string, age: number, labels = {}) {
  return { name, namespace, generation: 1, creationTimestamp: new Date(age * 1000).toISOString(), labels }
}

const HTTP_ROUTE = { group: 'gateway.networking.k8s.io', kind: 'HTTPRoute' }
const EDGE = { name: 'edge', namespace: 'infra' }

function routeOf(name: string, namespace: string, age: number, spec: object = {}): unknown {
  const rules = [{ matches: [{ path: { type: 'PathPrefix', value: `/${name}` } }] }]
  return {
    apiVersion: GATEWAY_API,
    kind: 'HTTPRoute',
    metadata: metadata(name, namespace, age, { app: 'many' }),
    spec: { parentRefs: [EDGE], rules, ...spec },
  }
}

function policyOf(name: string, namespace: string, age: number, traffic: object): unknown {
  return {
    apiVersion: 'gw.dev/v1alpha1',
    kind: 'GwPolicy',
    metadata: metadata(name, namespace, age),
    spec: {
      targetSelectors: [{ ...HTTP_ROUTE, matchLabels: { app: 'many' } }],
      traffic,
    },
  }
}

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at))

/** `name: reason` of the Accepted condition at the only parent. */
function accepted(result: Translation): string[] {
  return result.statuses.flatMap(({ kind, name, status }) => {
    if (kind !== 'HTTPRoute') return []
    // Statuses of routes have this body.
    const [parent] = (status as RouteBody).parents
    return [`${name}: ${parent?.conditions.find(({ type }) => type === 'Accepted')?.reason ?? ''}`]
  })
}

function configOf(result: Translation) {
  const config = result.perGateway.get('infra/edge')?.config
  if (config === undefined) throw new Error('the Gateway is missing')
  return config
}

describe('route rules of a Gateway', () => {
  it('are all served at the cap; above it the newest routes of the largest namespace are left out', () => {
    const routes = [...times(5, (at) => routeOf(`noisy-${at}`, 'noisy', at)), routeOf('quiet', 'quiet', 9)]
    expect(configOf(translated(routes, { routeRulesMax: 6 })).routes).toHaveLength(6)
    const full = translated(routes, { routeRulesMax: 4 })
    expect(accepted(full)).toEqual([
      'noisy-0: Accepted',
      'noisy-1: Accepted',
      'noisy-2: Accepted',
      'noisy-3: TooManyRoutes',
      'noisy-4: TooManyRoutes',
      'quiet: Accepted',
    ])
    expect(configOf(full).routes.map(({ key }) => key.split('.')[0])).toEqual([
      'noisy/noisy-0',
      'noisy/noisy-1',
      'noisy/noisy-2',
      'quiet/quiet',
    ])
    expect(full.problems.filter(({ reason }) => reason === 'TooManyRoutes')).toHaveLength(2)
    expect(full.problems[0]?.message).toContain('GW_GATEWAY_ROUTE_RULES_MAX')
  })

  it('count once for each listener, and are not rendered above the cap', () => {
    const sets = times(4, (at) => ({
      apiVersion: GATEWAY_API,
      kind: 'ListenerSet',
      metadata: metadata(`set-${at}`, 'noisy', at),
      spec: {
        parentRef: EDGE,
        listeners: times(8, (one) => ({ name: `l${one}`, port: 80, protocol: 'HTTP', hostname: `h${at}-${one}.test` })),
      },
    }))
    const parentRefs = times(4, (at) => ({ kind: 'ListenerSet', name: `set-${at}` }))
    const routes = times(10, (at) => routeOf(`r${at}`, 'noisy', at, { parentRefs }))
    const full = translated([...sets, ...routes], { routeRulesMax: 100 })
    expect(configOf(full).routes).toHaveLength(96)
    expect(accepted(full).filter((line) => line.endsWith('TooManyRoutes'))).toHaveLength(7)
    const counts = full.statuses
      .filter(({ kind }) => kind === 'ListenerSet')
      .map(({ status }) => JSON.stringify(status))
    expect(counts.every((text) => text.includes('"attachedRoutes":3'))).toBe(true)
  })

  it('of routes that others delegate to have the same cap, and the parent reports it', () => {
    const parents = times(5, (at) =>
      routeOf(`p${at}`, 'noisy', at, {
        rules: [{ backendRefs: ['child0', 'child1'].map((name) => ({ ...HTTP_ROUTE, name })) }],
      }),
    )
    const children = times(2, (at) => routeOf(`child${at}`, 'noisy', at, { parentRefs: [] }))
    const cut = translated([...children, ...parents], { routeRulesMax: 6 })
    expect(configOf(cut).routes).toHaveLength(11)
    const reported = cut.problems.filter(({ reason }) => reason === 'TooManyRoutes')
    expect(reported.map(({ object: { name }, path }) => `${name} ${path}`)).toEqual(['p3 spec.rules', 'p4 spec.rules'])
  })
})

describe('listeners of a Gateway', () => {
  it('of ListenerSets share the places that its own listeners leave free', () => {
    const set = (name: string, namespace: string, count: number) => ({
      apiVersion: GATEWAY_API,
      kind: 'ListenerSet',
      metadata: metadata(name, namespace, 0),
      spec: {
        parentRef: EDGE,
        listeners: times(count, (at) => ({
          name: `l${at}`,
          port: 80,
          protocol: 'HTTP',
          hostname: `${name}-${at}.test`,
        })),
      },
    })
    const full = translated([set('large', 'noisy', 10), set('small', 'quiet', 2)], { listenersMax: 6 })
    expect(configOf(full).listeners.map(({ key }) => key)).toEqual([
      'infra/edge.http',
      'noisy/large.l0',
      'noisy/large.l1',
      'noisy/large.l2',
      'quiet/small.l0',
      'quiet/small.l1',
    ])
    expect(full.problems.filter(({ reason }) => reason === 'TooManyListeners')).toHaveLength(7)
  })
})

describe('policies on many targets', () => {
  const routes = times(100, (at) => routeOf(`r${at}`, 'shop', at))

  it('are rendered in groups that share the payload, and a new route changes one group', () => {
    const csrf = policyOf('csrf', 'shop', 0, { csrf: {} })
    const { policies } = configOf(translated([...routes, csrf]))
    expect(policies.length).toBeLessThanOrEqual(4)
    expect(policies.flatMap(({ target }) => target.several ?? [])).toHaveLength(100)
    const more = configOf(translated([...routes, csrf, routeOf('new', 'shop', 999)])).policies
    const before = new Set(policies.map((one) => JSON.stringify(one)))
    expect(more.filter((one) => !before.has(JSON.stringify(one)))).toHaveLength(1)
  })

  it('are rendered one by one when there are few', () => {
    const { policies } = configOf(translated([...routes.slice(0, 16), policyOf('csrf', 'shop', 0, { csrf: {} })]))
    expect(policies.map(({ target }) => target.route?.name)).toHaveLength(16)
    expect(policies.every(({ target }) => target.several === undefined)).toBe(true)
  })

  it('beyond the cap do not count; where they would guard traffic, it is refused, once for each target', () => {
    const deny = { authorization: { action: 'Deny', policy: { matchExpressions: ['request.path == "/x"'] } } }
    const objects = [
      ...routes,
      policyOf('first', 'shop', 0, deny),
      policyOf('second', 'shop', 1, deny),
      policyOf('third', 'shop', 2, deny),
      policyOf('delay', 'shop', 3, { delay: { duration: '1s' } }),
    ]
    const full = translated(objects, { policyTargetsMax: 150 })
    const { policies } = configOf(full)
    const targetsOf = (section: string): number =>
      policies
        .filter(({ policy }) => section in (policy.traffic ?? {}))
        .flatMap(({ target }) => target.several ?? [target]).length
    expect([targetsOf('authorization'), targetsOf('deny'), targetsOf('delay')]).toEqual([100, 100, 0])
    const attached = full.statuses.flatMap(({ kind, name, status }) => {
      if (kind !== 'GwPolicy') return []
      // Statuses of policies have this body.
      const [ancestor] = (status as PolicyBody).ancestors
      return [`${name}: ${ancestor?.conditions.find(({ type }) => type === 'Attached')?.reason ?? ''}`]
    })
    expect(attached).toEqual([
      'delay: TooManyTargets',
      'first: Attached',
      'second: TooManyTargets',
      'third: TooManyTargets',
    ])
    expect(full.problems.find(({ reason }) => reason === 'TooManyTargets')?.message).toContain(
      'GW_GATEWAY_POLICY_TARGETS_MAX',
    )
  })

  it('beyond the cap of two Gateways for two policies: refused at each for the policy that is missing there', () => {
    const other = { name: 'other', namespace: 'infra' }
    const gateway = {
      apiVersion: GATEWAY_API,
      kind: 'Gateway',
      metadata: metadata('other', 'infra', 0),
      spec: {
        gatewayClassName: 'gw',
        listeners: [{ name: 'http', port: 80, protocol: 'HTTP', allowedRoutes: FROM_ALL }],
      },
    }
    const guarding = (name: string, age: number, targets: readonly string[]) => ({
      apiVersion: 'gw.dev/v1alpha1',
      kind: 'GwPolicy',
      metadata: metadata(name, 'shop', age),
      spec: {
        targetRefs: targets.map((target) => ({ ...HTTP_ROUTE, name: target })),
        traffic: { authorization: { action: 'Deny', policy: { matchExpressions: [`request.path == "/${name}"`] } } },
      },
    })
    const { perGateway } = translated(
      [
        gateway,
        routeOf('both', 'shop', 0, { parentRefs: [EDGE, other] }),
        routeOf('left', 'shop', 1),
        routeOf('right', 'shop', 2, { parentRefs: [other] }),
        guarding('first', 3, ['both', 'left']),
        guarding('second', 4, ['both', 'right']),
      ],
      { policyTargetsMax: 1 },
    )
    const guardsAt = (key: string): string[] =>
      (perGateway.get(key)?.config.policies ?? []).map(
        ({ name, target, policy }) =>
          `${name?.name} ${target.route?.name}: ${Object.keys(policy.traffic ?? {}).join()}`,
      )
    expect(guardsAt('infra/edge')).toEqual(['first both: deny', 'first left: deny', 'second both: authorization'])
    expect(guardsAt('infra/other')).toEqual(['first both: authorization', 'second both: deny', 'second right: deny'])
  })
})
