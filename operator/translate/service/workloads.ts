// Endpoints of EndpointSlices, gathered by Pod: a Pod behind several Services is one workload.
import type { Workload, WorkloadPort } from '#api/ir/types.gen.ts'
import type { Endpoint, EndpointSlice, Service } from '../kube.ts'
import { namespaceOf } from '../object-ref.ts'
import { compareText, sortedBy } from '../order.ts'

export interface WorkloadDraft {
  readonly uid: string
  readonly namespace: string
  readonly name?: string
  readonly node?: string
  readonly zone?: string
  readonly healthy: boolean
  readonly addresses: Set<string>
  readonly services: Map<string, { readonly namespace: string; readonly ports: Map<number, number> }>
}

export interface SliceOfService {
  readonly slice: EndpointSlice
  readonly service: Service
  readonly hostname: string
}

/** Adds the endpoints of one slice to `drafts`, which are keyed by workload uid. */
export function addSlice(drafts: Map<string, WorkloadDraft>, { slice, service, hostname }: SliceOfService): void {
  if (slice.addressType === 'FQDN') return
  const ports = portMap(slice, service)
  if (ports.length === 0) return
  for (const endpoint of slice.endpoints ?? []) {
    const draft = draftFor(drafts, endpoint, namespaceOf(slice))
    if (draft === undefined) continue
    for (const address of endpoint.addresses) draft.addresses.add(address)
    const known = draft.services.get(hostname) ?? { namespace: namespaceOf(service), ports: new Map<number, number>() }
    for (const { port, targetPort } of ports) known.ports.set(port, targetPort)
    draft.services.set(hostname, known)
  }
}

export function workloadOf(draft: WorkloadDraft): Workload {
  return {
    uid: draft.uid,
    namespace: draft.namespace,
    ...(draft.name !== undefined && { name: draft.name }),
    addresses: [...draft.addresses].sort(compareText),
    ...(draft.node !== undefined && { node: draft.node }),
    ...(draft.zone !== undefined && { zone: draft.zone }),
    healthy: draft.healthy,
    services: sortedBy(draft.services, ([hostname]) => hostname).map(([hostname, { namespace, ports }]) => ({
      hostname,
      namespace,
      ports: [...ports]
        .map(([port, targetPort]): WorkloadPort => ({ port, targetPort }))
        .sort((a, b) => a.port - b.port),
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
function draftFor(
  drafts: Map<string, WorkloadDraft>,
  endpoint: Endpoint,
  namespace: string,
): WorkloadDraft | undefined {
  const [address] = endpoint.addresses
  if (address === undefined) return undefined
  const { targetRef, nodeName, zone } = endpoint
  const name = targetRef?.kind === 'Pod' ? targetRef.name : undefined
  const healthy = endpoint.conditions?.ready !== false
  const uid = `${namespace}/${name ?? address}${healthy ? '' : ':unready'}`
  const known = drafts.get(uid)
  if (known !== undefined) return known
  const draft: WorkloadDraft = {
    uid,
    namespace,
    ...(name !== undefined && { name }),
    ...(nodeName !== undefined && { node: nodeName }),
    ...(zone !== undefined && { zone }),
    healthy,
    addresses: new Set(),
    services: new Map(),
  }
  drafts.set(uid, draft)
  return draft
}
