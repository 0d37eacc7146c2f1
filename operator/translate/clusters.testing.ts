// Random small clusters for property tests: few names and namespaces, so that references often meet.
import * as fc from 'fast-check'
import type { KubeObject } from './kube.ts'

const NAMESPACES = ['a', 'b', 'c'] as const

/** Every Secret of a random cluster holds it. */
export const SECRET_MATERIAL = 'secret-material'

const NAMES = ['x', 'y', 'z'] as const

const GATEWAY_API = 'gateway.networking.k8s.io/v1'
const GW_API = 'gw.dev/v1alpha1'

const namespace = fc.constantFrom(...NAMESPACES)
const name = fc.constantFrom(...NAMES)
const created = fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z')
const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined })
const labels = maybe(fc.constantFrom({ team: 'blue' }, { team: 'red' }))
const metadata = fc.record({ name, namespace, creationTimestamp: created, generation: fc.constant(1), labels })
const from = fc.constantFrom('Same', 'All')

const TEAM_ONLY = { namespaces: { from: 'Selector', selector: { matchLabels: { team: 'blue' } } } }

const ROUTES_AND_MODELS = [{ kind: 'HTTPRoute' }, { group: 'gw.dev', kind: 'GwModel' }]

const gateway = fc.record({
  apiVersion: fc.constant(GATEWAY_API),
  kind: fc.constant('Gateway'),
  metadata,
  spec: fc.record({
    gatewayClassName: fc.constantFrom('gw', 'gw', 'theirs'),
    allowedListeners: fc.constantFrom({ namespaces: { from: 'All' } }, { namespaces: { from: 'None' } }),
    listeners: fc.uniqueArray(
      fc.record({
        name,
        port: fc.constantFrom(80, 81),
        protocol: fc.constantFrom('HTTP', 'HTTP', 'TCP'),
        hostname: maybe(fc.constantFrom('*.example.com', 'a.example.com')),
        allowedRoutes: fc.oneof(
          fc.record({ namespaces: fc.record({ from }), kinds: maybe(fc.constant(ROUTES_AND_MODELS)) }),
          fc.constant(TEAM_ONLY),
        ),
      }),
      { selector: (one) => one.name, minLength: 1, maxLength: 3 },
    ),
  }),
})

const listenerSet = fc.record({
  apiVersion: fc.constant(GATEWAY_API),
  kind: fc.constant('ListenerSet'),
  metadata,
  spec: fc.record({
    parentRef: fc.record({ name, namespace }),
    listeners: fc.tuple(
      fc.record({
        name,
        port: fc.constantFrom(80, 82),
        protocol: fc.constant('HTTP'),
        hostname: maybe(fc.constant('s.example.com')),
      }),
    ),
  }),
})

const backendRef = fc.oneof(
  fc.record({ name, namespace: maybe(namespace), port: fc.constantFrom(80, 8080) }),
  fc.record({ group: fc.constant('gw.dev'), kind: fc.constant('GwBackend'), name, namespace: maybe(namespace) }),
  fc.record({
    group: fc.constant('gateway.networking.k8s.io'),
    kind: fc.constant('HTTPRoute'),
    name,
    namespace: maybe(namespace),
  }),
  fc.record({
    group: fc.constant('inference.networking.k8s.io'),
    kind: fc.constant('InferencePool'),
    name,
    namespace: maybe(namespace),
  }),
)

const inferencePool = fc.record({
  apiVersion: fc.constant('inference.networking.k8s.io/v1'),
  kind: fc.constant('InferencePool'),
  metadata,
  spec: fc.record({
    selector: fc.constantFrom({ matchLabels: { app: 'a' } }, { matchLabels: { app: 'b' } }),
    targetPorts: fc.constantFrom([{ number: 8000 }], [{ number: 8000 }, { number: 8001 }]),
    endpointPickerRef: fc.record({
      name,
      port: fc.constantFrom({ number: 80 }, { number: 81 }),
      failureMode: fc.constantFrom('FailOpen', 'FailClose'),
    }),
  }),
})

