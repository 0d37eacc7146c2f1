// Endpoints of EndpointSlices, gathered by Pod: a Pod behind several Services is one workload.
import type { Workload, WorkloadPort, WorkloadService } from '#api/ir/types.gen.ts'
import type { ListChange } from '#api/incremental/list-change.ts'
import { SharedParts } from '#api/incremental/shared-parts.ts'
import { changesBetween } from '../changes.ts'
import type { Endpoint, EndpointHints, EndpointSlice, Service } from '../kube.ts'
import type { Remember } from '../memory.ts'
import { nameKey, namespaceOf } from '../object-ref.ts'
import { compareText, sortedBy } from '../order.ts'
import { fitted } from '../same.ts'
import { placeOf } from '../sorted.ts'
import { withWholeHints } from './locality-preference.ts'
import { isReady, isServing } from './endpoint-conditions.ts'
import { meshFieldsOf, type MeshPods } from './mesh-pods.ts'
import type { NodePlace, NodePlaces } from './node-places.ts'
import type { ServiceEndpoint } from './service-parts.ts'

type ServiceName = NonNullable<ServiceEndpoint['service']>

interface EndpointDraft extends Omit<ServiceEndpoint, 'addresses' | 'ports'> {
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
  const isUsable = slices.some(hasReady) ? isReady : isServing
  for (const slice of slices) {
    const ports = slice.addressType === 'FQDN' ? [] : portMap(slice, service)
    if (ports.length === 0) continue
    for (const endpoint of slice.endpoints ?? []) {
      const owner = { hostname, namespace: namespaceOf(service) }
      const fresh = draftOf(endpoint, { namespace: namespaceOf(slice), service: owner, healthy: isUsable(endpoint) })
      if (fresh === undefined) continue
      const draft = drafts.get(fresh.uid) ?? fresh
      drafts.set(fresh.uid, draft)
      for (const address of endpoint.addresses) draft.addresses.add(address)
      for (const { port, targetPort } of ports) draft.ports.set(port, targetPort)
    }
  }
  return withWholeHints([...drafts.values()].map(endpointOf))
}

/** What many Services have in common, such as one port. */
const SHARED = new SharedParts()

/** Lists take less memory than sets, and live as long as the endpoint. */
function endpointOf({ addresses, ports, ...endpoint }: EndpointDraft): ServiceEndpoint {
  return { ...endpoint, addresses: [...addresses], ports: SHARED.of([...ports]) }
}

function hasReady({ endpoints }: EndpointSlice): boolean {
  return (endpoints ?? []).some(isReady)
}

/** What is known about endpoints apart from their EndpointSlices. */
export interface EndpointFacts {
  readonly places: NodePlaces
  readonly meshPods: MeshPods
  /** Of `meshPods`, which changes in place. */
  readonly podsVersion: number
}

/** All endpoints by their uids. */
interface Table {
  readonly lists: readonly (readonly ServiceEndpoint[])[]
  readonly places: NodePlaces
  /** Of the Pods that are part of a mesh. */
  readonly podsVersion: number
  readonly byUid: Map<string, readonly ServiceEndpoint[]>
  readonly workloads: Workload[]
}

/** For lists of endpoints that change: the workloads in order of their uids, updated with changed lists. */
export function workloadTable(
  remember: Remember<ServiceEndpoint, Workload>,
): (lists: readonly (readonly ServiceEndpoint[])[], facts: EndpointFacts) => Workload[] {
  let last: Table | undefined
  return (lists, facts) => {
    const { places, meshPods } = facts
    const workload = (endpoints: readonly ServiceEndpoint[]) => rememberedWorkload(endpoints, remember, facts)
    const edits = last?.places === places ? changesBetween(last.lists, lists) : undefined
    const pods = last && meshPods.changedSince(last.podsVersion)
    const before = last
    // An update that throws is not continued by the next call.
    last = undefined
    const table =
      edits === undefined || pods === undefined || before === undefined
        ? tableOf(lists, workload)
        : tableAfter(before, { edits, pods }, workload)
    last = { lists, places, podsVersion: meshPods.version, ...table }
    return last.workloads
  }
}

type WorkloadOf = (endpoints: readonly ServiceEndpoint[]) => Workload | undefined

function tableOf(lists: Table['lists'], workloadOf: WorkloadOf): Pick<Table, 'byUid' | 'workloads'> {
  const byUid = Map.groupBy(lists.flat(), ({ uid }) => uid)
  const workloads = sortedBy(
    [...byUid.values()].flatMap((endpoints) => workloadOf(endpoints) ?? []),
    uidOf,
  )
  return { byUid, workloads }
}

