// The objects of the benchmark of the control plane: one Gateway, and any number of HTTPRoutes with a Service and an
// EndpointSlice each. Pure.

import type { KubeObject } from '#operator/translate/kube.ts'

export const SETTINGS = { controllerName: 'gw.dev/controller', className: 'gw', clusterDomain: 'cluster.local' }
export const NAMESPACE = 'bench'
export const GATEWAY = 'edge'

export interface KubeManifest {
  readonly path: string
  readonly object: object
}

const GATEWAY_API = '/apis/gateway.networking.k8s.io/v1'
const ROUTES = `${GATEWAY_API}/namespaces/${NAMESPACE}/httproutes`

const SLICES = `/apis/discovery.k8s.io/v1/namespaces/${NAMESPACE}/endpointslices`

export const GATEWAYS_PATH = `${GATEWAY_API}/namespaces/${NAMESPACE}/gateways`
export const ROUTES_PATH = `${GATEWAY_API}/httproutes`
/** Collections whose watches show the steps of a change. */
export const WATCHED_PATHS = [ROUTES, SLICES, `/api/v1/namespaces/${NAMESPACE}/configmaps`]

/** Manifests of a route, its Service and its EndpointSlice. */
export function nameOf(index: number): string {
  return `app-${index}`
}

export function namespaces(): KubeManifest[] {
  return ['gw-system', NAMESPACE].map((name) => ({
    path: `/api/v1/namespaces/${name}`,
    object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
  }))
}

export function gateway(port: number): KubeManifest {
  return {
    path: `${GATEWAYS_PATH}/${GATEWAY}`,
    object: {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'Gateway',
      metadata: { name: GATEWAY, namespace: NAMESPACE },
      spec: { gatewayClassName: 'gw', listeners: [{ name: 'http', port, protocol: 'HTTP' }] },
    },
  }
}

export function hostOf(name: string): string {
  return `${name}.example.com`
}

/** A typical route: two paths, a header, and its own Service. */
export function route(name: string, version: string, labels: Readonly<Record<string, string>> = {}): KubeManifest {
  const set = { type: 'ResponseHeaderModifier', responseHeaderModifier: { set: [{ name: 'x-bench', value: version }] } }
  const backendRefs = [{ name, port: 80 }]
  return {
    path: `${ROUTES}/${name}`,
    object: {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'HTTPRoute',
      metadata: { name, namespace: NAMESPACE, labels },
      spec: {
        parentRefs: [{ name: GATEWAY }],
        hostnames: [hostOf(name)],
        rules: [
          { matches: [{ path: { type: 'PathPrefix', value: '/api' } }], filters: [set], backendRefs },
          { matches: [{ path: { type: 'PathPrefix', value: '/' } }], filters: [set], backendRefs },
        ],
      },
    },
  }
}

/**
 * A policy of the route with this name: a header of its responses. No `headerModifiers`: filters of the rules take
 * precedence over them.
 */
export function policy(name: string, version: string): KubeManifest {
  const targetRefs = [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', name }]
  const response = { set: [{ name: 'x-policy', value: `'${version}'` }] }
  return {
    path: `/apis/gw.dev/v1alpha1/namespaces/${NAMESPACE}/gwpolicies/${name}`,
    object: {
      apiVersion: 'gw.dev/v1alpha1',
      kind: 'GwPolicy',
      metadata: { name, namespace: NAMESPACE },
      spec: { targetRefs, traffic: { transformation: { response } } },
    },
  }
}

export interface Address {
  readonly ip: string
  readonly port: number
}

export function service(name: string): KubeManifest {
  return {
    path: `/api/v1/namespaces/${NAMESPACE}/services/${name}`,
    object: {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace: NAMESPACE },
      // Without a cluster IP: a test cluster has only 65,536 of them.
      spec: { clusterIP: 'None', ports: [{ name: 'http', port: 80 }] },
    },
  }
}

export function endpoints(name: string, { ip, port }: Address): KubeManifest {
  return {
    path: `${SLICES}/${name}-1`,
    object: {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: `${name}-1`, namespace: NAMESPACE, labels: { 'kubernetes.io/service-name': name } },
      addressType: 'IPv4',
      endpoints: [{ addresses: [ip], conditions: { ready: true }, targetRef: { kind: 'Pod', name: `${name}-a` } }],
      ports: [{ name: 'http', port }],
    },
  }
}

export interface ClusterOptions {
  /** Of the Gateway. */
  readonly port: number
  /** Of all routes. */
  readonly upstream: Address
}

/** All objects that translation reads, without an API server. */
export function clusterOf(count: number, { port, upstream }: ClusterOptions): KubeObject[] {
  const metadata = { name: 'gw' }
  const spec = { controllerName: SETTINGS.controllerName }
  const list: object[] = [{ apiVersion: 'gateway.networking.k8s.io/v1', kind: 'GatewayClass', metadata, spec }]
  for (let index = 0; index < count; index++) {
    const name = nameOf(index)
    list.push(...[route(name, 'v'), service(name), endpoints(name, upstream)].map(({ object }) => object))
  }
  list.push(gateway(port).object)
  // Manifests of the kinds.
  return list as KubeObject[]
}
