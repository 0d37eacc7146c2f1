import { describe, expect, it } from 'vitest'
import type { KubeObject } from './kube.ts'
import { snapshotOf } from './snapshot.ts'

function service(name: string, creationTimestamp?: string, port = 80): KubeObject {
  const metadata = { name, namespace: 'a', ...(creationTimestamp !== undefined && { creationTimestamp }) }
  // A Service has more fields than the base of all kinds.
  return { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports: [{ port }] } } as KubeObject
}

describe('snapshotOf', () => {
  it('orders by age, then namespace and name', () => {
    const snapshot = snapshotOf([
      service('c', '2026-01-01T00:00:00Z'),
      service('b', '2026-01-02T00:00:00Z'),
      service('a', '2026-01-02T00:00:00Z'),
    ])
    expect(snapshot.Service.all.map(({ metadata }) => metadata.name)).toEqual(['c', 'a', 'b'])
    expect(snapshot.Service.get('a', 'b')?.metadata.name).toBe('b')
    expect(snapshot.Service.get('b', 'b')).toBeUndefined()
  })

  it('lists kinds it does not read, and groups that only look alike', () => {
    const volume = { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'n' } }
    const lookalike = { apiVersion: 'serving.example.com/v1', kind: 'Service', metadata: { name: 's', namespace: 'a' } }
    const snapshot = snapshotOf([volume, lookalike])
    expect(snapshot.ignored.map(({ kind }) => kind)).toEqual(['Service', 'PersistentVolume'])
    expect(snapshot.Service.all).toEqual([])
  })

  it('keeps one of two objects of one name, whichever comes first', () => {
    const one = service('x', undefined, 80)
    const two = service('x', undefined, 81)
    expect(snapshotOf([one, two]).Service.all).toEqual(snapshotOf([two, one]).Service.all)
    expect(snapshotOf([one, two]).ignored).toHaveLength(1)
  })

  it('reads every version of a group', () => {
    const grant = {
      apiVersion: 'gateway.networking.k8s.io/v1beta1',
      kind: 'ReferenceGrant',
      metadata: { name: 'g', namespace: 'a' },
      spec: { from: [], to: [] },
    }
    expect(snapshotOf([grant]).ReferenceGrant.all).toHaveLength(1)
  })

  it('keeps objects without the shape of their kind out, and names them', () => {
    const route = {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'HTTPRoute',
      metadata: { name: 'r', namespace: 'a' },
      spec: { rules: 'none' },
    }
    const snapshot = snapshotOf([route])
    expect(snapshot.HTTPRoute.all).toEqual([])
    expect(snapshot.malformed).toEqual([{ apiVersion: route.apiVersion, kind: 'HTTPRoute', namespace: 'a', name: 'r' }])
  })
})
