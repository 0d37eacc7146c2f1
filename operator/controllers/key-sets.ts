// Remote key sets: the leader fetches what the policies ask for and keeps it in ConfigMaps of its own namespace, from
// where translation takes it.
import { Effect, FiberSet, Layer, Schedule, type Scope } from 'effect'
import type { OwnerReference } from '#api/kube/object-meta.ts'
import { STORE_LABEL, STORE_LABEL_VALUE } from '../translate/policy/stored-key-sets.ts'
import type { ConfigMap } from '../translate/kube.ts'
import type { Snapshot } from '../translate/snapshot.ts'
import { configMapJwksStore, KeySetConfigMaps } from '../jwks/config-map-store.ts'
import { JwksStoreError } from '../jwks/errors.ts'
import { makeJwksFetcher } from '../jwks/fetcher.ts'
import { JwksHttp } from '../jwks/http.ts'
import { jwksRequests } from '../jwks/requests.ts'
import { KubeClient } from '../kube/client.ts'
import { describeKubeError, type KubeError } from '../kube/errors.ts'
import { TRANSLATED } from '../kube/resources.ts'
import type { World } from './world.ts'

/** Follows the snapshots it is given. Key sets are no reason for the leader to stop: what fails is tried again. */
export const makeKeySets: (
  world: Pick<World, 'settings' | 'owners'>,
) => Effect.Effect<(snapshot: Snapshot) => void, never, KubeClient | Scope.Scope> = Effect.fn('operator.keySets')(
  function* (world: Pick<World, 'settings' | 'owners'>) {
    const { settings } = world
    const client = yield* KubeClient
    const run = yield* FiberSet.makeRuntime()
    const store = configMapJwksStore(settings.namespace).pipe(
      Layer.provide(Layer.succeed(KeySetConfigMaps, configMapsOf(client, world))),
    )
    const making = makeJwksFetcher({
      stored: ({ url }) => Effect.logInfo('keys fetched', url),
      failed: ({ detail }, { url }) => Effect.logWarning('keys not fetched, trying again', url, detail),
    }).pipe(
      Effect.provide(Layer.merge(store, JwksHttp.layer({ isLoopbackAllowed: false }))),
      Effect.tapError(({ detail }) => Effect.logWarning('key sets cannot be listed, trying again', detail)),
      Effect.retry({ schedule: Schedule.spaced('1 second') }),
      Effect.orDie,
    )
    const fetcher = yield* making
    return (snapshot: Snapshot) => void run(fetcher.setRequests(jwksRequests(snapshot, settings)))
  },
  Effect.annotateLogs('component', 'jwks_store'),
)

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
