// Collects the input of withProgrammed for one Gateway from the cache.
import { GATEWAY_NAME_LABEL, safeName } from '#api/delivery/names.ts'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import { wantedAddress } from '#deployer/address.ts'
import { statusOf } from '../kube/status-of.ts'
import type { Condition } from '../translate/object-status.ts'
import { gatewayAddresses } from '../translate/gateway/addresses.ts'
import type { KubeObject, Service } from '../translate/kube.ts'
import type { GatewayFacts } from './gateway-programmed.ts'
import { type ConditionOfPart, type PodFacts, proxyTrouble } from './proxy-trouble.ts'
import { PROXY_POD } from './sources.ts'
import { acknowledgementsOf, type World } from './world.ts'

export function gatewayStatusFacts(
  world: World,
  gateway: Gateway,
  known: Pick<GatewayFacts, 'deployProblems' | 'failure' | 'leftOut'>,
): GatewayFacts {
  const { name, namespace = '', uid = '', generation = 0 } = gateway.metadata
  const workload = workloadOf(world, gateway)
  return {
    ...known,
    uid,
    generation,
    wantedAddress: wantedAddress(gateway).ip,
    ...addressFacts(world, gateway),
    acknowledgements: acknowledgementsOf(world, gateway),
    isReplicaExpected: workload === undefined || isReplicaExpected(workload),
    readyPods: workload?.status?.observedGeneration === undefined ? undefined : readyPods(world, gateway),
    isAvailable: isAvailable(workload),
    trouble: troubleOf(world, gateway, workload),
    isRollingOut: isRollingOut(workload),
    current: conditionsOf(world.cache.get('Gateway', namespace, name)),
  }
}

/** From the current Service: the translation may have used the previous version. */
function addressFacts(
  { cache }: World,
  gateway: Gateway,
): Pick<GatewayFacts, 'addresses' | 'hasService' | 'hadAddress'> {
  const { name, namespace = '' } = gateway.metadata
  // Of its kind in the cache.
  const service = cache.get('Service', namespace, safeName(name)) as Service | undefined
  const live = cache.get('Gateway', namespace, name)
  // The status of a Gateway.
  const status = live && (statusOf(live) as { readonly addresses?: readonly unknown[] } | undefined)
  return {
    addresses: gatewayAddresses(service === undefined ? [] : [service])(gateway),
    hasService: service !== undefined,
    hadAddress: (status?.addresses?.length ?? 0) > 0,
  }
}

/** Deployment or DaemonSet, as far as it is kept; see trim.ts. */
interface Workload {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly generation?: number }
  readonly spec?: { readonly replicas?: number }
  readonly status?: {
    readonly observedGeneration?: number
    readonly desiredNumberScheduled?: number
    readonly updatedNumberScheduled?: number
    readonly replicas?: number
    readonly updatedReplicas?: number
    readonly availableReplicas?: number
    readonly numberAvailable?: number
    readonly conditions?: readonly ConditionOfPart[]
  }
}

export function workloadOf({ cache }: World, { metadata }: Gateway): Workload | undefined {
  const { name, namespace = '' } = metadata
  return cache.get('Deployment', namespace, safeName(name)) ?? cache.get('DaemonSet', namespace, safeName(name))
}

/** Proxies that run, or are going to. */
export function proxyCount(world: World, gateway: Gateway): number {
  const { spec, status } = workloadOf(world, gateway) ?? {}
  return Math.max(spec?.replicas ?? 0, status?.replicas ?? 0, status?.desiredNumberScheduled ?? 0)
}

/** A Deployment that is scaled to zero, or a DaemonSet that matches no node, has no proxy that could serve. */
function isReplicaExpected({ kind, metadata, spec, status }: Workload): boolean {
  if (kind === 'Deployment') return spec?.replicas !== 0
  const isCounted = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 1)
  return !isCounted || status?.desiredNumberScheduled !== 0
}

/** Some pods run a previous version of the workload. */
function isRollingOut(workload: Workload | undefined): boolean {
  const { replicas, updatedReplicas, desiredNumberScheduled, updatedNumberScheduled } = workload?.status ?? {}
  return (updatedReplicas ?? updatedNumberScheduled ?? 0) < (replicas ?? desiredNumberScheduled ?? 0)
}

/** A pod has been ready for the `minReadySeconds` of the workload; true where nothing runs workloads. */
function isAvailable(workload: Workload | undefined): boolean {
  const status = workload?.status
  if (status?.observedGeneration === undefined) return true
  return (status.availableReplicas ?? status.numberAvailable ?? 0) > 0
}

/** Of those that are not being deleted. */
function podsOf(world: World, { metadata: { name, namespace } }: Gateway): PodFacts[] {
  return [...world.cache.all(PROXY_POD)].flatMap((pod) => {
    const { metadata } = pod
    if (metadata.namespace !== namespace || metadata.labels?.[GATEWAY_NAME_LABEL] !== safeName(name)) return []
    if (metadata.deletionTimestamp !== undefined) return []
    // As trim.ts keeps it.
    const status = (statusOf(pod) ?? {}) as {
      conditions?: readonly ConditionOfPart[]
      troubles?: PodFacts['containers']
    }
    return [{ name: metadata.name, conditions: status.conditions ?? [], containers: status.troubles ?? [] }]
  })
}

/** Proxies that the Service of the Gateway selects. */
function readyPods(world: World, gateway: Gateway): ReadonlySet<string> {
  const isReady = ({ conditions }: PodFacts): boolean =>
    conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
  return new Set(podsOf(world, gateway).flatMap((pod) => (isReady(pod) ? [pod.name] : [])))
}

function troubleOf(world: World, gateway: Gateway, workload: Workload | undefined): string | undefined {
  const { kind, metadata, status } = workload ?? {}
  const facts = kind === undefined || metadata === undefined ? undefined : { kind, name: metadata.name }
  return proxyTrouble(facts && { ...facts, conditions: status?.conditions ?? [] }, podsOf(world, gateway))
}

function conditionsOf(gateway: KubeObject | undefined): readonly Condition[] {
  const status = gateway === undefined ? undefined : statusOf(gateway)
  // The status of a Gateway.
  return (status as { conditions?: readonly Condition[] } | undefined)?.conditions ?? []
}
