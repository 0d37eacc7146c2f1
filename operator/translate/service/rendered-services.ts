// Services in the two forms that proxies need: the Service itself, and its endpoints as workloads.
import type { Service as RenderedService, Workload } from '#api/ir/types.gen.ts'
import type { ListChange } from '#api/incremental/list-change.ts'
import { SharedParts } from '#api/incremental/shared-parts.ts'
import { changed as withChanges } from '../changes.ts'
import type { RenderedPools } from './rendered-pools.ts'
import type { EndpointSlice, KubeObject, Service } from '../kube.ts'
import { flatMapped, mapped, tally } from '../lists.ts'
import type { Memory, Remember } from '../memory.ts'
import { namespaceOf } from '../object-ref.ts'
import type { Snapshot } from '../snapshot.ts'
import { localityPreference } from './locality-preference.ts'
import { MeshPods } from './mesh-pods.ts'
import { placesOfNodes } from './node-places.ts'
import { ServiceCatalog } from './service-catalog.ts'
import type { ServiceEndpoint, ServiceParts } from './service-parts.ts'
import type { Services } from './services.ts'
import { type EndpointFacts, endpointsOf, workloadTable } from './workloads.ts'

export interface RenderedServices {
  /** Not in order. */
  readonly services: readonly RenderedService[]
  /** In order of their uids. */
  readonly workloads: Workload[]
}

/** `reached`: by host name. Equal lists are the same objects as last time. */
export type RenderServices = (caller: ServicesCaller, reached: ReadonlyMap<string, unknown>) => RenderedServices

/** A Gateway of ours. */
export interface ServicesCaller {
  readonly gateway: KubeObject
  /** The same object in each translation, whatever changes in the Gateway. */
  readonly id: object
}

/** Must be called with the current snapshot and its rendered InferencePools. */
export function serviceRenderer(
  memory: Memory,
  lookup: Services,
): (snapshot: Snapshot, pools: RenderedPools) => RenderServices {
  const partsOf = memory.table<Service, ServiceParts>()
  const workload = memory.table<ServiceEndpoint, Workload>()
  const proxiesOf = memory.table<Service, readonly ServiceEndpoint[]>()
  const catalog = new ServiceCatalog(lookup)
  const placesOf = placesOfNodes()
  const meshPods = new MeshPods()
  let facts: EndpointFacts = { places: placesOf([]), meshPods, podsVersion: meshPods.version }
  const renderers = new WeakMap<object, (reached: Reached) => RenderedServices>()
  return (snapshot, pools) => {
    catalog.enter(snapshot)
    meshPods.enter(snapshot.Pod.all)
    facts = factsAfter(facts, { places: placesOf(snapshot.Node.all), meshPods, podsVersion: meshPods.version })
    const partsAt = (hostname: string): ServiceParts | undefined => {
      const service = catalog.at(hostname)
      if (service === undefined) return pools.get(hostname)
      const own = catalog.slicesOf(service)
      return partsOf(service, own, () => renderOne(service, own, hostname))
    }
    /** Proxies read their own place from their endpoints. */
    const proxies = ({ gateway }: ServicesCaller): readonly ServiceEndpoint[] =>
      catalog.ofGateway(gateway).flatMap((service) => {
        const own = catalog.slicesOf(service)
        return proxiesOf(service, own, () => proxyEndpoints(service, own))
      })
    return (caller, hostnames) => {
      const render = renderers.get(caller.id) ?? callerRenderer(catalog, workload)
      renderers.set(caller.id, render)
      return render({ hostnames, pools, facts, partsAt, proxies: () => proxies(caller) })
    }
  }
}

/** The current targets of a caller. */
interface Reached {
  readonly hostnames: ReadonlyMap<string, unknown>
  readonly pools: RenderedPools
  readonly facts: EndpointFacts
  readonly partsAt: (hostname: string) => ServiceParts | undefined
  readonly proxies: () => readonly ServiceEndpoint[]
}

/** The same object while nothing in it has changed. */
function factsAfter(before: EndpointFacts, now: EndpointFacts): EndpointFacts {
  return before.places === now.places && before.podsVersion === now.podsVersion ? before : now
}

type Row = ServiceParts | undefined

interface Rows {
  readonly version: number
  readonly pools: RenderedPools
  readonly hostnames: ReadonlyMap<string, unknown>
  readonly places: ReadonlyMap<string, number>
  /** By place. */
  readonly rows: readonly Row[]
}

