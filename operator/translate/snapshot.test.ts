import { describe, expect, it } from 'vitest'
import type { KubeObject } from './kube.ts'
import { createSnapshotter, snapshotOf } from './snapshot.ts'

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

  it('lists kinds it does not read, and groups with a similar name', () => {
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

  it('leaves out objects without the shape of their kind, and names them', () => {
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

  it('puts newer versions in their places, however many, and in any order', () => {
    const object = (name: string, version: number): KubeObject => {
      const metadata = { name, namespace: 'shop', resourceVersion: String(version) }
      return { apiVersion: 'v1', kind: 'Service', metadata }
    }
    const namespace: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }
    const take = createSnapshotter()
    let services = Array.from({ length: 300 }, (_, index) => object(`s-${index}`, 0))
    const first = take(services, [namespace])
    for (let version = 1; version <= services.length; version++) {
      const at = (version * 7) % services.length
      services = services.with(at, object(`s-${at}`, version))
      const now = take(services, [namespace])
      expect(now.Namespace).toBe(first.Namespace)
      expect(now.Service.get('shop', `s-${at}`)).toBe(services[at])
    }
    const last = take(services, [namespace])
    const fresh = snapshotOf([namespace, ...services])
    expect(last.Service.all).toEqual(fresh.Service.all)
    for (const one of services) expect(last.Service.get('shop', one.metadata.name)).toBe(one)
    expect(first.Service.get('shop', 's-7')?.metadata.resourceVersion).toBe('0')
    expect(take(services.slice(1), [namespace]).Service.get('shop', 's-0')).toBeUndefined()
  })
})
