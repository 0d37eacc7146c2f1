// A translator that has seen any history gives what a fresh one gives, and what did not change keeps its identity.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '#test/run/runs.ts'
import type { KubeObject } from '../kube.ts'
import { createSnapshotter, snapshotOf } from '../snapshot.ts'
import { clusters } from '../clusters.testing.ts'
import { translate } from './translate.ts'
import { DEFAULT_CAPS } from '../caps.ts'
import { bothResults, listsOf, nameOf, plain, SETTINGS } from './translations.testing.ts'
import { createTranslator } from './translator.ts'

/**
 * One object after the other is changed a little, goes, or comes back: what a cluster does all day.
 */
const days = fc.array(fc.tuple(fc.nat(), fc.nat({ max: 9 })), { maxLength: 16 }).map((edits) => {
  const steps: (readonly KubeObject[])[] = [EVERYDAY]
  for (const [number, turn] of edits) {
    const now = new Map((steps.at(-1) ?? []).map((object) => [nameOf(object), object]))
    const object = EVERYDAY[number % EVERYDAY.length]
    const known = object && now.get(nameOf(object))
    if (object === undefined) continue
    if (known === undefined) now.set(nameOf(object), object)
    else if (turn > 7) now.delete(nameOf(object))
    else now.set(nameOf(object), altered(known, turn))
    steps.push([...now.values()])
  }
  return steps
})

const GATEWAY_GROUP = 'gateway.networking.k8s.io'
const GATEWAY_API = `${GATEWAY_GROUP}/v1`

function named(name: string, labels: Readonly<Record<string, string>> = {}) {
  return { name, namespace: 'a', creationTimestamp: '2026-01-01T00:00:00Z', generation: 1, labels }
}

function listenerFor(gateway: string): object {
  const from = gateway === 'r' ? { from: 'Selector', selector: { matchLabels: { team: 'blue' } } } : { from: 'All' }
  return { name: 'http', port: 80, protocol: 'HTTP', allowedRoutes: { namespaces: from } }
}

/** Gateways, and what hangs on them, in the form that `altered` changes. */
const OF_GATEWAYS = ['p', 'q', 'r'].flatMap((name): object[] => [
  {
    apiVersion: GATEWAY_API,
    kind: 'Gateway',
    metadata: named(name),
    spec: { gatewayClassName: 'gw', listeners: [listenerFor(name)] },
  },
  {
    apiVersion: GATEWAY_API,
    kind: 'HTTPRoute',
    metadata: named(name),
    spec: { parentRefs: [{ name: 'p' }], rules: [{ name: 'one', backendRefs: [{ name, port: 80 }] }] },
  },
  {
    apiVersion: GATEWAY_API,
    kind: 'GRPCRoute',
    metadata: named(name),
    spec: { parentRefs: [{ name: 'q' }], rules: [{ backendRefs: [{ name: 'p', namespace: 'b', port: 80 }] }] },
  },
  { apiVersion: 'v1', kind: 'Service', metadata: named(name), spec: { ports: [{ name: 'http', port: 80 }] } },
  {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: named(name, { 'kubernetes.io/service-name': name }),
    endpoints: [{ addresses: ['10.9.0.1'], targetRef: { kind: 'Pod', name: 'pod' } }],
    ports: [{ name: 'http', port: 8080 }],
  },
  {
    apiVersion: 'gw.dev/v1alpha1',
    kind: 'GwPolicy',
    metadata: named(name),
    spec: {
      targetRefs: [{ group: GATEWAY_GROUP, kind: 'HTTPRoute', name }],
      traffic: { extAuth: { backendRef: { name: 'r', port: 80 }, grpc: {} } },
    },
  },
])

