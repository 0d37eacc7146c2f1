// Remote key sets: the leader fetches the sets that policies need and stores them in ConfigMaps of its own namespace,
// where translation reads them.
import { Effect, FiberSet, Layer, Schedule, type Scope } from 'effect'
import { readAcknowledgements } from '#api/delivery/acknowledgement.ts'
import { keySetId, setsThatLacked } from '#api/delivery/unknown-keys.ts'
import type { OwnerReference } from '#api/kube/object-meta.ts'
import { STORE_LABEL, STORE_LABEL_VALUE } from '../translate/policy/stored-key-sets.ts'
import type { ConfigMap } from '../translate/kube.ts'
import type { Snapshot } from '../translate/snapshot.ts'
import { clusterRule } from '../jwks/address-rule.ts'
import { configMapJwksStore, KeySetConfigMaps } from '../jwks/config-map-store.ts'
import { JwksStoreError } from '../jwks/errors.ts'
import { makeJwksFetcher } from '../jwks/fetcher.ts'
import { JwksHttp } from '../jwks/http.ts'
import { jwksRequests, type OwnedRequest } from '../jwks/requests.ts'
import type { ObjectChange } from '../kube/cache.ts'
import { KubeClient } from '../kube/client.ts'
import { describeKubeError, type KubeError } from '../kube/errors.ts'
import { TRANSLATED } from '../kube/resources.ts'
import type { World } from './world.ts'

export interface KeySets {
  /** What the policies of these objects need, from now on. */
  readonly follow: (snapshot: Snapshot) => void
  /** Proxies of a Gateway may have met tokens whose keys they do not have. */
  readonly heard: (change: ObjectChange) => void
}

/** A failure of key sets must not stop the leader: it is retried. */
export const makeKeySets: (
  world: Pick<World, 'settings' | 'owners'>,
) => Effect.Effect<KeySets, never, KubeClient | Scope.Scope> = Effect.fn('operator.keySets')(
  function* (world: Pick<World, 'settings' | 'owners'>) {
    const { settings } = world
    const client = yield* KubeClient
    const run = yield* FiberSet.makeRuntime()
    const store = configMapJwksStore(settings.namespace).pipe(
      Layer.provide(Layer.succeed(KeySetConfigMaps, configMapsOf(client, world))),
    )
    const making = makeJwksFetcher({
      stored: ({ url }, warnings) =>
        Effect.andThen(
          Effect.logInfo('keys fetched', url),
          Effect.forEach(warnings, (warning) => Effect.logWarning('keys of an issuer', url, warning), {
            discard: true,
          }),
        ),
      failed: ({ detail }, { url }) => Effect.logWarning('cannot fetch keys, will retry', url, detail),
    }).pipe(
      Effect.provide(Layer.merge(store, JwksHttp.layer(clusterRule(settings.keySetAllowAddresses)))),
      Effect.tapError(({ detail }) => Effect.logWarning('cannot list key sets, will retry', detail)),
      Effect.retry({ schedule: Schedule.spaced('1 second') }),
      Effect.orDie,
    )
    const fetcher = yield* making
    let requests: readonly OwnedRequest[] = []
    const keySets: KeySets = {
      follow: (snapshot) => {
        requests = jwksRequests(snapshot, settings)
        run(fetcher.setRequests(requests))
      },
      heard: (change) => {
        const lacked = lackedSince(change)
        for (const { key } of requests) if (lacked.has(keySetId(key))) run(fetcher.refresh(key))
      },
    }
    return keySets
  },
  Effect.annotateLogs('component', 'jwks_store'),
)

/** Proxies without an earlier acknowledgement do not count: the keys may have arrived since. */
function lackedSince({ before, after }: ObjectChange): ReadonlySet<string> {
  if (before === undefined || after === undefined) return new Set()
  // Both ConfigMaps.
  return setsThatLacked(wordsOf(before as ConfigMap), wordsOf(after as ConfigMap))
}

function wordsOf({ data }: ConfigMap): ReturnType<typeof readAcknowledgements> {
  return readAcknowledgements(data)
}

function configMapsOf(
  client: KubeClient['Service'],
  world: Pick<World, 'settings' | 'owners'>,
): KeySetConfigMaps['Service'] {
  const { ConfigMap: resource } = TRANSLATED
  const { namespace, controllerName } = world.settings
  const failed = (operation: 'list' | 'put' | 'remove') => (error: KubeError) =>
    new JwksStoreError({ operation, detail: describeKubeError(error) })
  return KeySetConfigMaps.of({
    list: client.list(resource, { namespace, labelSelector: `${STORE_LABEL}=${STORE_LABEL_VALUE}` }).pipe(
      // Of its kind.
      Effect.map(({ items }) => items as ConfigMap[]),
      Effect.mapError(failed('list')),
    ),
    apply: (configMap) =>
      client
        .apply(owned(configMap, world.owners), resource, controllerName)
        .pipe(Effect.asVoid, Effect.mapError(failed('put'))),
    remove: (name) =>
      client.remove(resource, namespace, name).pipe(
        Effect.catchTag('KubeNotFound', () => Effect.void),
        Effect.mapError(failed('remove')),
      ),
  })
}

function owned(configMap: ConfigMap, owners: readonly OwnerReference[]): ConfigMap {
  return owners.length === 0
    ? configMap
    : { ...configMap, metadata: { ...configMap.metadata, ownerReferences: [...owners] } }
}
