// InferencePools in the form of Services: one port, behind which every port of every member is an endpoint of its own.
import { isIdentical } from '#api/incremental/identical.ts'
import type { Pod } from '../kube.ts'
import { matchesLabels } from '../labels.ts'
import { derived, type Memory } from '../memory.ts'
import { namespaceOf } from '../object-ref.ts'
import type { ServiceEndpoint, ServiceParts } from './service-parts.ts'
import type { Snapshot } from '../snapshot.ts'
import type { InferencePool } from '../inference-pool.ts'
import type { PoolLookup } from './pool-lookup.ts'
import { UNREADY } from './workloads.ts'

/** By host name. The same object as last time when nothing in it has changed. */
export type RenderedPools = ReadonlyMap<string, ServiceParts>

/** Must be called with the current snapshot. */
export function poolRenderer(memory: Memory, lookup: PoolLookup | undefined): (snapshot: Snapshot) => RenderedPools {
  const partsOf = memory.table<InferencePool, ServiceParts>()
  const podsOf = derived(podsByNamespace)
  let last: RenderedPools = new Map()
  return (snapshot) => {
    if (lookup === undefined || snapshot.InferencePool.all.length === 0) return (last = last.size === 0 ? last : NONE)
    const pods = podsOf(snapshot.Pod.all)
    const parts = snapshot.InferencePool.all.map((pool) => {
      const members = (pods.get(namespaceOf(pool)) ?? []).filter((pod) => isMember(pod, pool))
      const hostname = lookup.hostname(namespaceOf(pool), pool.metadata.name)
      return partsOf(pool, members, () => renderPool(pool, members, hostname))
    })
    if (!isIdentical([...last.values()], parts)) last = new Map(parts.map((one) => [one.hostname, one]))
    return last
  }
}

const NONE: RenderedPools = new Map()
const OVER: ReadonlySet<string | undefined> = new Set(['Succeeded', 'Failed'])

function podsByNamespace(pods: readonly Pod[]): Map<string, Pod[]> {
  const byNamespace = new Map<string, Pod[]>()
  for (const pod of pods) {
    const list = byNamespace.get(namespaceOf(pod))
    if (list === undefined) byNamespace.set(namespaceOf(pod), [pod])
    else list.push(pod)
  }
  return byNamespace
}

function isMember({ metadata, status }: Pod, { spec }: InferencePool): boolean {
  const isLeaving = metadata.deletionTimestamp !== undefined || OVER.has(status?.phase)
  return !isLeaving && matchesLabels(spec.selector.matchLabels, metadata.labels)
}

function renderPool(pool: InferencePool, members: readonly Pod[], hostname: string): ServiceParts {
  const { targetPorts, appProtocol } = pool.spec
  const namespace = namespaceOf(pool)
  const port = firstPort(pool)
  const ports = targetPorts.map(({ number }) => [port, number] as const)
  const endpoints = members.flatMap((pod): ServiceEndpoint[] => endpointOf(pod, { hostname, namespace }, ports))
  return {
    hostname,
    rendered: {
      name: pool.metadata.name,
      namespace,
      hostname,
      ports: [{ port, ...(appProtocol !== undefined && { appProtocol }) }],
    },
    endpoints,
  }
}

/** The port of all references to the pool; their own ports are ignored. */
export function firstPort({ spec }: InferencePool): number {
  return spec.targetPorts[0]?.number ?? 0
}

function endpointOf(
  { metadata, spec, status }: Pod,
  service: NonNullable<ServiceEndpoint['service']>,
  ports: ServiceEndpoint['ports'],
): ServiceEndpoint[] {
  const addresses = addressesOf(status)
  if (addresses.length === 0) return []
  const healthy = status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') === true
  const { namespace } = service
  return [
    {
      // As for endpoints of Services: a Pod behind both is one workload.
      uid: `${namespace}/${metadata.name}${healthy ? '' : UNREADY}`,
      namespace,
      name: metadata.name,
      ...(spec?.nodeName !== undefined && { node: spec.nodeName }),
      ...(spec?.serviceAccountName !== undefined && { serviceAccount: spec.serviceAccountName }),
      healthy,
      addresses: [...new Set(addresses)],
      service,
      ports,
    },
  ]
}

function addressesOf(status: Pod['status']): string[] {
  const listed = (status?.podIPs ?? []).map(({ ip }) => ip)
  if (listed.length > 0) return listed
  return status?.podIP === undefined ? [] : [status.podIP]
}
