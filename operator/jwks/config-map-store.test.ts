// The ConfigMaps of the store: their form, what translation makes of them, and that others do not count.
import { expect, it } from '@effect/vitest'
import { Effect, Layer } from 'effect'
import type { ConfigMap } from '../translate/kube.ts'
import { storedKeySets, type StoredKeySet } from '../translate/policy/stored-key-sets.ts'
import { snapshotOf } from '../translate/snapshot.ts'
import { configMapJwksStore, KeySetConfigMaps } from './config-map-store.ts'
import { JwksStore } from './store.ts'
import { storeConfigMap, storeName } from './stored-config-map.ts'

const ENTRY: StoredKeySet = {
  requestKey: '["http://idp:80/keys",""]',
  url: 'http://idp:80/keys',
  fetchedAt: '2026-01-01T00:00:00.000Z',
  jwks: '{"keys":[]}',
}

it.effect('writes, lists and removes', () =>
  Effect.gen(function* () {
    const objects = new Map<string, ConfigMap>()
    const api = Layer.succeed(
      KeySetConfigMaps,
      KeySetConfigMaps.of({
        list: Effect.sync(() => [...objects.values()]),
        apply: (one) => Effect.sync(() => void objects.set(one.metadata.name, one)),
        remove: (name) => Effect.sync(() => void objects.delete(name)),
      }),
    )
    yield* Effect.gen(function* () {
      const store = yield* JwksStore
      yield* store.put(ENTRY)
      yield* store.put({ ...ENTRY, fetchedAt: '2026-01-02T00:00:00.000Z' })
      expect([...objects.values()]).toEqual([storeConfigMap({ ...ENTRY, fetchedAt: '2026-01-02T00:00:00.000Z' }, 'gw')])
      expect(storedKeySets(snapshotOf([...objects.values()]).ConfigMap, 'gw')(ENTRY.requestKey)).toBe(ENTRY.jwks)
      const forged = storeConfigMap(ENTRY, 'gw')
      objects.set('other', { ...forged, metadata: { ...forged.metadata, name: 'other' } })
      objects.set('broken', { ...forged, data: { 'jwks-store': '{' } })
      expect((yield* store.list).map(({ fetchedAt }) => fetchedAt)).toEqual(['2026-01-02T00:00:00.000Z'])
      yield* store.remove(ENTRY.requestKey)
      expect(objects.has(storeName(ENTRY.requestKey))).toBe(false)
    }).pipe(Effect.provide(Layer.provide(configMapJwksStore('gw'), api)))
  }),
)

it('uses names that the API server accepts', () => {
  expect(storeName(ENTRY.requestKey)).toMatch(/^jwks-store-[0-9a-f]{64}$/)
})