// Manifests of the kinds.
const EVERYDAY = [
  {
    apiVersion: GATEWAY_API,
    kind: 'GatewayClass',
    metadata: { name: 'gw' },
    spec: { controllerName: SETTINGS.controllerName },
  },
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a' } },
  { apiVersion: 'v1', kind: 'Service', metadata: { name: 'p', namespace: 'b' }, spec: { ports: [{ port: 80 }] } },
  {
    apiVersion: GATEWAY_API,
    kind: 'ReferenceGrant',
    metadata: { name: 'g', namespace: 'b' },
    spec: {
      from: [{ group: GATEWAY_GROUP, kind: 'GRPCRoute', namespace: 'a' }],
      to: [{ group: '', kind: 'Service' }],
    },
  },
  ...OF_GATEWAYS,
] as readonly KubeObject[]

/** Another version of the object: `turn` says what is different in it. */
function altered(object: KubeObject, turn: number): KubeObject {
  const { metadata } = object
  const generation = (metadata.generation ?? 0) + 1
  const other = ['p', 'q', 'r'][turn % 3] ?? 'p'
  const labels = { ...metadata.labels, turn: String(turn) }
  if (turn === 1) return { ...object, metadata: { ...metadata, labels } }
  // Above are all kinds that have a form of their own here.
  const changes: Readonly<Record<string, object>> = {
    HTTPRoute: {
      spec: {
        parentRefs: [{ name: turn < 5 ? 'p' : other }],
        // Another Service, another one besides, other rules, or a route that hands on to others.
        rules: Array.from({ length: turn % 4 }, (_, rule) => ({
          ...(rule === 0 && { name: turn === 2 ? 'one' : 'two' }),
          backendRefs: [
            turn === 7 ? { group: GATEWAY_GROUP, kind: 'HTTPRoute', name: other } : { name: other, port: 80 + rule },
          ],
        })),
      },
    },
    GRPCRoute: { spec: { parentRefs: [{ name: other }], rules: [{ backendRefs: [{ name: other, port: 80 }] }] } },
    Service: {
      spec: {
        ports: [{ name: 'http', port: 79 + (turn % 3) }],
        ...(turn > 5 && { trafficDistribution: 'PreferClose' }),
      },
    },
    EndpointSlice: {
      metadata: { ...metadata, labels: { 'kubernetes.io/service-name': turn < 5 ? metadata.name : other } },
      endpoints: Array.from({ length: turn % 3 }, (_, at) => ({
        addresses: [`10.9.1.${at + turn}`],
        ...(at === 0 && { targetRef: { kind: 'Pod', name: 'pod' } }),
        conditions: { ready: turn !== 4 },
      })),
    },
    GwPolicy: {
      spec: {
        targetRefs: [
          {
            group: GATEWAY_GROUP,
            kind: 'HTTPRoute',
            name: other,
            ...(turn > 4 && { sectionName: 'one' }),
          },
        ],
        traffic: turn % 2 === 0 ? { csrf: {} } : { extAuth: { backendRef: { name: other, port: 80 }, grpc: {} } },
      },
    },
    Namespace: { metadata: { ...metadata, labels: turn % 2 === 0 ? { team: 'blue' } : { team: 'red' } } },
  }
  return { ...object, metadata: { ...metadata, generation }, ...changes[object.kind] }
}

/** Objects of the first cluster, some of which give way to the one of that name in the second, or go, or come. */
const histories = fc
  .tuple(clusters({ hasGrants: true }), clusters({ hasGrants: true }), fc.array(fc.array(fc.nat()), { maxLength: 6 }))
  .map(([first, second, edits]) => {
    const other = new Map(second.map((object) => [nameOf(object), object]))
    const steps: (readonly KubeObject[])[] = [first]
    for (const edit of edits) {
      const now = new Map((steps.at(-1) ?? []).map((object) => [nameOf(object), object]))
      for (const number of edit) {
        const names = [...new Set([...now.keys(), ...other.keys()])]
        const name = names[number % names.length] ?? ''
        const replacement = other.get(name)
        if (number % 3 === 0 || replacement === undefined) now.delete(name)
        else now.set(name, number % 3 === 1 ? replacement : { ...replacement })
      }
      steps.push([...now.values()])
    }
    return steps
  })

const modes = fc.constantFrom('route-and-policy', 'route', 'none')
/** Most Gateways of the random clusters hold more than the second ones allow. */
const capsOfGateways = fc.constantFrom(DEFAULT_CAPS, { listenersMax: 3, routeRulesMax: 3, policyTargetsMax: 2 })

