// Collects what withProgrammed has to know about one Gateway from the cache.
import { deliveryNames, safeName } from '#api/delivery/names.ts'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import { wantedAddress } from '#deployer/address.ts'
import { statusOf } from '../kube/status-of.ts'
import type { Condition } from '../status/condition.ts'
import type { KubeObject } from '../translate/kube.ts'
import type { GatewayFacts } from './gateway-programmed.ts'
import { acknowledgementsOf, type World } from './world.ts'

export function gatewayStatusFacts(
  world: World,
  gateway: Gateway,
  known: Pick<GatewayFacts, 'deployProblems' | 'failure'>,
): GatewayFacts {
  const { name, namespace = '', uid = '', generation = 0 } = gateway.metadata
  const { acknowledgements } = deliveryNames(name)
  return {
    ...known,
    uid,
    generation,
    wantedAddress: wantedAddress(gateway).ip,
    acknowledgements: acknowledgementsOf(world, gateway, acknowledgements),
    isReplicaExpected: isReplicaExpected(world.cache.get('Deployment', namespace, safeName(name))),
    current: conditionsOf(world.cache.get('Gateway', namespace, name)),
  }
}

/** A Deployment that was scaled to zero has no proxy that could answer. */
function isReplicaExpected(deployment: KubeObject | undefined): boolean {
  return (deployment as { spec?: { replicas?: number } } | undefined)?.spec?.replicas !== 0
}

function conditionsOf(gateway: KubeObject | undefined): readonly Condition[] {
  const status = gateway === undefined ? undefined : statusOf(gateway)
  // The status of a Gateway.
  return (status as { conditions?: readonly Condition[] } | undefined)?.conditions ?? []
}
