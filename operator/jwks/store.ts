// Where fetched key sets are kept between fetches and, in a cluster, between processes. One entry for each request key.
import { Context, Effect, Layer } from 'effect'
import type { StoredKeySet } from '../translate/policy/stored-key-sets.ts'
import type { JwksStoreError } from './errors.ts'

export class JwksStore extends Context.Service<
  JwksStore,
  {
    readonly list: Effect.Effect<readonly StoredKeySet[], JwksStoreError>
    /** Replaces the entry of the same request key. */
    readonly put: (entry: StoredKeySet) => Effect.Effect<void, JwksStoreError>
    /** A missing entry is removed already. */
    readonly remove: (requestKey: string) => Effect.Effect<void, JwksStoreError>
  }
>()('gw/operator/jwks/JwksStore') {}

/** For one process, as `gw run`. `entries` belongs to the caller, who may read it at any time. */
export function memoryJwksStore(entries: Map<string, StoredKeySet>): Layer.Layer<JwksStore> {
  return Layer.succeed(
    JwksStore,
    JwksStore.of({
      list: Effect.sync(() => [...entries.values()]),
      put: (entry) => Effect.sync(() => void entries.set(entry.requestKey, entry)),
      remove: (requestKey) => Effect.sync(() => void entries.delete(requestKey)),
    }),
  )
}
