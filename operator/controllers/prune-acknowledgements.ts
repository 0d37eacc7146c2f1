// Removes acknowledgements of deleted pods, and earlier ones of pods that use another ConfigMap now. A proxy that stops
// normally removes its own.
import { Effect } from 'effect'
import { removalPatch } from '#api/delivery/acknowledgement.ts'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import { KubeClient } from '../kube/client.ts'
import { TRANSLATED } from '../kube/resources.ts'
import { workloadOf } from './gateway-facts.ts'
import { PROXY_POD } from './sources.ts'
import { acknowledgementShards, latestOf, type World } from './world.ts'

/** Pods checked in one run; the change of the ConfigMap starts the next run. */
const PODS_MAX = 50

export const pruneAcknowledgements = Effect.fn('operator.pruneAcknowledgements')(function* (
  world: World,
  gateway: Gateway,
) {
  const { namespace = '' } = gateway.metadata
  // Where nothing runs the workload, proxies are not pods.
  if (workloadOf(world, gateway)?.status?.observedGeneration === undefined) return
  const shards = acknowledgementShards(world, gateway)
  const latest = latestOf(shards.map(({ said }) => said))
  const client = yield* KubeClient
  let asked = 0
  for (const { name, said } of shards) {
    const old: string[] = []
    for (const [pod, one] of said) {
      if (latest.get(pod) !== one) old.push(pod)
      else if (world.cache.get(PROXY_POD, namespace, pod) !== undefined || asked === PODS_MAX) continue
      else {
        asked++
        if (yield* isGone(namespace, pod)) old.push(pod)
      }
    }
    if (old.length === 0) continue
    const target = { resource: TRANSLATED.ConfigMap, namespace, name, isStatus: false }
    yield* client.patch(target, removalPatch(old))
  }
})

/** A watch may lag behind, so the API server is asked. */
const isGone = Effect.fnUntraced(function* (namespace: string, pod: string) {
  const client = yield* KubeClient
  return yield* client.get(TRANSLATED.Pod, namespace, pod).pipe(
    Effect.as(false),
    Effect.catchTag('KubeNotFound', () => Effect.succeed(true)),
  )
})
