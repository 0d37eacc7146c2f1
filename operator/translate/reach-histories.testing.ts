// Clusters in which routes, backends and policies lead to Services and to each other, also in circles, and their
// changes: references move, and objects come, go and come back. For tests of what is updated after a change.
import * as fc from 'fast-check'
import type { KubeObject } from './kube.ts'

const GROUP = 'gateway.networking.k8s.io'
const GATEWAY_API = `${GROUP}/v1`
const GW_API = 'gw.dev/v1alpha1'

type Objects = readonly KubeObject[]

interface Reference {
  readonly group?: string
  readonly kind?: string
  readonly name: string
  readonly namespace?: string
  readonly port?: number
}

const service = (name: string, port = 80): Reference => ({ name, port })
const backend = (name: string): Reference => ({ group: 'gw.dev', kind: 'GwBackend', name })

const SERVICES = ['s0', 's1', 's2', 's3', 's4']
const BACKENDS = ['b0', 'b1', 'b2', 'b3']
const GATEWAYS = ['g0', 'g1']
const ROUTES = ['r0', 'r1', 'r2', 'r3']

/** Some name an object that is not there, or in a namespace that needs a grant. */
const REFERENCES: readonly Reference[] = [
  ...SERVICES.map((name) => service(name)),
  service('s0', 81),
  service('absent'),
  { ...service('s0'), namespace: 'b' },
  ...BACKENDS.map(backend),
]

const reference = fc.constantFrom(...REFERENCES)

/** One version of an object of each kind, but for its metadata. */
const CONTENTS: Readonly<Record<string, fc.Arbitrary<object>>> = {
  Gateway: fc.constantFrom(['http'], ['http', 'other'], ['other', 'http']).map((names) => ({
    spec: {
      gatewayClassName: 'gw',
      listeners: names.map((name) => ({ name, port: name === 'http' ? 80 : 81, protocol: 'HTTP' })),
    },
  })),
  HTTPRoute: fc
    .record({
      gateways: fc.subarray(GATEWAYS, { minLength: 1 }),
      sectionName: fc.constantFrom(undefined, undefined, 'http', 'other'),
      rules: fc.array(fc.array(reference, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 2 }),
      mirror: fc.constantFrom(undefined, undefined, 's3', 's4'),
    })
    .map(({ gateways, sectionName, rules, mirror }) => ({
      spec: {
        parentRefs: gateways.map((name) => ({ name, ...(sectionName !== undefined && { sectionName }) })),
        rules: rules.map((backendRefs) => ({
          backendRefs,
          ...(mirror !== undefined && {
            filters: [{ type: 'RequestMirror', requestMirror: { backendRef: service(mirror) } }],
          }),
        })),
      },
    })),
  Service: fc.constantFrom([80], [80, 81], [81]).map((ports) => ({
    spec: { ports: ports.map((port) => ({ name: `p${port}`, port })) },
  })),
  GwBackend: fc.oneof(
    reference.map((backendRef) => ({
      spec: {
        static: { host: 'h.example.com', port: 80 },
        policies: { auth: { secretRef: { name: 'key' } }, extAuth: { backendRef, grpc: {} } },
      },
    })),
    fc.constantFrom(...SERVICES).map((name) => ({
      spec: { mcp: { targets: [{ name: 't', static: { backendRef: { name }, port: 80 } }] } },
    })),
  ),
  GwPolicy: fc.oneof(
    fc.record({ targets: targetsOf(GROUP, 'HTTPRoute', ROUTES), backendRef: reference }).map(ofTraffic),
    fc.record({ targets: targetsOf(GROUP, 'Gateway', GATEWAYS), backendRef: reference }).map(ofTraffic),
    fc.record({ targets: targetsOf('', 'Service', SERVICES), backendRef: reference }).map(ofBackend),
    fc.record({ targets: targetsOf('gw.dev', 'GwBackend', BACKENDS), backendRef: reference }).map(ofBackend),
  ),
  ReferenceGrant: fc
    .constantFrom([{ group: GROUP, kind: 'HTTPRoute' }], [{ group: 'gw.dev', kind: 'GwPolicy' }])
    .map((from) => ({
      spec: { from: from.map((one) => ({ ...one, namespace: 'a' })), to: [{ group: '', kind: 'Service' }] },
    })),
}

function targetsOf(group: string, kind: string, names: readonly string[]): fc.Arbitrary<object[]> {
  return fc
    .subarray([...names], { minLength: 1, maxLength: 2 })
    .map((some) => some.map((name) => ({ group, kind, name })))
}

interface Leading {
  readonly targets: readonly object[]
  readonly backendRef: Reference
}

function ofTraffic({ targets, backendRef }: Leading): object {
  return { spec: { targetRefs: targets, traffic: { extAuth: { backendRef, grpc: {} } } } }
}

function ofBackend({ targets, backendRef }: Leading): object {
  return { spec: { targetRefs: targets, backend: { extAuth: { backendRef, grpc: {} } } } }
}

interface Place {
  readonly kind: string
  readonly name: string
  readonly namespace: string
}

function places(kind: string, names: readonly string[], namespace = 'a'): Place[] {
  return names.map((name) => ({ kind, name, namespace }))
}

