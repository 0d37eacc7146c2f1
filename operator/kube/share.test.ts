// Equal parts of objects in the cache are the same objects.
import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../translate/kube.ts'
import { ObjectCache } from './cache.ts'
import { Sharing } from './share.ts'

function route(name: string, fields: object = {}): KubeObject {
  const metadata = { name, namespace: 'shop', resourceVersion: '1', uid: name, labels: { team: 'a' } }
  const rule = { matches: [{ path: { type: 'PathPrefix', value: '/' } }], backendRefs: [{ name, port: 80 }] }
  const spec = { parentRefs: [{ name: 'edge' }], hostnames: [name], rules: [rule, structuredClone(rule)] }
  const made = { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'HTTPRoute', metadata, spec, ...fields }
  return made
}

interface Shared extends KubeObject {
  readonly spec: {
    readonly parentRefs: object
    readonly rules: readonly { readonly matches: object; readonly backendRefs: object }[]
  }
  readonly status?: object
}

describe('Sharing', () => {
  it('shares what two objects have in common, and changes neither', () => {
    const sharing = new Sharing()
    const given = [route('a'), route('b')] as const
    const copies = structuredClone(given)
    const [a, b] = [sharing.of(given[0]) as Shared, sharing.of(given[1]) as Shared]
    expect([a, b]).toEqual(copies)
    expect(given).toEqual(copies)
    expect(b.metadata.labels).toBe(a.metadata.labels)
    expect(b.spec.parentRefs).toBe(a.spec.parentRefs)
    const [ofA, ofB] = [a.spec.rules, b.spec.rules]
    expect(new Set([...ofA, ...ofB].map(({ matches }) => matches)).size).toBe(1)
    // Of the two rules of a route, and not of another route.
    expect(new Set(ofA.map(({ backendRefs }) => backendRefs)).size).toBe(1)
    expect(new Set([...ofA, ...ofB].map(({ backendRefs }) => backendRefs)).size).toBe(2)
  })

  it('takes objects whose fields have other types', () => {
    const odd = [
      { spec: 1 },
      { spec: { rules: 'x', ports: null } },
      { spec: { rules: [1, null] } },
      { endpoints: [[]] },
    ]
    for (const fields of odd) expect(new Sharing().of(route('a', fields))).toEqual(route('a', fields))
  })

  it('keeps the other parts of an object of which only the status changes', () => {
    const cache = new ObjectCache()
    cache.put('HTTPRoute', route('a'))
    const before = cache.get('HTTPRoute', 'shop', 'a') as Shared
    const changed = route('a', { status: { parents: [] } })
    cache.put('HTTPRoute', { ...changed, metadata: { ...changed.metadata, resourceVersion: '2' } })
    const after = cache.get('HTTPRoute', 'shop', 'a') as Shared
    expect(after.spec).toBe(before.spec)
    expect(after.metadata.resourceVersion).toBe('2')
    expect(after.status).toEqual({ parents: [] })
    const again = route('a')
    cache.put('HTTPRoute', { ...again, metadata: { ...again.metadata, resourceVersion: '3' } })
    expect(cache.get('HTTPRoute', 'shop', 'a')).not.toHaveProperty('status')
  })
})
