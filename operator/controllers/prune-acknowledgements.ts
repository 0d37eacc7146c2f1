// Removes acknowledgements of deleted pods. A proxy that stops normally removes its own; this does it for the others.
import { Effect } from 'effect'
import { removalPatch } from '#api/delivery/acknowledgement.ts'
import { deliveryNames } from '#api/delivery/names.ts'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import { KubeClient } from '../kube/client.ts'
import { TRANSLATED } from '../kube/resources.ts'
import { workloadOf } from './gateway-facts.ts'
import { ACKNOWLEDGEMENTS, PROXY_POD } from './sources.ts'
import type { World } from './world.ts'

/** Pods checked in one run; the change of the ConfigMap starts the next run. */
const PODS_MAX = 50

export const pruneAcknowledgements = Effect.fn('operator.pruneAcknowledgements')(function* (
  world: World,
  gateway: Gateway,
) {
  const { name, namespace = '' } = gateway.metadata
  const { acknowledgements } = deliveryNames(name)
  // Where nothing runs the workload, proxies are not pods.
  if (workloadOf(world, gateway)?.status?.observedGeneration === undefined) return
  const object = world.cache.get(ACKNOWLEDGEMENTS, namespace, acknowledgements)
  // A ConfigMap.
  const { data } = { ...(object as { data?: Readonly<Record<string, string>> } | undefined) }
  const unknown = Object.keys(data ?? {}).filter((pod) => world.cache.get(PROXY_POD, namespace, pod) === undefined)
  const gone: string[] = []
  for (const pod of unknown.slice(0, PODS_MAX)) if (yield* isGone(namespace, pod)) gone.push(pod)
  if (gone.length === 0) return
  const client = yield* KubeClient
  const target = { resource: TRANSLATED.ConfigMap, namespace, name: acknowledgements, isStatus: false }
  yield* client.patch(target, removalPatch(gone))
})

/** A watch may lag behind, so the API server is asked. */
const isGone = Effect.fnUntraced(function* (namespace: string, pod: string) {
  const client = yield* KubeClient
  return yield* client.get(TRANSLATED.Pod, namespace, pod).pipe(
    Effect.as(false),
    Effect.catchTag('KubeNotFound', () => Effect.succeed(true)),
  )
})