/** For repeated calls of one caller: updated with changed Services. */
function callerRenderer(
  catalog: ServiceCatalog,
  workload: Remember<ServiceEndpoint, Workload>,
): (reached: Reached) => RenderedServices {
  const servicesOf = flatMapped((row: Row) => (row === undefined ? [] : [row.rendered]))
  const endpointsIn = mapped((row: Row) => row?.endpoints ?? NO_ENDPOINTS)
  const localities = tally((row: Row) => (row?.rendered.locality === undefined ? [] : [true]))
  const workloadsOf = workloadTable(workload)
  let last: Rows | undefined
  let known:
    | { readonly rows: readonly Row[]; readonly facts: EndpointFacts; readonly rendered: RenderedServices }
    | undefined
  return (reached) => {
    last = rowsAfter(last, reached, catalog)
    const { rows } = last
    const isProxyPlaceAsked = localities(rows).size > 0
    if (!isProxyPlaceAsked && known?.rows === rows && known.facts === reached.facts) return known.rendered
    const endpoints = endpointsIn(rows)
    const lists = isProxyPlaceAsked ? [...endpoints, reached.proxies()] : endpoints
    const rendered = { services: servicesOf(rows), workloads: workloadsOf(lists, reached.facts) }
    known = { rows, facts: reached.facts, rendered }
    return rendered
  }
}

const NO_ENDPOINTS: readonly ServiceEndpoint[] = []

function rowsAfter(last: Rows | undefined, { hostnames, pools, partsAt }: Reached, catalog: ServiceCatalog): Rows {
  const { version } = catalog
  const changed = last?.pools === pools ? catalog.changedSince(last.version) : undefined
  if (last === undefined || changed === undefined) {
    return { version, pools, ...placesOf(hostnames), rows: [...hostnames.keys()].map(partsAt) }
  }
  if (changed.size === 0 && last.hostnames === hostnames) return last.version === version ? last : { ...last, version }
  if (last.hostnames !== hostnames) {
    const { places, rows: before } = last
    const rows = [...hostnames.keys()].map((hostname) => {
      const place = changed.has(hostname) ? undefined : places.get(hostname)
      return place === undefined ? partsAt(hostname) : before[place]
    })
    return { version, pools, ...placesOf(hostnames), rows }
  }
  const touched = [...changed].flatMap((hostname): ListChange<Row>[] => {
    const at = last.places.get(hostname)
    return at === undefined ? [] : [{ at, removed: last.rows.slice(at, at + 1), added: [partsAt(hostname)] }]
  })
  if (touched.length === 0) return { ...last, version }
  return {
    ...last,
    version,
    rows: withChanges(
      last.rows,
      touched.sort((a, b) => a.at - b.at),
    ),
  }
}

function placesOf(hostnames: Rows['hostnames']): Pick<Rows, 'hostnames' | 'places'> {
  return { hostnames, places: new Map([...hostnames.keys()].map((hostname, place) => [hostname, place])) }
}

function renderOne(service: Service, slices: readonly EndpointSlice[], hostname: string): ServiceParts {
  const namespace = namespaceOf(service)
  const endpoints = endpointsOf({ service, slices, hostname })
  const locality = localityPreference(service, endpoints)
  return {
    hostname,
    rendered: {
      name: service.metadata.name,
      namespace,
      hostname,
      ports: portsOf(service),
      ...(locality !== undefined && { locality }),
    },
    endpoints,
  }
}

function proxyEndpoints(service: Service, slices: readonly EndpointSlice[]): ServiceEndpoint[] {
  return endpointsOf({ service, slices, hostname: '' }).map(
    ({ service: _service, forZones: _zones, forNodes: _nodes, ...proxy }) => ({ ...proxy, ports: [] }),
  )
}

function portsOf(service: Service): RenderedService['ports'] {
  const tcp = (service.spec?.ports ?? []).filter(({ protocol = 'TCP' }) => protocol === 'TCP')
  return SHARED.of(
    tcp.map(({ port, name, appProtocol }) => ({
      port,
      ...(name !== undefined && { name }),
      ...(appProtocol !== undefined && { appProtocol }),
    })),
  )
}

/** Most Services have the ports of others. */
const SHARED = new SharedParts()
