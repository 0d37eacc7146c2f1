import { describe, expect, it } from 'vitest'
import type { RouteBody } from '../object-status.ts'
import type { KubeObject } from '../kube.ts'
import { createSnapshotter } from '../snapshot.ts'
import { createTranslator } from './translator.ts'
import type { Translation } from '../translation.ts'

const SETTINGS = { controllerName: 'gw.dev/controller', className: 'gw', clusterDomain: 'cluster.local' }
const GATEWAY_API = 'gateway.networking.k8s.io/v1'

const metadata = (name: string) => ({ name, namespace: 'shop', generation: 1 })
const BASE: readonly object[] = [
  {
    apiVersion: GATEWAY_API,
    kind: 'GatewayClass',
    metadata: { name: 'gw' },
    spec: { controllerName: SETTINGS.controllerName },
  },
  {
    apiVersion: GATEWAY_API,
    kind: 'Gateway',
    metadata: metadata('edge'),
    spec: { gatewayClassName: 'gw', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
  },
  {
    apiVersion: GATEWAY_API,
    kind: 'HTTPRoute',
    metadata: metadata('web'),
    spec: { parentRefs: [{ name: 'edge' }], rules: [{ backendRefs: [{ name: 'web', port: 80 }] }] },
  },
  { apiVersion: 'v1', kind: 'Service', metadata: metadata('web'), spec: { ports: [{ port: 80 }] } },
]

function slice(name: string, ...ready: readonly boolean[]): object {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { ...metadata(name), labels: { 'kubernetes.io/service-name': 'web' } },
    endpoints: ready.map((one, at) => ({ addresses: [`10.0.0.${at + 1}`], conditions: { ready: one } })),
    ports: [{ port: 8080 }],
  }
}

function statusOf({ statuses }: Translation): RouteBody {
  // The only HTTPRoute.
  return statuses.find(({ kind }) => kind === 'HTTPRoute')?.status as RouteBody
}

function conditionsOf(translation: Translation): string[] {
  const [parent] = statusOf(translation).parents
  return (parent?.conditions ?? []).map(({ type, status, reason }) => `${type}=${status} ${reason}`)
}

function following(areEndpointsComplete: boolean): (...slices: readonly object[]) => Translation {
  const [snapshot, translator] = [createSnapshotter(), createTranslator({ ...SETTINGS, areEndpointsComplete })]
  // Written above with the shape of their kinds.
  return (...slices) => translator.translate(snapshot([...BASE, ...slices] as KubeObject[]))
}

const FINE = ['Accepted=True Accepted', 'ResolvedRefs=True ResolvedRefs']
const EMPTY = [...FINE, 'gw.dev/BackendsAvailable=False NoReadyEndpoints']

describe('the status of a route', () => {
  it('changes only when its Service gets its first endpoint or loses its last one', () => {
    const next = following(true)
    const none = next(slice('a'))
    expect(conditionsOf(none)).toEqual(EMPTY)
    // No Event: starting pods are not a mistake, and a GwBackend has its own.
    expect(none.problems).toEqual([])
    expect(statusOf(next(slice('a', false)))).toBe(statusOf(none))
    const one = next(slice('a', true))
    expect(conditionsOf(one)).toEqual(FINE)
    expect(statusOf(next(slice('a', true, true), slice('b', true)))).toBe(statusOf(one))
    expect(statusOf(next(slice('a', false), slice('b', true)))).toBe(statusOf(one))
    expect(conditionsOf(next(slice('a', false), slice('b', false)))).toEqual(EMPTY)
  })

  it('names a Service without any EndpointSlice in a cluster', () => {
    expect(conditionsOf(following(true)())).toEqual(EMPTY)
  })

  it('does not report Services without EndpointSlices in a folder of manifests', () => {
    expect(conditionsOf(following(false)())).toEqual(FINE)
    expect(conditionsOf(following(false)(slice('a')))).toEqual(EMPTY)
  })
})