const pod = fc.record({
  apiVersion: fc.constant('v1'),
  kind: fc.constant('Pod'),
  metadata: fc.record({
    name,
    namespace,
    labels: fc.constantFrom({ app: 'a' }, { app: 'b' }),
    annotations: maybe(fc.constant({ 'ambient.istio.io/redirection': 'enabled' })),
  }),
  spec: maybe(fc.record({ serviceAccountName: name })),
  status: fc.record({
    podIP: fc.constantFrom('10.1.0.1', '10.1.0.2'),
    conditions: fc.constantFrom([{ type: 'Ready', status: 'True' }], []),
  }),
})

const namespaceObject = fc.record({
  apiVersion: fc.constant('v1'),
  kind: fc.constant('Namespace'),
  metadata: fc.record({ name: namespace, labels: fc.constantFrom<object[]>({ team: 'blue' }, { team: 'red' }, {}) }),
})

const POOLS = { group: 'inference.networking.k8s.io', kind: 'InferencePool' }
const SERVICES = { group: '', kind: 'Service' }
const BACKENDS = { group: 'gw.dev', kind: 'GwBackend' }

const TLS_TARGETS = [SERVICES, { ...SERVICES, sectionName: 'http' }, BACKENDS, POOLS]

const backendTlsPolicy = fc.record({
  apiVersion: fc.constant(GATEWAY_API),
  kind: fc.constant('BackendTLSPolicy'),
  metadata,
  spec: fc.record({
    targetRefs: fc
      .tuple(fc.constantFrom(...TLS_TARGETS), name)
      .map(([target, targetName]) => [{ ...target, name: targetName }]),
    validation: fc.constant({ hostname: 'h.example.com', wellKnownCACertificates: 'System' }),
  }),
})

const httpRoute = fc.record({
  apiVersion: fc.constant(GATEWAY_API),
  kind: fc.constant('HTTPRoute'),
  metadata,
  spec: fc.record({
    parentRefs: fc.array(
      fc.record({
        kind: fc.constantFrom('Gateway', 'Gateway', 'ListenerSet', 'HTTPRoute'),
        name,
        namespace,
        sectionName: maybe(name),
      }),
      { minLength: 1, maxLength: 2 },
    ),
    hostnames: maybe(fc.constant(['a.example.com'])),
    rules: fc.array(fc.record({ backendRefs: fc.array(backendRef, { maxLength: 2 }) }), { minLength: 1, maxLength: 2 }),
  }),
})

const service = fc.record({
  apiVersion: fc.constant('v1'),
  kind: fc.constant('Service'),
  metadata: fc.record({
    name,
    namespace,
    creationTimestamp: created,
    labels: maybe(fc.record({ 'gateway.networking.k8s.io/gateway-name': name })),
  }),
  spec: fc.record({
    ports: fc.constant([{ name: 'http', port: 80 }]),
    trafficDistribution: fc.constantFrom(undefined, undefined, 'PreferSameZone', 'PreferSameNode'),
  }),
})

const zone = fc.constantFrom('za', 'zb')
const nodeName = fc.constantFrom('node-1', 'node-2')

const node = fc.record({
  apiVersion: fc.constant('v1'),
  kind: fc.constant('Node'),
  metadata: fc.record({
    name: nodeName,
    labels: fc.record({
      'topology.kubernetes.io/region': fc.constantFrom('ra', 'rb'),
      'topology.kubernetes.io/zone': zone,
    }),
  }),
})

const endpointSlice = fc.record({
  apiVersion: fc.constant('discovery.k8s.io/v1'),
  kind: fc.constant('EndpointSlice'),
  metadata: fc.record({
    name,
    namespace,
    labels: fc.record({ 'kubernetes.io/service-name': name }),
  }),
  endpoints: fc.array(
    fc.record({
      addresses: fc.tuple(fc.constantFrom('10.0.0.1', '10.0.0.2', '10.0.0.3')),
      targetRef: maybe(fc.record({ kind: fc.constant('Pod'), name })),
      nodeName: maybe(nodeName),
      zone: maybe(zone),
      hints: maybe(fc.record({ forZones: fc.array(fc.record({ name: zone }), { maxLength: 2 }) })),
      conditions: fc.record({ ready: fc.boolean() }),
    }),
    { maxLength: 3 },
  ),
  ports: fc.constant([{ name: 'http', port: 8080 }]),
})

