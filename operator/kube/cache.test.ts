import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../translate/kube.ts'
import { Contents, isBare } from './contents.ts'
import { ObjectCache, type ObjectChange } from './cache.ts'

function route(version: number, rest: { hostnames?: string[]; status?: unknown } = {}): KubeObject {
  const { hostnames = ['a.example.com'], status } = rest
  const object = {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name: 'cart', namespace: 'shop', resourceVersion: String(version) },
    spec: { hostnames },
    ...(status !== undefined && { status }),
  }
  return object
}

function watched(): { cache: ObjectCache; changes: ObjectChange[] } {
  const [cache, changes] = [new ObjectCache(), [] as ObjectChange[]]
  cache.onChange((change) => changes.push(change))
  return { cache, changes }
}

describe('ObjectCache', () => {
  it('gives translation the same object while only the status changes, with the current status', () => {
    const { cache, changes } = watched()
    cache.put('HTTPRoute', route(1))
    const [first] = cache.views('HTTPRoute')
    cache.put('HTTPRoute', route(2, { status: { parents: [{ controllerName: 'ours' }] } }))
    expect([...cache.views('HTTPRoute')][0]).toBe(first)
    expect(first).toMatchObject({ status: { parents: [{ controllerName: 'ours' }] } })
    expect(cache.get('HTTPRoute', 'shop', 'cart')?.metadata.resourceVersion).toBe('2')
    expect(changes.map(({ isStatusOnly }) => isStatusOnly)).toEqual([false, true])
  })

  it('gives another object when anything else changes, and none after a deletion', () => {
    const { cache, changes } = watched()
    cache.put('HTTPRoute', route(1))
    const [first] = cache.views('HTTPRoute')
    cache.put('HTTPRoute', route(2, { hostnames: ['b.example.com'] }))
    const [second] = cache.views('HTTPRoute')
    expect(second).not.toBe(first)
    expect(second).toMatchObject({ spec: { hostnames: ['b.example.com'] } })
    cache.remove('HTTPRoute', route(3))
    expect([...cache.views('HTTPRoute')]).toEqual([])
    expect(changes.map(({ isStatusOnly }) => isStatusOnly)).toEqual([false, false, false])
  })

  it('gives another Service when its addresses change, which are part of the status', () => {
    const { cache } = watched()
    const service = (version: number, ip: string): KubeObject => {
      const status = { loadBalancer: { ingress: [{ ip }] } }
      const metadata = { name: 'web', namespace: 'shop', resourceVersion: String(version) }
      const object = { apiVersion: 'v1', kind: 'Service', metadata, spec: {}, status }
      return object
    }
    cache.put('Service', service(1, '10.0.0.1'))
    const [first] = cache.views('Service')
    cache.put('Service', service(2, '10.0.0.2'))
    expect([...cache.views('Service')][0]).not.toBe(first)
  })

  it('keeps its objects when a new list has the same versions', () => {
    const { cache, changes } = watched()
    const service = (version: number): KubeObject => ({ ...route(version, { status: {} }), kind: 'Other' })
    cache.replace('Other', [service(1)])
    const [first] = cache.views('Other')
    cache.replace('Other', [service(1)])
    expect([...cache.views('Other')][0]).toBe(first)
    cache.put('Other', service(2))
    expect([...cache.views('Other')][0]).toBe(first)
    expect(cache.get('Other', 'shop', 'cart')?.metadata.resourceVersion).toBe('2')
    expect(changes).toHaveLength(1)
  })

  it('reports no change for an equal or an older object', () => {
    const { cache, changes } = watched()
    cache.put('HTTPRoute', route(5))
    cache.put('HTTPRoute', route(6))
    cache.put('HTTPRoute', route(4, { hostnames: ['old.example.com'] }))
    cache.remove('HTTPRoute', { ...route(7), metadata: { name: 'other', namespace: 'shop' } })
    expect(changes).toHaveLength(1)
    expect(cache.get('HTTPRoute', 'shop', 'cart')).toMatchObject({ spec: { hostnames: ['a.example.com'] } })
  })
})

describe('a response that arrives after the watch event', () => {
  const made = (uid: string, version: number): KubeObject => {
    const object = route(version)
    return { ...object, metadata: { ...object.metadata, uid } }
  }

  it.each<[string, KubeObject | undefined, KubeObject, string | undefined]>([
    ['of a known object counts', made('a', 1), made('a', 2), '2'],
    ['that is older does not', made('a', 3), made('a', 2), '3'],
    ['of an object that is gone does not bring it back', undefined, made('a', 2), undefined],
    ['of an object that was made again does not count', made('b', 1), made('a', 2), '1'],
  ])('%s', (_what, known, answer, version) => {
    const { cache } = watched()
    cache.put('HTTPRoute', made('a', 0))
    cache.remove('HTTPRoute', made('a', 0))
    if (known !== undefined) cache.put('HTTPRoute', known)
    cache.update('HTTPRoute', answer)
    expect(cache.get('HTTPRoute', 'shop', 'cart')?.metadata.resourceVersion).toBe(version)
  })

  it('keeps content that it has, and reads it again where a later version came without it', () => {
    const cache = new ObjectCache(new Contents(() => false))
    const secret = (version: number): KubeObject => {
      const metadata = { name: 'token', namespace: 'shop', resourceVersion: String(version) }
      const object = { apiVersion: 'v1', kind: 'Secret', metadata, data: { token: 'x'.repeat(1000) } }
      return object
    }
    const read = (): number =>
      cache.reading(() => cache.views('Secret').map((object) => 'data' in object && object.data)).missing.length
    // A list is in memory before translation reads the object, and replaces the cache after that.
    const listed = (version: number): KubeObject[] => [cache.fit('Secret', secret(version)) ?? secret(version)]
    const [first, second] = [listed(1), listed(2)]
    cache.replace('Secret', first)
    expect([read(), read()]).toEqual([1, 0])
    cache.put('Secret', secret(1))
    cache.replace('Secret', first)
    expect(isBare(cache.get('Secret', 'shop', 'token'))).toBe(false)
    cache.replace('Secret', second)
    expect(isBare(cache.get('Secret', 'shop', 'token'))).toBe(true)
    expect([read(), read()]).toEqual([1, 0])
  })
})
