// Clusters of the sizes that one controller must serve, in memory: Gateways with HTTPRoutes, each route with a Service
// and an EndpointSlice, and policies with a Secret each. Pure.
import type { KubeObject } from '#operator/translate/kube.ts'
import { endpoints, GATEWAY, NAMESPACE, nameOf, route, service } from './cluster.ts'

export interface ClusterSize {
  readonly gateways: number
  /** Of all Gateways together. */
  readonly routes: number
  /** Likewise. Every fifth one targets a Service, the others an HTTPRoute. */
  readonly policies: number
}

/** The policy with this number protects this route, or its Service. */
export function routeOfPolicy(index: number, { routes, policies }: ClusterSize): number {
  return Math.floor((index * routes) / policies)
}

export function gatewayName(index: number): string {
  return `${GATEWAY}-${index}`
}

/** All in one namespace, as they arrive: kind by kind. */
export function largeCluster(size: ClusterSize): KubeObject[] {
  const { gateways, routes, policies } = size
  const spec = { controllerName: 'gw.dev/controller' }
  const all: object[] = [
    { apiVersion: `${GATEWAY_GROUP}/v1`, kind: 'GatewayClass', metadata: { name: 'gw' }, spec },
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'unrelated' } },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'unrelated', namespace: NAMESPACE }, data: {} },
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'unrelated', namespace: NAMESPACE }, data: {} },
  ]
  for (let index = 0; index < gateways; index++) all.push(gatewayOf(index))
  for (let index = 0; index < routes; index++) all.push(...routeAt(index, size))
  for (let index = 0; index < policies; index++) all.push(...policyAt(index, size))
  // Manifests of the kinds.
  return all as KubeObject[]
}

const GATEWAY_GROUP = 'gateway.networking.k8s.io'

function gatewayOf(index: number): object {
  return {
    apiVersion: `${GATEWAY_GROUP}/v1`,
    kind: 'Gateway',
    metadata: { name: gatewayName(index), namespace: NAMESPACE },
    spec: {
      gatewayClassName: 'gw',
      listeners: [
        { name: 'http', port: 80, protocol: 'HTTP' },
        { name: 'other', port: 81, protocol: 'HTTP' },
      ],
    },
  }
}

/** The Gateways have equal numbers of routes, one after the other. */
function routeAt(index: number, { gateways, routes }: ClusterSize): object[] {
  const name = nameOf(index)
  // A manifest of the kind.
  const object = route(name, 'v').object as KubeObject & { readonly spec: object }
  const parentRefs = [{ name: gatewayName(Math.floor((index * gateways) / routes)), sectionName: 'http' }]
  const ip = `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`
  return [
    { ...object, spec: { ...object.spec, parentRefs } },
    service(name).object,
    endpoints(name, { ip, port: 80 }).object,
  ]
}

function policyAt(index: number, size: ClusterSize): object[] {
  const name = nameOf(index)
  const metadata = { name, namespace: NAMESPACE }
  const target = nameOf(routeOfPolicy(index, size))
  const ref =
    index % 5 === 4
      ? { group: '', kind: 'Service', name: target }
      : { group: GATEWAY_GROUP, kind: 'HTTPRoute', name: target }
  const ofRoutes = ref.kind === 'HTTPRoute' && { traffic: { csrf: {} } }
  const spec = { targetRefs: [ref], ...ofRoutes, backend: { auth: { secretRef: { name } } } }
  return [
    { apiVersion: 'v1', kind: 'Secret', metadata, data: { Authorization: encoded(`key of ${name}`) } },
    { apiVersion: 'gw.dev/v1alpha1', kind: 'GwPolicy', metadata, spec },
  ]
}

function encoded(text: string): string {
  return Buffer.from(text).toString('base64')
}