const secret = fc.record({
  apiVersion: fc.constant('v1'),
  kind: fc.constant('Secret'),
  metadata,
  stringData: fc.constant({ Authorization: `Bearer ${SECRET_MATERIAL}` }),
})

const modelTarget = fc.record({ modelRef: fc.record({ name }), model: maybe(fc.constant('x')) })
const gwModel = fc.record({
  apiVersion: fc.constant('gw.dev/v1alpha1'),
  kind: fc.constant('GwModel'),
  metadata,
  spec: fc.oneof(
    fc.record({
      parentRefs: fc.tuple(fc.record({ name, namespace: maybe(namespace) })),
      match: maybe(fc.record({ model: fc.constantFrom('*', 'x-*', 'x') })),
      provider: fc.constantFrom('OpenAI', 'Gemini'),
      policies: maybe(fc.record({ auth: fc.record({ secretRef: fc.record({ name }) }) })),
    }),
    fc.record({
      parentRefs: fc.tuple(fc.record({ name, namespace: maybe(namespace) })),
      virtualModel: fc.oneof(
        fc.record({ weighted: fc.record({ targets: fc.tuple(modelTarget) }) }),
        fc.record({ failover: fc.record({ targets: fc.tuple(modelTarget.map((one) => ({ ...one, priority: 1 }))) }) }),
      ),
    }),
  ),
})

const gwBackend = fc.record({
  apiVersion: fc.constant(GW_API),
  kind: fc.constant('GwBackend'),
  metadata,
  spec: fc.oneof(
    fc.record({
      static: fc.constant({ host: 'h.example.com', port: 80 }),
      policies: maybe(fc.record({ auth: fc.record({ secretRef: fc.record({ name }) }) })),
    }),
    fc.record({
      mcp: fc.record({
        targets: fc.tuple(
          fc.record({
            name: fc.constant('t'),
            static: fc.record({ backendRef: fc.record({ name }), port: fc.constant(80) }),
          }),
        ),
      }),
    }),
    fc.record({
      mcp: fc.record({
        targets: fc.tuple(fc.record({ name: fc.constant('t'), selector: fc.constant({ namespaces: {} }) })),
      }),
    }),
  ),
})

const TARGETS = [
  { group: 'gateway.networking.k8s.io', kind: 'Gateway' },
  { group: 'gateway.networking.k8s.io', kind: 'Gateway', sectionName: 'x' },
  { group: 'gateway.networking.k8s.io', kind: 'HTTPRoute' },
  { group: 'gateway.networking.k8s.io', kind: 'ListenerSet' },
  SERVICES,
  { ...SERVICES, sectionName: '80' },
  BACKENDS,
  POOLS,
]

const SELECTED = [
  { group: 'gateway.networking.k8s.io', kind: 'HTTPRoute' },
  { group: 'gateway.networking.k8s.io', kind: 'Gateway' },
  BACKENDS,
]

/** In the namespace of the policy. */
const serviceRef = fc.oneof(
  fc.record({ name, port: fc.constant(80) }),
  fc.record({ group: fc.constant('gw.dev'), kind: fc.constant('GwBackend'), name }),
)

/** Parts of `backend.ai` are settled each by itself. */
const AI_ROUTES = { ai: { modelAliases: { c: 'd' }, routes: { '*': 'Messages' } } }

