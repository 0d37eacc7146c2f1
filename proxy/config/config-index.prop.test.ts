// For all sequences of configurations, an updated index equals a new one: routes are added, removed and moved
// between listeners, hosts and groups, policies are attached elsewhere, and backends, endpoints, secrets change.
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { emptyConfig } from '#api/ir/empty.ts'
import { runAll } from '#api/incremental/steps.ts'
import { keepItems } from '#api/ir/keep-items.ts'
import type { Policy, RenderedConfig, RenderedSecrets, Route, TrafficPayload } from '#api/ir/types.gen.ts'
import { runs } from '#test/run/runs.ts'
import { SharedRateLimits } from '../policy/limits/shared-rate-limits.ts'
import { requestOf } from '../route/request.testing.ts'
import { buildRouter, HostTables, routerOf } from '../route/router.ts'
import { ConfigIndex } from './config-index.ts'

const LISTENERS = ['l', 'm']
const HOSTS = ['a.x.com', 'b.x.com', '*.x.com', '*.y.com', '*']
const GROUPS = ['g', 'h']
const NAMES = Array.from({ length: 9 }, (_, at) => `r${at}`)

const inline: fc.Arbitrary<TrafficPayload | undefined> = fc.constantFrom(
  undefined,
  undefined,
  { basicAuthentication: { mode: 'Strict', realm: 'r', users: { secret: 's' } } },
  { rateLimit: { limits: [{ unit: 'Requests', tokensPerFill: 1, fillIntervalMs: 1000, tokensMax: 5 }] } },
)
const route: fc.Arbitrary<Route> = fc
  .record({
    name: fc.constantFrom(...NAMES),
    place: fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...LISTENERS).map((listenerKey) => ({ listenerKey })) },
      { weight: 1, arbitrary: fc.constantFrom(...GROUPS).map((routeGroupKey) => ({ routeGroupKey })) },
    ),
    hostnames: fc.subarray(HOSTS, { maxLength: 2 }),
    path: fc.constantFrom('/', '/p', '/p/q'),
    createdAt: fc.constantFrom(1, 2),
    inlinePolicies: inline,
    backend: fc.constantFrom('k', 'k2'),
  })
  .map(({ name, place, path, inlinePolicies, backend, ...rest }) => ({
    ...rest,
    ...place,
    key: `ns/${name}.00.x`,
    name: { kind: 'HTTPRoute', namespace: 'ns', name },
    matches: [{ path: { pathPrefix: path } }],
    backends: [{ weight: 1, ref: { backend } }],
    ...(inlinePolicies && { inlinePolicies }),
  }))
const policy: fc.Arbitrary<Policy> = fc
  .record({ at: fc.nat(4), target: fc.constantFrom(...NAMES.slice(0, 3)), traffic: inline })
  .map(({ at, target, traffic = {} }) => ({
    key: `p${at}`,
    name: { kind: 'GwPolicy', namespace: 'ns', name: `p${at}` },
    target: { route: { kind: 'HTTPRoute', namespace: 'ns', name: target } },
    policy: { traffic },
  }))
const backend = fc.record({
  key: fc.constantFrom('k', 'k2'),
  name: fc.constant({ namespace: 'ns', name: 'k' }),
  static: fc.record({ host: fc.constantFrom('h', 'i'), port: fc.constant(80) }),
})
const secrets: fc.Arbitrary<RenderedSecrets> = fc
  .constantFrom('one', 'two')
  .map((value) => ({ version: 1, secrets: [{ key: 's', value }] }))
const byKey = { selector: ({ key }: { readonly key: string }) => key }
const lists = fc.record({
  routes: fc.uniqueArray(route, byKey),
  policies: fc.uniqueArray(policy, byKey),
  backends: fc.uniqueArray(backend, byKey),
})
/** Some in any order, most sorted by key, as the operator writes them. */
const config: fc.Arbitrary<RenderedConfig> = fc.tuple(lists, fc.boolean()).map(([read, isSorted]) => {
  const order = (a: Route, b: Route): number => (a.key < b.key ? -1 : 1)
  return { ...emptyConfig(), ...read, routes: isSorted ? read.routes.toSorted(order) : read.routes }
})

const kept = new HostTables<Route>(ruleOf)

function ruleOf({ matches, createdAt, name: { namespace, name } }: Route): Parameters<typeof buildRouter>[0][number] {
  return { hostnames: [], matches, order: { createdAt, namespace, name, ruleIndex: 0 }, value: undefined }
}

function all(index: ConfigIndex): unknown {
  return {
    hosts: LISTENERS.map((listener) => ['', ...HOSTS].map((host) => index.routes.at(listener).at(host))),
    wildcards: LISTENERS.map((listener) => new Set(index.routes.at(listener).wildcards)),
    groups: GROUPS.map((group) => index.routes.group(group)),
    policies: NAMES.map((name) => index.policies.at(`HTTPRoute ns ${name}`)),
    carriers: [index.carriers.policies, index.carriers.routes, index.carriers.backends],
    backends: ['k', 'k2'].map((key) => index.targets.backend(key)),
    secret: index.secret({ secret: 's' }),
  }
}

/** By a router whose tables are reused over configurations, and by one that is new. */
function found({ routes }: RenderedConfig, index: ConfigIndex): { kept: unknown[]; fresh: unknown[] } {
  const requests = ['a.x.com', 'b.x.com', 'c.x.com', 'c.y.com', 'z.org'].flatMap((host) =>
    ['/', '/p', '/p/q'].map((path) => requestOf({ host, path })),
  )
  const routers = LISTENERS.map((listener) => ({
    one: routerOf(index.routes.at(listener), kept, ({ key }) => key),
    two: buildRouter(
      routes
        .filter(({ listenerKey }) => listenerKey === listener)
        .map((item) => ({ ...ruleOf(item), hostnames: item.hostnames, value: item.key })),
    ),
  }))
  return {
    kept: routers.flatMap(({ one }) => requests.map((request) => one.find(request))),
    fresh: routers.flatMap(({ two }) => requests.map((request) => two.find(request))),
  }
}

it('an updated index equals a new one, and the previous one is unchanged', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(config, secrets), { minLength: 1, maxLength: 6 }), (rounds) => {
      let last: RenderedConfig = emptyConfig()
      let index = runAll(ConfigIndex.stepsOf(last, { version: 1, secrets: [] }))
      let limits = SharedRateLimits.of(last)
      for (const [read, secret] of rounds) {
        const now = keepItems(last, read)
        const before = all(index)
        const next = runAll(ConfigIndex.stepsOf(now, secret, index))
        expect(all(next)).toEqual(all(runAll(ConfigIndex.stepsOf(now, secret))))
        expect(all(index)).toEqual(before)
        const routed = found(now, next)
        expect(routed.kept).toEqual(routed.fresh)
        const limitsNow = limits.after(now)
        const keys = (of: SharedRateLimits): string[] => [...of.shared.slots.entries()].map(([key]) => key).toSorted()
        expect(keys(limitsNow)).toEqual(keys(SharedRateLimits.of(now)))
        index = next
        limits = limitsNow
        last = now
      }
    }),
    { numRuns: runs(200) },
  )
})