describe('createTranslator', () => {
  it('returns the result of a fresh translation, whatever was translated before', () => {
    fc.assert(
      fc.property(histories, modes, capsOfGateways, (steps, backendRefGrantMode, caps) => {
        const settings = { ...SETTINGS, backendRefGrantMode, caps } as const
        const [snapshot, ofLists] = [createSnapshotter(), createSnapshotter()]
        const [translator, other] = [createTranslator(settings), createTranslator(settings)]
        for (const objects of steps) {
          const fresh = plain(translate(snapshotOf(objects), settings))
          expect(plain(translator.translate(snapshot(objects)))).toEqual(fresh)
          // As the operator does.
          expect(plain(other.translate(ofLists(...listsOf(objects))))).toEqual(fresh)
        }
      }),
      { numRuns: runs(300) },
    )
  })

  it('returns the result of a fresh translation after each small change', () => {
    fc.assert(
      fc.property(days, (steps) => {
        const { carriedOn, fresh } = bothResults(steps)
        expect(carriedOn).toEqual(fresh)
      }),
      { numRuns: runs(200) },
    )
  })

  it('returns the same objects for an equal cluster', () => {
    fc.assert(
      fc.property(clusters({ hasGrants: true }), (objects) => {
        const translator = createTranslator(SETTINGS)
        const before = translator.translate(snapshotOf(objects))
        // Every object is another one, with the same content.
        const after = translator.translate(snapshotOf(structuredClone([...objects])))
        for (const [index, status] of after.statuses.entries()) expect(status).toBe(before.statuses[index])
        for (const [key, { config, secrets }] of after.perGateway) {
          const old = before.perGateway.get(key)
          expect(config.binds).toBe(old?.config.binds)
          expect(config.listeners).toBe(old?.config.listeners)
          expect(config.policies).toBe(old?.config.policies)
          expect(config.backends).toBe(old?.config.backends)
          expect(secrets).toBe(old?.secrets)
        }
        const again = translator.translate(snapshotOf(objects))
        const third = translator.translate(snapshotOf(objects))
        for (const [key, rendered] of third.perGateway) expect(rendered).toBe(again.perGateway.get(key))
      }),
      { numRuns: runs(100) },
    )
  })

  it('keeps the objects of the other routes and Gateways', () => {
    const metadata = (name: string) => ({ name, namespace: 'a', generation: 1 })
    const apiVersion = GATEWAY_API
    const route = (name: string, host: string, gateway: string) => ({
      apiVersion,
      kind: 'HTTPRoute',
      metadata: metadata(name),
      spec: { parentRefs: [{ name: gateway }], hostnames: [host], rules: [{}] },
    })
    const gateway = (name: string) => ({
      apiVersion,
      kind: 'Gateway',
      metadata: metadata(name),
      spec: { gatewayClassName: 'gw', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
    })
    const gatewayClass = {
      apiVersion,
      kind: 'GatewayClass',
      metadata: { name: 'gw' },
      spec: { controllerName: SETTINGS.controllerName },
    }
    const base = [gatewayClass, gateway('x'), gateway('y'), route('p', 'p.example.com', 'x')]
    const translator = createTranslator(SETTINGS)
    const first = translator.translate(snapshotOf([...base, route('q', 'q.example.com', 'x')]))
    const second = translator.translate(snapshotOf([...base, route('q', 'other.example.com', 'x')]))
    expect(second.perGateway.get('a/y')).toBe(first.perGateway.get('a/y'))
    const [p, q] = second.perGateway.get('a/x')?.config.routes ?? []
    expect(p).toBe(first.perGateway.get('a/x')?.config.routes[0])
    expect(q?.hostnames).toEqual(['other.example.com'])
    expect(second.perGateway.get('a/x')?.config.listeners).toBe(first.perGateway.get('a/x')?.config.listeners)
    expect(second.perGateway.get('a/x')?.secrets).toBe(first.perGateway.get('a/x')?.secrets)
  })
})
