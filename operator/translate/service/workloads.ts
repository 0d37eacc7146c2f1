// Endpoints of EndpointSlices, gathered by Pod: a Pod behind several Services is one workload.
import type { Workload, WorkloadPort, WorkloadService } from '#api/ir/types.gen.ts'
import type { Endpoint, EndpointHints, EndpointSlice, Service } from '../kube.ts'
import type { Remember } from '../memory.ts'
import { namespaceOf } from '../object-ref.ts'
import { compareText, sortedBy } from '../order.ts'
import { withWholeHints } from './locality-preference.ts'
import type { NodePlace, NodePlaces } from './node-places.ts'

/** A workload as one Service sees it. */
export interface ServiceEndpoint {
  readonly uid: string
  readonly namespace: string
  readonly name?: string
  readonly node?: string
  readonly zone?: string
  readonly healthy: boolean
  readonly addresses: ReadonlySet<string>
  readonly serviceAccount?: string
  /** Absent: a proxy of ours, which serves no Service here. */
  readonly service?: { readonly hostname: string; readonly namespace: string }
  /** Zones and nodes that this Service means it for. */
  readonly forZones?: readonly string[]
  readonly forNodes?: readonly string[]
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
  return withWholeHints([...drafts.values()])
}

/** Not in order. */
export function workloadsOf(
  endpoints: readonly ServiceEndpoint[],
  remember: Remember<ServiceEndpoint, Workload>,
  places: NodePlaces,
): Workload[] {
  const byUid = new Map<string, ServiceEndpoint | ServiceEndpoint[]>()
  for (const endpoint of endpoints) {
    const known = byUid.get(endpoint.uid)
    if (known === undefined) byUid.set(endpoint.uid, endpoint)
    else if (Array.isArray(known)) known.push(endpoint)
    else byUid.set(endpoint.uid, [known, endpoint])
  }
  const placeOf = ({ node, zone }: ServiceEndpoint): NodePlace => places.at(node, zone)
  return [...byUid.values()].flatMap((one) => {
    if (!Array.isArray(one)) return remember(one, [placeOf(one)], () => workloadOf(one, [], placeOf(one)))
    const [first, ...rest] = sortedBy(one, ({ service }) => service?.hostname ?? '')
    if (first === undefined) return []
    return remember(first, [placeOf(first), ...rest], () => workloadOf(first, rest, placeOf(first)))
  })
}

/** `first` and `rest`: of one uid, in order of their Services. What the slice says of the zone counts. */
function workloadOf(first: ServiceEndpoint, rest: readonly ServiceEndpoint[], place: NodePlace): Workload {
  const { uid, namespace, name, node, healthy } = first
  const endpoints = [first, ...rest]
  const { region, subzone } = place
  const zone = endpoints.find((one) => one.zone !== undefined)?.zone ?? place.zone
  const serviceAccount = endpoints.find((one) => one.serviceAccount !== undefined)?.serviceAccount
  return {
    uid,
    namespace,
    ...(name !== undefined && { name }),
    addresses: [...new Set(endpoints.flatMap(({ addresses }) => [...addresses]))].sort(compareText),
    ...(node !== undefined && { node }),
    ...(region !== undefined && { region }),
    ...(zone !== undefined && { zone }),
    ...(subzone !== undefined && { subzone }),
    ...(serviceAccount !== undefined && { serviceAccount }),
    healthy,
    services: endpoints.flatMap((one) => serviceOf(one) ?? []),
  }
}

function serviceOf({ service, ports, forZones, forNodes }: ServiceEndpoint): WorkloadService | undefined {
  return (
    service && {
      ...service,
      ...(forZones !== undefined && { forZones: [...forZones] }),
      ...(forNodes !== undefined && { forNodes: [...forNodes] }),
      ports: [...ports]
        .map(([port, targetPort]): WorkloadPort => ({ port, targetPort }))
        .sort((a, b) => a.port - b.port || a.targetPort - b.targetPort),
    }
  )
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
  service: NonNullable<ServiceEndpoint['service']>,
): EndpointDraft | undefined {
  const [address] = endpoint.addresses
  if (address === undefined) return undefined
  const { targetRef, nodeName, zone, hints } = endpoint
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
    ...hinted('forZones', hints?.forZones),
    ...hinted('forNodes', hints?.forNodes),
    ports: new Map(),
  }
}

function hinted(
  name: 'forZones' | 'forNodes',
  hints: EndpointHints['forZones'],
): Pick<ServiceEndpoint, 'forZones' | 'forNodes'> {
  const names = (hints ?? []).map((hint) => hint.name).sort(compareText)
  return names.length === 0 ? {} : { [name]: names }
}
