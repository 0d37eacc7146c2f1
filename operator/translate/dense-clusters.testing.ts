// Small clusters whose objects nearly all refer to each other, and their changes: every object has many versions, and
// each step adds, removes or replaces one. For tests of what must be computed again after a change.
import * as fc from 'fast-check'
import type { KubeObject } from './kube.ts'

const GATEWAY_GROUP = 'gateway.networking.k8s.io'
const GATEWAY_API = `${GATEWAY_GROUP}/v1`
const GW_API = 'gw.dev/v1alpha1'

/** A number selects the version: it is divided by the lengths of the lists that `pick` gets, one after the other. */
type Version = <T>(values: readonly T[]) => T

interface Entry {
  readonly kind: string
  readonly name: string
  readonly make: (pick: Version) => object
}

const TARGETS: readonly object[] = [
  { group: GATEWAY_GROUP, kind: 'HTTPRoute', name: 'r1' },
  { group: GATEWAY_GROUP, kind: 'Gateway', name: 'p' },
  { group: '', kind: 'Service', name: 'x' },
  { group: 'gw.dev', kind: 'GwBackend', name: 'm' },
  { group: GATEWAY_GROUP, kind: 'HTTPRoute', name: 'r1', sectionName: 'one' },
  { group: GATEWAY_GROUP, kind: 'GRPCRoute', name: 'g1' },
  { group: GATEWAY_GROUP, kind: 'ListenerSet', name: 's' },
  { group: GATEWAY_GROUP, kind: 'Gateway', name: 'p', sectionName: 'other' },
  { group: '', kind: 'Service', name: 'z' },
  { group: '', kind: 'Service', name: 'x', sectionName: '80' },
  { group: 'inference.networking.k8s.io', kind: 'InferencePool', name: 'i' },
]

const TEAM = { matchLabels: { team: 'blue' } }
const SELECTORS: readonly (object | undefined)[] = [
  undefined,
  undefined,
  { group: GATEWAY_GROUP, kind: 'HTTPRoute', ...TEAM },
  { group: GATEWAY_GROUP, kind: 'Gateway', ...TEAM },
]

const SETTINGS: readonly object[] = [
  { traffic: { csrf: {} } },
  { traffic: { csrf: {}, cors: {} }, backend: { auth: { secretRef: { name: 'x' } } } },
  { traffic: { extAuth: { backendRef: { name: 'z', port: 80 }, grpc: {} } } },
  { backend: { tls: {} } },
  { traffic: { extAuth: { backendRef: { name: 'x', namespace: 'b', port: 80 }, grpc: {} } } },
  { backend: { ai: { modelAliases: { a: 'b' } } } },
  { backend: { ai: { modelAliases: { c: 'd' }, routes: { '*': 'Messages' } } } },
  { traffic: { phase: 'PreRouting', csrf: {} }, backend: { auth: { secretRef: { name: 'y' } } } },
]

function policy(name: string): Entry {
  return {
    kind: 'GwPolicy',
    name,
    make: (pick) => {
      const [first, second] = [pick(TARGETS), pick([undefined, undefined, ...TARGETS])]
      const selector = pick(SELECTORS)
      return {
        apiVersion: GW_API,
        spec: {
          targetRefs: second === undefined ? [first] : [first, second],
          ...(selector !== undefined && { targetSelectors: [selector] }),
          ...pick(SETTINGS),
        },
      }
    },
  }
}

const BACKENDS: readonly object[] = [
  { name: 'x', port: 80 },
  { name: 'y', port: 80 },
  { name: 'x', port: 81 },
  { group: 'gw.dev', kind: 'GwBackend', name: 'm' },
  { name: 'x', namespace: 'b', port: 80 },
  { group: 'inference.networking.k8s.io', kind: 'InferencePool', name: 'i' },
  { group: GATEWAY_GROUP, kind: 'HTTPRoute', name: 'r3' },
]

const PARENTS: readonly (readonly object[])[] = [
  [{ name: 'p' }],
  [{ name: 'q' }],
  [{ name: 'p' }, { name: 'q' }],
  [{ name: 'p', sectionName: 'other' }],
  [{ group: GATEWAY_GROUP, kind: 'ListenerSet', name: 's' }],
  [{ group: GATEWAY_GROUP, kind: 'HTTPRoute', name: 'r1' }],
]

