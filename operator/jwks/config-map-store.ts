// The store in a cluster: one ConfigMap of the controller's namespace for each request key. Translation reads the same
// ConfigMaps from its snapshot. They hold only public keys, so they need no Secret.
import { Context, Effect, Layer } from 'effect'
import type { ConfigMap } from '../translate/kube.ts'
import { parseStored, STORE_KEY, type StoredKeySet } from '../translate/policy/stored-key-sets.ts'
import type { JwksStoreError } from './errors.ts'
import { JwksStore } from './store.ts'
import { storeConfigMap, storeName } from './stored-config-map.ts'

/** Requests of the store to the API server, in the controller's namespace. Only the leader may write. */
export class KeySetConfigMaps extends Context.Service<
  KeySetConfigMaps,
  {
    /** Those with the label of stored-key-sets.ts. */
    readonly list: Effect.Effect<readonly ConfigMap[], JwksStoreError>
    /** Creates or replaces. */
    readonly apply: (configMap: ConfigMap) => Effect.Effect<void, JwksStoreError>
    /** A missing one is deleted already. */
    readonly remove: (name: string) => Effect.Effect<void, JwksStoreError>
  }
>()('gw/operator/jwks/KeySetConfigMaps') {}

export function configMapJwksStore(namespace: string): Layer.Layer<JwksStore, never, KeySetConfigMaps> {
  return Layer.effect(
    JwksStore,
    Effect.map(KeySetConfigMaps, (configMaps) =>
      JwksStore.of({
        list: Effect.map(configMaps.list, (all) => all.flatMap((one) => storedIn(one) ?? [])),
        put: (entry) => configMaps.apply(storeConfigMap(entry, namespace)),
        remove: (requestKey) => configMaps.remove(storeName(requestKey)),
      }),
    ),
  )
}

/** An entry under another name than its own was not written by the store. */
function storedIn({ metadata, data }: ConfigMap): StoredKeySet | undefined {
  const stored = parseStored(data?.[STORE_KEY] ?? '')
  return stored !== undefined && metadata.name === storeName(stored.requestKey) ? stored : undefined
}
