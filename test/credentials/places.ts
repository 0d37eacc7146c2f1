// The places in resources in which a backend can have `auth`, each at work in one manifest.
import { stringify } from 'yaml'

const API = 'gateway.networking.k8s.io/v1'
const GW = 'gw.dev/v1alpha1'
export const COMPLETION = '{"model": "m", "messages": []}'
export const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } },
})

export interface Place {
  /** Path to `auth` in its object. */
  readonly at: string
  readonly objects: (name: string, auth: object, port: number) => readonly object[]
  readonly body?: string
  /** Of requests, after the prefix of the place. */
  readonly path?: string
  /** The credential is for a service that a policy asks; the backend gets what the client sent. */
  readonly isAsked?: boolean
}

const named = (name: string): object => ({ name, namespace: 'default' })
const backend = (name: string, spec: object): object => ({
  apiVersion: GW,
  kind: 'GwBackend',
  metadata: named(name),
  spec,
})
const policy = (name: string, target: object, auth: object): object => ({
  apiVersion: GW,
  kind: 'GwPolicy',
  metadata: named(name),
  spec: { targetRefs: [target], backend: { auth } },
})
const address = (port: number): object => ({ host: '127.0.0.1', port })
export const service = (name: string, port: number): object[] => [
  { apiVersion: 'v1', kind: 'Service', metadata: named(name), spec: { ports: [{ port: 80 }] } },
  {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { ...named(name), labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    ports: [{ name: '', port }],
    endpoints: [{ addresses: ['127.0.0.1'] }],
  },
]

/** Each has a backend or Service of its name, to which a rule of that name leads. */
export const PLACES: Readonly<Record<string, Place>> = {
  backend: {
    at: 'spec.backend.auth',
    objects: (name, auth, port) => [
      backend(name, { static: address(port) }),
      policy(name, { group: 'gw.dev', kind: 'GwBackend', name }, auth),
    ],
  },
  service: {
    at: 'spec.backend.auth',
    objects: (name, auth, port) => [...service(name, port), policy(name, { group: '', kind: 'Service', name }, auth)],
  },
  rule: {
    at: 'spec.backend.auth',
    objects: (name, auth, port) => [
      backend(name, { static: address(port) }),
      policy(name, { group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', name: 'all', sectionName: name }, auth),
    ],
  },
  inline: {
    at: 'spec.policies.auth',
    objects: (name, auth, port) => [backend(name, { static: address(port), policies: { auth } })],
  },
  provider: {
    at: 'spec.ai.groups[0].providers[0].policies.auth',
    objects: (name, auth, port) => [
      backend(name, { ai: { groups: [{ providers: [{ name: 'a', p1: {}, ...address(port), policies: { auth } }] }] } }),
    ],
    path: '/v1/chat/completions',
    body: COMPLETION,
  },
  target: {
    at: 'spec.mcp.targets[0].static.policies.auth',
    objects: (name, auth, port) => [
      backend(name, { mcp: { targets: [{ name: 'a', static: { ...address(port), policies: { auth } } }] } }),
    ],
    body: INITIALIZE,
  },
  authorizer: {
    at: 'spec.policies.auth',
    objects: (name, auth, port) => [
      backend(name, { static: address(port) }),
      backend(`${name}-service`, { static: address(port), policies: { auth } }),
      {
        apiVersion: GW,
        kind: 'GwPolicy',
        metadata: named(name),
        spec: {
          targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', name: 'all', sectionName: name }],
          traffic: {
            extAuth: { backendRef: { group: 'gw.dev', kind: 'GwBackend', name: `${name}-service` }, http: {} },
          },
        },
      },
    ],
    isAsked: true,
  },
}

export interface Manifests {
  readonly auth: object
  /** Entries of the Secret `keys`; undefined: there is none. */
  readonly keys?: Readonly<Record<string, string>> | undefined
  /** Port of the listener. */
  readonly http: number
  /** Port of the server behind all backends. */
  readonly port: number
}

/** `auth` in all places, and in a GwModel `m`. */
export function manifests({ auth, keys, http, port }: Manifests): string {
  const rules = Object.keys(PLACES).map((name) => ({
    name,
    matches: [{ path: { type: 'PathPrefix', value: `/${name}` } }],
    backendRefs: [name === 'service' ? { name, port: 80 } : { group: 'gw.dev', kind: 'GwBackend', name }],
  }))
  const listener = {
    name: 'http',
    port: http,
    protocol: 'HTTP',
    allowedRoutes: { kinds: [{ group: 'gw.dev', kind: 'GwModel' }, { kind: 'HTTPRoute' }] },
  }
  const objects = [
    { apiVersion: API, kind: 'GatewayClass', metadata: { name: 'gw' }, spec: { controllerName: 'gw.dev/controller' } },
    {
      apiVersion: API,
      kind: 'Gateway',
      metadata: named('edge'),
      spec: { gatewayClassName: 'gw', listeners: [listener] },
    },
    { apiVersion: API, kind: 'HTTPRoute', metadata: named('all'), spec: { parentRefs: [{ name: 'edge' }], rules } },
    ...(keys === undefined ? [] : [{ apiVersion: 'v1', kind: 'Secret', metadata: named('keys'), stringData: keys }]),
    ...Object.entries(PLACES).flatMap(([name, { objects: made }]) => made(name, auth, port)),
    ...service('models', port),
    {
      apiVersion: GW,
      kind: 'GwModel',
      metadata: named('m'),
      spec: {
        parentRefs: [{ name: 'edge' }],
        provider: 'Custom',
        custom: { backendRef: { name: 'models', port: 80 }, formats: [{ type: 'Completions' }] },
        policies: { auth },
      },
    },
  ]
  return objects.map((object) => stringify(object)).join('---\n')
}