const PLACES: readonly Place[] = [
  ...places('Gateway', GATEWAYS),
  ...places('HTTPRoute', ROUTES),
  ...places('Service', SERVICES),
  ...places('GwBackend', BACKENDS),
  ...places('GwPolicy', ['p0', 'p1', 'p2', 'p3', 'p4']),
  ...places('ReferenceGrant', ['grant'], 'b'),
]

const API_VERSIONS: Readonly<Record<string, string>> = { Service: 'v1', GwBackend: GW_API, GwPolicy: GW_API }

/** An object in one version; undefined: it does not exist. */
function versionsOf({ kind, name, namespace }: Place): fc.Arbitrary<KubeObject | undefined> {
  const content = CONTENTS[kind] ?? fc.constant({})
  // One that comes back is another one: its age gives it another place in all lists.
  const version = fc.tuple(content, fc.nat({ max: 3 })).map(([rest, second]): KubeObject => {
    const metadata = { name, namespace, generation: 1, creationTimestamp: `2026-01-01T00:00:0${second}Z` }
    return { apiVersion: API_VERSIONS[kind] ?? GATEWAY_API, kind, metadata, ...rest }
  })
  return fc.option(version, { nil: undefined, freq: 6 })
}

const FIXED = [
  {
    apiVersion: GATEWAY_API,
    kind: 'GatewayClass',
    metadata: { name: 'gw' },
    spec: { controllerName: 'gw.dev/controller' },
  },
  { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'key', namespace: 'a' }, data: { Authorization: 'a2V5' } },
  { apiVersion: 'v1', kind: 'Service', metadata: { name: 's0', namespace: 'b' }, spec: { ports: [{ port: 80 }] } },
  ...SERVICES.map((name, at) => endpointsOf(name, at)),
] as Objects

function endpointsOf(name: string, at: number): object {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name, namespace: 'a', labels: { 'kubernetes.io/service-name': name } },
    // Two Services have the same Pod.
    endpoints: [{ addresses: [`10.0.0.${at % 4}`], targetRef: { kind: 'Pod', name: `pod-${at % 4}` } }],
    ports: [80, 81].map((port) => ({ name: `p${port}`, port: 8000 + port })),
  }
}

/** Routes to Services of their own: `turn` moves the first of them to the Services of others. */
function filling({ count, moved, turn }: { readonly count: number; readonly moved: number; readonly turn: number }) {
  return Array.from({ length: count }, (_, at): Objects => {
    const [name, to] = [`fill-${at}`, at < moved ? (at + turn) % count : at]
    const metadata = { name, namespace: 'a', generation: 1 }
    const parentRefs = [{ name: GATEWAYS[at % 2] }]
    const rules = [{ backendRefs: [service(`fill-${to}`)] }]
    const spec = { ports: [{ name: 'p80', port: 80 }] }
    return [
      known(`route ${name} ${to}`, {
        apiVersion: GATEWAY_API,
        kind: 'HTTPRoute',
        metadata,
        spec: { parentRefs, rules },
      }),
      known(`service ${name}`, { apiVersion: 'v1', kind: 'Service', metadata, spec }),
      known(`slice ${name}`, { ...endpointsOf(name, at), metadata: { ...metadata, labels: labelsOf(name) } }),
    ]
  }).flat()
}

function labelsOf(name: string): Readonly<Record<string, string>> {
  return { 'kubernetes.io/service-name': name }
}

/** The same object for the same key, as in a cache. */
const objects = new Map<string, KubeObject>()

function known(key: string, object: object): KubeObject {
  // A manifest of the kind.
  const one = objects.get(key) ?? (object as KubeObject)
  objects.set(key, one)
  return one
}

export interface HistorySize {
  readonly stepsMax: number
  /** More than fit into one layer of a map, if there are to be several. */
  readonly filling: number
}

/** A cluster after each change. Objects without a change are the same. */
export function reachHistories({ stepsMax, filling: count }: HistorySize): fc.Arbitrary<readonly Objects[]> {
  const edit = fc.nat({ max: PLACES.length - 1 }).chain((at) => {
    const place = PLACES[at]
    const version = place === undefined ? fc.constant(undefined) : versionsOf(place)
    return fc.record({ at: fc.constant(at), version })
  })
  // Now and then many routes change at once.
  const edits = fc.array(edit, { minLength: 1, maxLength: 3 })
  const step = fc.record({ edits, moved: fc.constantFrom(undefined, undefined, 0, 1, count), turn: fc.nat(count) })
  const start = fc.tuple(...PLACES.map(versionsOf))
  return fc.tuple(start, fc.array(step, { maxLength: stepsMax })).map(([first, changes]) => {
    let [now, others]: [readonly (KubeObject | undefined)[], Objects] = [first, filling({ count, moved: 0, turn: 0 })]
    const steps = [[...now, ...others]]
    for (const { edits: some, moved, turn } of changes) {
      for (const { at, version } of some) now = now.with(at, version)
      if (moved !== undefined && count > 0) others = filling({ count, moved, turn })
      steps.push([...now, ...others])
    }
    return steps.map((all) => [...FIXED, ...all.filter((one) => one !== undefined)])
  })
}