function route(kind: 'HTTPRoute' | 'GRPCRoute', name: string): Entry {
  return {
    kind,
    name,
    make: (pick) => ({
      apiVersion: GATEWAY_API,
      spec: {
        parentRefs: pick(kind === 'HTTPRoute' ? PARENTS : PARENTS.slice(0, 3)),
        ...pick([{}, {}, { hostnames: ['a.example.com'] }]),
        rules: [
          {
            ...pick([{ name: 'one' }, {}]),
            backendRefs: [pick(kind === 'HTTPRoute' ? BACKENDS : BACKENDS.slice(0, 3))],
          },
          ...pick([[], [{ backendRefs: [pick(BACKENDS.slice(0, 4))] }]]),
        ],
      },
    }),
  }
}

const FROM_ALL = { namespaces: { from: 'All' } }
const FROM_TEAM = { namespaces: { from: 'Selector', selector: TEAM } }

function gateway(name: string): Entry {
  return {
    kind: 'Gateway',
    name,
    make: (pick) => {
      const http = {
        name: 'http',
        port: pick([80, 80, 90]),
        protocol: 'HTTP',
        allowedRoutes: pick([FROM_ALL, FROM_ALL, FROM_TEAM]),
      }
      const certificateRefs = [{ name: pick(['x', 'y']) }]
      const other = pick([
        { name: 'other', port: 81, protocol: 'HTTP' },
        { name: 'other', port: 443, protocol: 'HTTPS', tls: { certificateRefs } },
        undefined,
      ])
      const listeners = other === undefined ? [http] : pick([false, true]) ? [other, http] : [http, other]
      const tls = pick([{}, {}, { tls: { backend: { clientCertificateRef: { name: 'x' } } } }])
      const gatewayClassName = pick(['gw', 'gw', 'gw', 'gw', 'gw', 'gw', 'gw', 'theirs'])
      return {
        apiVersion: GATEWAY_API,
        spec: { gatewayClassName, allowedListeners: FROM_ALL, listeners, ...tls },
      }
    },
  }
}

function backendTls(name: string): Entry {
  const targets = [TARGETS[2], TARGETS[3], TARGETS[10], { ...TARGETS[2], sectionName: 'http' }]
  const validation = { hostname: 'h.example.com', wellKnownCACertificates: 'System' }
  return {
    kind: 'BackendTLSPolicy',
    name,
    make: (pick) => ({ apiVersion: GATEWAY_API, spec: { targetRefs: [pick(targets)], validation } }),
  }
}

function service(name: string): Entry {
  const ports = [
    [{ name: 'http', port: 80 }],
    [
      { name: 'http', port: 80 },
      { name: 'more', port: 81 },
    ],
    [{ name: 'more', port: 81 }],
  ]
  return {
    kind: 'Service',
    name,
    make: (pick) => ({
      apiVersion: 'v1',
      spec: { ports: pick(ports), ...pick([{}, {}, { trafficDistribution: 'PreferClose' }]) },
    }),
  }
}

function endpoints(name: string): Entry {
  return {
    kind: 'EndpointSlice',
    name,
    make: (pick) => ({
      apiVersion: 'discovery.k8s.io/v1',
      labels: { 'kubernetes.io/service-name': name },
      endpoints: pick([[{ addresses: [pick(['10.0.0.1', '10.0.0.2'])], targetRef: { kind: 'Pod', name: 'pod' } }], []]),
      ports: [{ name: 'http', port: 8080 }],
    }),
  }
}

function secret(name: string): Entry {
  const make = (pick: Version): object => ({ apiVersion: 'v1', stringData: { Authorization: pick(['one', 'two']) } })
  return { kind: 'Secret', name, make }
}

