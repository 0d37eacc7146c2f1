// Random clusters of tenants that name each other's objects wherever a field allows it, with and without grants. Every
// credential contains the name of its namespace, so that a test can identify its owner in any output.
import * as fc from 'fast-check'
import type { KubeObject } from './kube.ts'

export const TENANTS = ['a', 'b', 'c'] as const
const NAMES = ['x', 'y'] as const
const GATEWAY_API = 'gateway.networking.k8s.io/v1'
const GATEWAY_GROUP = 'gateway.networking.k8s.io'
const GW_API = 'gw.dev/v1alpha1'
const GW_GROUP = 'gw.dev'
const INFERENCE_GROUP = 'inference.networking.k8s.io'

/** In every credential of the namespace. */
export function credentialOf(namespace: string): string {
  return `credential-of-${namespace}.`
}

const tenant = fc.constantFrom(...TENANTS)
const name = fc.constantFrom(...NAMES)
const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined })
const labels = maybe(fc.constant({ pick: 'me' }))
const metadata = fc.record({ name, namespace: tenant, labels, generation: fc.constant(1) })

/** One of the kinds that can be a backend, of any tenant. */
const backendRef = fc.oneof(
  fc.record({ name, namespace: maybe(tenant), port: fc.constant(80) }),
  fc.record({ group: fc.constant(GW_GROUP), kind: fc.constant('GwBackend'), name, namespace: maybe(tenant) }),
)
const routedRef = fc.oneof(
  backendRef,
  fc.record({
    group: fc.constant(GATEWAY_GROUP),
    kind: fc.constant('HTTPRoute'),
    name: fc.constantFrom(...NAMES, '*', 'pick=me'),
    namespace: maybe(tenant),
  }),
  fc.record({
    group: fc.constant(INFERENCE_GROUP),
    kind: fc.constant('InferencePool'),
    name,
    namespace: maybe(tenant),
  }),
)

const jwks = fc.record({ jwksPath: fc.constant('/keys'), backendRef })
const extAuth = fc.record({ backendRef, http: fc.constant({}) })
const clientAuth = fc.constant({ clientId: 'c', secretRef: { name: 'secret', key: 'Authorization' } })
const tokenEndpoint = fc.record({ backendRef, clientAuth })
/** Of backends and policies; credentials of the namespace are filled in below. */
const backendSection = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom<object>({ auth: { secretRef: { name: 'secret' } } }, { auth: { key: KEY() } }),
  },
  fc.constant<object>({
    auth: { credentials: [{ location: { header: { name: 'k' } }, secretRef: { name: 'secret' } }] },
  }),
  fc.record({ auth: fc.record({ oauthTokenExchange: tokenEndpoint }) }),
  fc.record({
    auth: fc.record({
      crossAppAccess: fc.record({
        identityProvider: tokenEndpoint,
        resourceAuthorizationServer: tokenEndpoint,
        audience: fc.constant('a'),
      }),
    }),
  }),
  fc.constant<object>({ tls: {} }),
  fc.record({ tunnel: fc.record({ backendRef }) }),
  fc.record({ extAuth }),
  fc.record({ mcp: fc.record({ authentication: fc.record({ jwks }) }) }),
)

/** Stands for the credential of the object's own namespace. */
function KEY(): string {
  return '{{credential}}'
}

const trafficSection = fc.oneof(
  fc.record({ extAuth }),
  fc.record({ extProc: fc.record({ backendRef }) }),
  fc.record({
    rateLimit: fc.record({
      global: fc.record({
        backendRef,
        domain: fc.constant('d'),
        descriptors: fc.constant([{ entries: [{ name: 'n', expression: '"e"' }] }]),
      }),
    }),
  }),
  fc.record({
    jwtAuthentication: fc.record({ providers: fc.tuple(fc.record({ jwks: fc.record({ remote: jwks }) })) }),
  }),
  fc.constant<object>({ apiKeyAuthentication: { secretRef: { name: 'secret' } } }),
  fc.constant<object>({ basicAuthentication: { secretRef: { name: 'secret', key: 'Authorization' } } }),
)
const frontendSection = fc.oneof(
  fc.record({ tracing: fc.record({ backendRef }) }),
  fc.record({ accessLog: fc.record({ otlp: fc.record({ backendRef }) }) }),
)

const TARGETS = [
  { group: GATEWAY_GROUP, kind: 'Gateway' },
  { group: GATEWAY_GROUP, kind: 'HTTPRoute' },
  { group: '', kind: 'Service' },
  { group: GW_GROUP, kind: 'GwBackend' },
  { group: INFERENCE_GROUP, kind: 'InferencePool' },
] as const
const target = fc.constantFrom(...TARGETS)

const policy = fc.record({
  apiVersion: fc.constant(GW_API),
  kind: fc.constant('GwPolicy'),
  metadata,
  spec: fc
    .tuple(
      fc.oneof(
        fc.tuple(target, name).map(([one, targetName]) => ({ targetRefs: [{ ...one, name: targetName }] })),
        target.map((one) => ({ targetSelectors: [{ ...one, matchLabels: { pick: 'me' } }] })),
      ),
      fc.oneof(
        fc.record({ traffic: trafficSection }),
        { weight: 2, arbitrary: fc.record({ backend: backendSection }) },
        fc.record({ frontend: frontendSection }),
      ),
    )
    .map(([targets, section]) => ({ ...targets, ...section })),
})