const gwPolicy = fc.record({
  apiVersion: fc.constant(GW_API),
  kind: fc.constant('GwPolicy'),
  metadata,
  spec: fc.record({
    targetRefs: fc.array(
      fc.tuple(fc.constantFrom(...TARGETS), name).map(([target, targetName]) => ({ ...target, name: targetName })),
      { minLength: 1, maxLength: 2 },
    ),
    targetSelectors: maybe(
      fc.tuple(fc.constantFrom(...SELECTED)).map(([kind]) => [{ ...kind, matchLabels: { team: 'blue' } }]),
    ),
    traffic: fc.oneof(
      fc.constantFrom<object[]>({ csrf: {} }, { cors: {}, csrf: {} }, { retry: {} }, { extAuth: {} }),
      fc.record({ extAuth: fc.record({ backendRef: serviceRef, grpc: fc.constant({}) }) }),
      fc.record({ apiKeyAuthentication: fc.record({ secretRef: fc.record({ name }) }) }),
      fc.record({
        basicAuthentication: fc.record({ secretRef: fc.record({ name, key: fc.constant('Authorization') }) }),
      }),
    ),
    backend: maybe(
      fc.oneof(
        fc.record({ auth: fc.record({ secretRef: fc.record({ name }) }) }),
        fc.constantFrom<object[]>({ tls: {} }, { ai: { modelAliases: { a: 'b' } } }, AI_ROUTES),
      ),
    ),
  }),
})

const grant = fc.record({
  apiVersion: fc.constant(GATEWAY_API),
  kind: fc.constant('ReferenceGrant'),
  metadata,
  spec: fc.record({
    from: fc.tuple(
      fc.oneof(
        fc.record({ group: fc.constant('gateway.networking.k8s.io'), kind: fc.constant('HTTPRoute'), namespace }),
        fc.record({ group: fc.constant('gw.dev'), kind: fc.constant('GwBackend'), namespace }),
      ),
    ),
    to: fc.tuple(fc.constantFrom(SERVICES, BACKENDS, POOLS)),
  }),
})

const CLASSES = [
  {
    apiVersion: GATEWAY_API,
    kind: 'GatewayClass',
    metadata: { name: 'gw' },
    spec: { controllerName: 'gw.dev/controller' },
  },
  { apiVersion: GATEWAY_API, kind: 'GatewayClass', metadata: { name: 'theirs' }, spec: { controllerName: 'e.com/c' } },
]

const sentSecret = [
  {
    apiVersion: GATEWAY_API,
    kind: 'Gateway',
    metadata: { namespace: 'a', name: 'w' },
    spec: { gatewayClassName: 'gw', listeners: [{ name: 'w', port: 80, protocol: 'HTTP' }] },
  },
  {
    apiVersion: GATEWAY_API,
    kind: 'HTTPRoute',
    metadata: { namespace: 'a', name: 'w' },
    spec: {
      parentRefs: [{ name: 'w' }],
      rules: [{ backendRefs: [{ group: 'gw.dev', kind: 'GwBackend', name: 'w' }] }],
    },
  },
  {
    apiVersion: GW_API,
    kind: 'GwBackend',
    metadata: { namespace: 'a', name: 'w' },
    spec: { static: { host: 'h.example.com', port: 80 }, policies: { auth: { secretRef: { name: 'w' } } } },
  },
  {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: 'a', name: 'w' },
    stringData: { Authorization: `Bearer ${SECRET_MATERIAL}` },
  },
]

/** With names that no random object has: a route to a backend with a Secret, so that one Secret is delivered. */
export const SENT_SECRET: readonly KubeObject[] = sentSecret

export interface ClusterOptions {
  readonly hasGrants: boolean
}

/** No two objects of one kind share a name, as in a real cluster. */
export function clusters({ hasGrants }: ClusterOptions): fc.Arbitrary<readonly KubeObject[]> {
  const object: fc.Arbitrary<object> = fc.oneof(
    { weight: 3, arbitrary: httpRoute },
    { weight: 2, arbitrary: gateway },
    { weight: 2, arbitrary: gwPolicy },
    { weight: 2, arbitrary: gwBackend },
    { weight: 2, arbitrary: service },
    listenerSet,
    endpointSlice,
    namespaceObject,
    backendTlsPolicy,
    gwModel,
    inferencePool,
    pod,
    node,
    { weight: 2, arbitrary: secret },
    hasGrants ? grant : service,
  )
  return fc
    .uniqueArray(object as fc.Arbitrary<KubeObject>, {
      // The arbitraries above build objects of their kinds.
      selector: (one) => `${one.kind}/${one.metadata.namespace ?? ''}/${one.metadata.name}`,
      minLength: 8,
      maxLength: 40,
    })
    .map((objects) => [...CLASSES, ...objects])
}