interface TableChanges {
  readonly edits: readonly ListChange<readonly ServiceEndpoint[]>[]
  /** `namespace/name` of Pods with changes. */
  readonly pods: readonly string[]
}

function tableAfter(
  { byUid, workloads }: Table,
  { edits, pods }: TableChanges,
  workloadOf: WorkloadOf,
): Pick<Table, 'byUid' | 'workloads'> {
  const removed = edits.flatMap((edit) => edit.removed.flat())
  const added = edits.flatMap((edit) => edit.added.flat())
  for (const one of removed) byUid.set(one.uid, without(byUid.get(one.uid), one))
  for (const one of added) byUid.set(one.uid, [...(byUid.get(one.uid) ?? []), one])
  const ofPods = pods.flatMap((pod) => [pod, `${pod}${UNREADY}`]).filter((uid) => byUid.has(uid))
  const touched = [...new Set([...[...removed, ...added].map(uidOf), ...ofPods])]
  const now = touched.map((uid) => ({ uid, workload: workloadOf(byUid.get(uid) ?? []) }))
  const changes = now.filter(({ uid, workload }) => workloadAt(workloads, uid) !== workload)
  for (const { uid, workload } of now) if (workload === undefined) byUid.delete(uid)
  if (changes.length === 0) return { byUid, workloads }
  const list = workloads.slice()
  for (const { uid, workload } of changes) {
    const known = workloadAt(list, uid) === undefined ? 0 : 1
    list.splice(placeOf(list, uid, uidOf), known, ...(workload === undefined ? [] : [workload]))
  }
  return { byUid, workloads: list }
}

function without(endpoints: readonly ServiceEndpoint[] = [], gone: ServiceEndpoint): readonly ServiceEndpoint[] {
  return endpoints.filter((one) => one !== gone)
}

function workloadAt(workloads: readonly Workload[], uid: string): Workload | undefined {
  const found = workloads[placeOf(workloads, uid, uidOf)]
  return found?.uid === uid ? found : undefined
}

/** In the uid of an endpoint that is not ready. */
export const UNREADY = ':unready'

function uidOf({ uid }: { readonly uid: string }): string {
  return uid
}

/** undefined: no endpoint is left. */
function rememberedWorkload(
  endpoints: readonly ServiceEndpoint[],
  remember: Remember<ServiceEndpoint, Workload>,
  { places, meshPods }: EndpointFacts,
): Workload | undefined {
  const ordered = endpoints.length < 2 ? endpoints : sortedBy(endpoints, ({ service }) => service?.hostname ?? '')
  const [first, ...rest] = ordered
  if (first === undefined) return undefined
  const place = places.at(first.node, first.zone)
  const mesh = meshFieldsOf(first.name === undefined ? undefined : meshPods.at(first.namespace, first.name))
  const inputs = [place, mesh.protocol, mesh.serviceAccount, mesh.network, ...rest]
  return remember(first, inputs, () => ({ ...workloadOf(first, rest, place), ...mesh }))
}

/** `first` and `rest`: of one uid, in order of their Services. The zone of the slice takes precedence. */
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
    addresses: [...new Set(endpoints.flatMap(({ addresses }) => addresses))].sort(compareText),
    ...(node !== undefined && { node }),
    ...(region !== undefined && { region }),
    ...(zone !== undefined && { zone }),
    ...(subzone !== undefined && { subzone }),
    ...(serviceAccount !== undefined && { serviceAccount }),
    healthy,
    services: fitted(endpoints.flatMap((one) => serviceOf(one) ?? [])),
  }
}

function serviceOf({ service, ports, forZones, forNodes }: ServiceEndpoint): WorkloadService | undefined {
  return (
    service && {
      ...service,
      ...(forZones !== undefined && { forZones: [...forZones] }),
      ...(forNodes !== undefined && { forNodes: [...forNodes] }),
      ports: SHARED.of(
        ports
          .map(([port, targetPort]): WorkloadPort => ({ port, targetPort }))
          .sort((a, b) => a.port - b.port || a.targetPort - b.targetPort),
      ),
    }
  )
}

/** A slice port has the name of its Service port: the name connects the two numbers. */
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
  { namespace, service, healthy }: Pick<EndpointDraft, 'namespace' | 'healthy'> & { service: ServiceName },
): EndpointDraft | undefined {
  const [address] = endpoint.addresses
  if (address === undefined) return undefined
  const { targetRef, nodeName, zone, hints } = endpoint
  const name = targetRef?.kind === 'Pod' ? targetRef.name : undefined
  return {
    uid: `${nameKey(namespace, name ?? address)}${healthy ? '' : UNREADY}`,
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