const body = fc.oneof(
  { weight: 3, arbitrary: fc.constant<object>({ static: { host: 'h.example.com', port: 80 } }) },
  fc.record({
    mcp: fc.record({
      targets: fc.tuple(
        fc.oneof(
          fc.record({ name: fc.constant('t'), static: fc.record({ backendRef, port: fc.constant(80) }) }),
          fc.constant<object>({ name: 't', selector: { namespaces: {} } }),
        ),
      ),
    }),
  }),
  fc.constant<object>({
    ai: { groups: [{ providers: [{ name: 'p', p1: {}, policies: { auth: { secretRef: { name: 'secret' } } } }] }] },
  }),
)
const backend = fc.record({
  apiVersion: fc.constant(GW_API),
  kind: fc.constant('GwBackend'),
  metadata,
  spec: fc.tuple(body, maybe(backendSection)).map(([rest, policies]) => ({ ...rest, policies })),
})

const route = fc.record({
  apiVersion: fc.constant(GATEWAY_API),
  kind: fc.constant('HTTPRoute'),
  metadata,
  spec: fc.record({
    // Most routes attach to Gateways of their own tenant: foreign credentials elsewhere then come from a reference.
    parentRefs: maybe(
      fc.tuple(
        fc.oneof(
          { weight: 4, arbitrary: fc.record({ name }) },
          fc.record({ kind: fc.constantFrom('Gateway', 'HTTPRoute'), name, namespace: tenant }),
        ),
      ),
    ),
    rules: fc.array(fc.record({ backendRefs: fc.array(routedRef, { maxLength: 2 }) }), { minLength: 1, maxLength: 2 }),
  }),
})

const model = fc.record({
  apiVersion: fc.constant(GW_API),
  kind: fc.constant('GwModel'),
  metadata,
  spec: fc.record({
    parentRefs: fc.tuple(fc.record({ name, namespace: maybe(tenant) })),
    provider: fc.constant('OpenAI'),
    policies: maybe(
      fc.oneof(
        fc.constant<object>({ auth: { secretRef: { name: 'secret' } } }),
        fc.record({ tunnel: fc.record({ backendRef }) }),
      ),
    ),
  }),
})

const pool = fc.record({
  apiVersion: fc.constant(`${INFERENCE_GROUP}/v1`),
  kind: fc.constant('InferencePool'),
  metadata,
  spec: fc.record({
    selector: fc.constant({ matchLabels: { app: 'a' } }),
    targetPorts: fc.constant([{ number: 8000 }]),
    endpointPickerRef: fc.record({ name, port: fc.constant({ number: 80 }) }),
  }),
})

const service = fc.record({
  apiVersion: fc.constant('v1'),
  kind: fc.constant('Service'),
  metadata,
  spec: fc.constant({ ports: [{ name: 'http', port: 80, appProtocol: 'gw.dev/mcp' }] }),
})

const grant = fc.record({
  apiVersion: fc.constant(GATEWAY_API),
  kind: fc.constant('ReferenceGrant'),
  metadata,
  spec: fc.record({
    from: fc
      .tuple(
        fc.constantFrom(
          { group: GW_GROUP, kind: 'GwPolicy' },
          { group: GW_GROUP, kind: 'GwBackend' },
          { group: GATEWAY_GROUP, kind: 'HTTPRoute' },
        ),
        tenant,
      )
      .map(([one, namespace]) => [{ ...one, namespace }]),
    to: fc.tuple(
      fc.constantFrom(
        { group: '', kind: 'Service' },
        { group: GW_GROUP, kind: 'GwBackend' },
        { group: GATEWAY_GROUP, kind: 'HTTPRoute' },
      ),
    ),
  }),
})

const CLASS = {
  apiVersion: GATEWAY_API,
  kind: 'GatewayClass',
  metadata: { name: 'gw' },
  spec: { controllerName: 'gw.dev/controller' },
}
const LISTENER = {
  name: 'http',
  port: 80,
  protocol: 'HTTP',
  allowedRoutes: { namespaces: { from: 'All' }, kinds: [{ kind: 'HTTPRoute' }, { group: GW_GROUP, kind: 'GwModel' }] },
}

/** Each tenant has a Gateway that all namespaces may attach to, and a Secret. */
const ALWAYS: readonly object[] = TENANTS.flatMap((namespace) => [
  {
    apiVersion: GATEWAY_API,
    kind: 'Gateway',
    metadata: { name: 'x', namespace },
    spec: { gatewayClassName: 'gw', listeners: [LISTENER] },
  },
  {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'secret', namespace },
    stringData: { Authorization: credentialOf(namespace) },
  },
])

export function tenants({ hasGrants }: { readonly hasGrants: boolean }): fc.Arbitrary<readonly KubeObject[]> {
  const object: fc.Arbitrary<object> = fc.oneof(
    { weight: 3, arbitrary: route },
    { weight: 4, arbitrary: policy },
    { weight: 4, arbitrary: backend },
    { weight: 3, arbitrary: service },
    model,
    pool,
    ...(hasGrants ? [grant] : []),
  )
  return (
    fc
      // The arbitraries above build objects of their kinds.
      .uniqueArray(object as fc.Arbitrary<KubeObject>, {
        selector: (one) => `${one.kind}/${one.metadata.namespace ?? ''}/${one.metadata.name}`,
        minLength: 8,
        maxLength: 30,
      })
      .map((objects) => [CLASS, ...ALWAYS, ...objects.map(withCredential)] as KubeObject[])
  )
}

function withCredential(object: KubeObject): KubeObject {
  const text = JSON.stringify(object).replaceAll(KEY(), credentialOf(object.metadata.namespace ?? ''))
  // The same object with other text in it.
  return JSON.parse(text) as KubeObject
}
