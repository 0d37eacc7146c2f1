// Endpoints of EndpointSlices, gathered by Pod: a Pod behind several Services is one workload.
import type { Workload, WorkloadPort } from '#api/ir/types.gen.ts'
import type { Endpoint, EndpointSlice, Service } from '../kube.ts'
import type { Remember } from '../memory.ts'
import { namespaceOf } from '../object-ref.ts'
import { compareText, sortedBy } from '../order.ts'

/** A workload as one Service sees it. */
export interface ServiceEndpoint {
  readonly uid: string
  readonly namespace: string
  readonly name?: string
  readonly node?: string
  readonly zone?: string
  readonly healthy: boolean
  readonly addresses: ReadonlySet<string>
  readonly service: { readonly hostname: string; readonly namespace: string }
  /** Of the service, and of the workload. */
  readonly ports: Iterable<readonly [number, number]>
}

interface EndpointDraft extends ServiceEndpoint {
  readonly addresses: Set<string>
  readonly ports: Map<number, number>
}

export interface ServiceSlices {
  readonly service: Service
  readonly slices: readonly EndpointSlice[]
  readonly hostname: string
}

/** Each workload once. */
export function endpointsOf({ service, slices, hostname }: ServiceSlices): ServiceEndpoint[] {
  const drafts = new Map<string, EndpointDraft>()
  for (const slice of slices) {
    const ports = slice.addressType === 'FQDN' ? [] : portMap(slice, service)
    if (ports.length === 0) continue
    for (const endpoint of slice.endpoints ?? []) {
      const fresh = draftOf(endpoint, namespaceOf(slice), { hostname, namespace: namespaceOf(service) })
      if (fresh === undefined) continue
      const draft = drafts.get(fresh.uid) ?? fresh
      drafts.set(fresh.uid, draft)
      for (const address of endpoint.addresses) draft.addresses.add(address)
      for (const { port, targetPort } of ports) draft.ports.set(port, targetPort)
    }
  }
  return [...drafts.values()]
}

/** Not in order. */
export function workloadsOf(
  endpoints: readonly ServiceEndpoint[],
  remember: Remember<ServiceEndpoint, Workload>,
): Workload[] {
  const byUid = new Map<string, ServiceEndpoint | ServiceEndpoint[]>()
  for (const endpoint of endpoints) {
    const known = byUid.get(endpoint.uid)
    if (known === undefined) byUid.set(endpoint.uid, endpoint)
    else if (Array.isArray(known)) known.push(endpoint)
    else byUid.set(endpoint.uid, [known, endpoint])
  }
  return [...byUid.values()].flatMap((one) => {
    if (!Array.isArray(one)) return remember(one, [], () => workloadOf(one, []))
    const [first, ...rest] = sortedBy(one, ({ service }) => service.hostname)
    return first === undefined ? [] : remember(first, rest, () => workloadOf(first, rest))
  })
}

/** `first` and `rest`: of one uid, in order of their Services. */
function workloadOf(first: ServiceEndpoint, rest: readonly ServiceEndpoint[]): Workload {
  const { uid, namespace, name, node, zone, healthy } = first
  const endpoints = [first, ...rest]
  return {
    uid,
    namespace,
    ...(name !== undefined && { name }),
    addresses: [...new Set(endpoints.flatMap(({ addresses }) => [...addresses]))].sort(compareText),
    ...(node !== undefined && { node }),
    ...(zone !== undefined && { zone }),
    healthy,
    services: endpoints.map(({ service, ports }) => ({
      ...service,
      ports: [...ports]
        .map(([port, targetPort]): WorkloadPort => ({ port, targetPort }))
        .sort((a, b) => a.port - b.port || a.targetPort - b.targetPort),
    })),
  }
}

/** A slice port carries the name of its Service port; that is what joins the two numbers. */
function portMap(slice: EndpointSlice, service: Service): WorkloadPort[] {
  const byName = new Map((service.spec?.ports ?? []).map(({ name = '', port }) => [name, port]))
  return (slice.ports ?? []).flatMap(({ name = '', port: targetPort, protocol = 'TCP' }) => {
    const port = byName.get(name)
    return port === undefined || targetPort === undefined || protocol !== 'TCP' ? [] : [{ port, targetPort }]
  })
}

/**
 * Readiness is part of the identity: a Pod may be ready for one Service and not for another. The namespace is the
 * slice's own: a slice cannot speak for Pods elsewhere.
 */
function draftOf(
  endpoint: Endpoint,
  namespace: string,
  service: ServiceEndpoint['service'],
): EndpointDraft | undefined {
  const [address] = endpoint.addresses
  if (address === undefined) return undefined
  const { targetRef, nodeName, zone } = endpoint
  const name = targetRef?.kind === 'Pod' ? targetRef.name : undefined
  const healthy = endpoint.conditions?.ready !== false
  return {
    uid: `${namespace}/${name ?? address}${healthy ? '' : ':unready'}`,
    namespace,
    ...(name !== undefined && { name }),
    ...(nodeName !== undefined && { node: nodeName }),
    ...(zone !== undefined && { zone }),
    healthy,
    addresses: new Set(),
    service,
    ports: new Map(),
  }
}
