// Services in the two forms that proxies need: the Service itself, and its endpoints as workloads.
import type { Service as RenderedService, Workload } from '#api/ir/types.gen.ts'
import { isIdentical } from '#api/incremental/identical.ts'
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
  /** The result depends on the endpoints of the Gateway itself as well. */
  readonly areProxiesRead: boolean
}

/** As of one snapshot. The same object while all callers would get the same. */
export interface RenderServices {
  /** `reached`: by host name. Equal lists are the same objects as last time. */
  readonly of: (caller: ServicesCaller, reached: ReadonlyMap<string, unknown>) => RenderedServices
  /** Host names for which the earlier one may have returned something else; undefined: any. */
  readonly changedSince: (earlier: RenderServices) => ReadonlySet<string> | undefined
  /** Of the catalog, and what else all host names depend on. */
  readonly version: number
  readonly base: readonly unknown[]
}

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
  const renderers = new WeakMap<object, CallerRenderer>()
  let last: { readonly inputs: readonly unknown[]; readonly render: RenderServices } | undefined
  return (snapshot, pools) => {
    catalog.enter(snapshot)
    meshPods.enter(snapshot.Pod.all)
    facts = factsAfter(facts, { places: placesOf(snapshot.Node.all), meshPods, podsVersion: meshPods.version })
    const inputs = [catalog.version, pools, facts]
    if (last !== undefined && isIdentical(last.inputs, inputs)) return last.render
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
    const now: ServicesNow = { pools, facts, partsAt, proxies }
    const base = [pools, facts]
    const render: RenderServices = {
      version: catalog.version,
      base,
      changedSince: (earlier) => (isIdentical(earlier.base, base) ? catalog.changedSince(earlier.version) : undefined),
      of: (caller, hostnames) => {
        let renderer = renderers.get(caller.id)
        if (renderer === undefined) renderers.set(caller.id, (renderer = callerRenderer(catalog, workload)))
        return renderer(caller, hostnames, now)
      },
    }
    last = { inputs, render }
    return render
  }
}

/** The same for all callers. */
interface ServicesNow {
  readonly pools: RenderedPools
  readonly facts: EndpointFacts
  readonly partsAt: (hostname: string) => ServiceParts | undefined
  readonly proxies: (caller: ServicesCaller) => readonly ServiceEndpoint[]
}

type CallerRenderer = (
  caller: ServicesCaller,
  hostnames: ReadonlyMap<string, unknown>,
  now: ServicesNow,
) => RenderedServices

/** The same object while nothing in it has changed. */
function factsAfter(before: EndpointFacts, now: EndpointFacts): EndpointFacts {
  return before.places === now.places && before.podsVersion === now.podsVersion ? before : now
}

type Row = ServiceParts | undefined

interface Rows {
  /** Of the catalog. */
  version: number
  readonly pools: RenderedPools
  readonly hostnames: ReadonlyMap<string, unknown>
  readonly places: ReadonlyMap<string, number>
  /** By place. */
  readonly rows: readonly Row[]
}

interface CallerResult {
  readonly rows: readonly Row[]
  readonly facts: EndpointFacts
  readonly rendered: RenderedServices
}

/** For repeated calls of one caller: updated with changed Services. */
function callerRenderer(catalog: ServiceCatalog, workload: Remember<ServiceEndpoint, Workload>): CallerRenderer {
  const servicesOf = flatMapped((row: Row) => (row === undefined ? [] : [row.rendered]))
  const endpointsIn = mapped((row: Row) => row?.endpoints ?? NO_ENDPOINTS)
  const localities = tally((row: Row) => (row?.rendered.locality === undefined ? [] : [true]))
  const workloadsOf = workloadTable(workload)
  let last: Rows | undefined
  let known: CallerResult | undefined
  return (caller, hostnames, now) => {
    last = rowsAfter(last, { hostnames, now, catalog })
    const { rows } = last
    const { facts } = now
    const isKnown = known?.rows === rows && known.facts === facts
    if (isKnown && known?.rendered.areProxiesRead === false) return known.rendered
    const areProxiesRead = localities(rows).size > 0
    const endpoints = endpointsIn(rows)
    const lists = areProxiesRead ? [...endpoints, now.proxies(caller)] : endpoints
    const rendered = { services: servicesOf(rows), workloads: workloadsOf(lists, facts), areProxiesRead }
    known = { rows, facts, rendered }
    return rendered
  }
}

const NO_ENDPOINTS: readonly ServiceEndpoint[] = []

interface RowsInput {
  readonly hostnames: ReadonlyMap<string, unknown>
  readonly now: ServicesNow
  readonly catalog: ServiceCatalog
}

/** Without a change the last one, as of the current version. */
function rowsAfter(last: Rows | undefined, { hostnames, now: { pools, partsAt }, catalog }: RowsInput): Rows {
  const { version } = catalog
  const changed = last?.pools === pools ? catalog.changedSince(last.version) : undefined
  if (last === undefined || changed === undefined) {
    return { version, pools, ...placesOf(hostnames), rows: [...hostnames.keys()].map(partsAt) }
  }
  if (last.hostnames === hostnames && !hasOne(hostnames, changed)) {
    last.version = version
    return last
  }
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
  return {
    ...last,
    version,
    rows: withChanges(
      last.rows,
      touched.sort((a, b) => a.at - b.at),
    ),
  }
}

/** Of a thousand Gateways most have none of the changed host names. */
function hasOne(hostnames: ReadonlyMap<string, unknown>, changed: ReadonlySet<string>): boolean {
  for (const hostname of changed) if (hostnames.has(hostname)) return true
  return false
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