const ENTRIES: readonly Entry[] = [
  gateway('p'),
  gateway('q'),
  {
    kind: 'ListenerSet',
    name: 's',
    make: (pick) => ({
      apiVersion: GATEWAY_API,
      spec: {
        parentRef: { name: pick(['p', 'q']) },
        listeners: [{ name: 'http', port: pick([82, 80]), protocol: 'HTTP', allowedRoutes: FROM_ALL }],
      },
    }),
  },
  ...['r1', 'r2', 'r3'].map((name) => route('HTTPRoute', name)),
  route('GRPCRoute', 'g1'),
  ...['x', 'y', 'z'].flatMap((name) => [service(name), endpoints(name)]),
  ...['x', 'y'].map(secret),
  {
    kind: 'GwBackend',
    name: 'm',
    make: (pick) => ({
      apiVersion: GW_API,
      spec: pick([
        { static: { host: 'h.example.com', port: 80 }, policies: { auth: { secretRef: { name: 'x' } } } },
        { mcp: { targets: [{ name: 't', static: { backendRef: { name: 'y' }, port: 80 } }] } },
        { mcp: { targets: [{ name: 't', selector: { namespaces: {} } }] } },
      ]),
    }),
  },
  {
    kind: 'InferencePool',
    name: 'i',
    make: (pick) => ({
      apiVersion: 'inference.networking.k8s.io/v1',
      spec: {
        selector: { matchLabels: { app: 'a' } },
        targetPorts: [{ number: 8000 }],
        endpointPickerRef: { name: pick(['z', 'x']), port: { number: 80 }, failureMode: 'FailOpen' },
      },
    }),
  },
  ...['p1', 'p2', 'p3', 'p4', 'p5'].map(policy),
  ...['t1', 't2'].map(backendTls),
  { kind: 'Namespace', name: 'a', make: () => ({ apiVersion: 'v1' }) },
  {
    kind: 'ReferenceGrant',
    name: 'grant',
    make: (pick) => ({
      apiVersion: GATEWAY_API,
      namespace: 'b',
      spec: {
        from: [
          pick([
            { group: GATEWAY_GROUP, kind: 'HTTPRoute' },
            { group: 'gw.dev', kind: 'GwPolicy' },
          ]),
        ].map((one) => ({ ...one, namespace: 'a' })),
        to: [{ group: '', kind: 'Service' }],
      },
    }),
  },
]

const FIXED: readonly object[] = [
  {
    apiVersion: GATEWAY_API,
    kind: 'GatewayClass',
    metadata: { name: 'gw' },
    spec: { controllerName: 'gw.dev/controller' },
  },
  { apiVersion: GATEWAY_API, kind: 'GatewayClass', metadata: { name: 'theirs' }, spec: { controllerName: 'e.com/c' } },
  { apiVersion: 'v1', kind: 'Service', metadata: { name: 'x', namespace: 'b' }, spec: { ports: [{ port: 80 }] } },
]

/** Below the product of all versions of an object, but more than any list has. */
const VERSIONS = 1_000_000

function version({ kind, name, make }: Entry, number: number): object {
  let rest = number
  const pick: Version = (values) => {
    const value = values[rest % values.length]
    rest = Math.floor(rest / values.length)
    // The place is inside the list.
    return value as (typeof values)[number]
  }
  const labels = pick([{ team: 'blue' }, { team: 'red' }])
  const annotations = pick([{}, { edited: 'yes' }])
  const { labels: own, namespace = 'a', ...object } = make(pick) as { labels?: object; namespace?: string }
  const place = kind === 'Namespace' ? {} : { namespace }
  const creationTimestamp = `2026-01-0${1 + ((name.length + name.charCodeAt(name.length - 1)) % 3)}T00:00:00Z`
  const generation = 1 + (number % 3)
  return {
    kind,
    ...object,
    metadata: { name, ...place, creationTimestamp, generation, annotations, labels: { ...labels, ...own } },
  }
}

/** A cluster and its changes: each step has one object more, less, or in another version than the previous one. */
export function denseHistories(stepsMax: number): fc.Arbitrary<readonly (readonly KubeObject[])[]> {
  const number = fc.nat({ max: VERSIONS })
  const edit = fc.tuple(fc.nat({ max: ENTRIES.length - 1 }), number, fc.integer({ min: 1, max: 6 }))
  const start = fc.tuple(...ENTRIES.map(() => number))
  return fc.tuple(start, fc.array(edit, { maxLength: stepsMax })).map(([first, edits]) => {
    let now: readonly (object | undefined)[] = ENTRIES.map((entry, at) => version(entry, first[at] ?? 0))
    const steps = [now]
    for (const [place, to, turn] of edits) {
      const entry = ENTRIES[place]
      if (entry === undefined) continue
      const isGone = turn === 1 && now[place] !== undefined
      now = now.with(place, isGone ? undefined : version(entry, to))
      steps.push(now)
    }
    // Manifests of the kinds.
    return steps.map((objects) => [...FIXED, ...objects.filter((one) => one !== undefined)] as readonly KubeObject[])
  })
}
