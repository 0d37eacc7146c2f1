// Services in the two forms that proxies need: the Service itself, and its endpoints as workloads.
import type { Service as RenderedService, Workload } from '#api/ir/types.gen.ts'
import { isIdentical } from '#api/incremental/identical.ts'
import type { LayeredMap } from '#api/incremental/layered-map.ts'
import type { ListChange } from '#api/incremental/list-change.ts'
import { SharedParts } from '#api/incremental/shared-parts.ts'
import { changed as withChanges } from '../changes.ts'
import type { RenderedPools } from './rendered-pools.ts'
import type { EndpointSlice, KubeObject, Service } from '../kube.ts'
import { mapped, tally } from '../lists.ts'
import type { Memory, Remember } from '../memory.ts'
import { namespaceOf } from '../object-ref.ts'
import { compareText } from '../order.ts'
import type { Snapshot } from '../snapshot.ts'
import { placeOf } from '../sorted.ts'
import { localityPreference } from './locality-preference.ts'
import { MeshPods } from './mesh-pods.ts'
import { placesOfNodes } from './node-places.ts'
import { ServiceCatalog } from './service-catalog.ts'
import type { ServiceEndpoint, ServiceParts } from './service-parts.ts'
import type { Services } from './services.ts'
import { type EndpointFacts, endpointsOf, workloadTable } from './workloads.ts'

export interface RenderedServices {
  /** In order of their host names. */
  readonly services: readonly RenderedService[]
  /** In order of their uids. */
  readonly workloads: Workload[]
  /** The result depends on the endpoints of the Gateway itself as well. */
  readonly areProxiesRead: boolean
}

/** As of one snapshot. The same object while all callers would get the same. */
export interface RenderServices {
  /** `reached`: by host name. Equal lists are the same objects as last time. */
  readonly of: (caller: ServicesCaller, reached: LayeredMap<unknown>) => RenderedServices
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

type CallerRenderer = (caller: ServicesCaller, hostnames: LayeredMap<unknown>, now: ServicesNow) => RenderedServices

/** The same object while nothing in it has changed. */
function factsAfter(before: EndpointFacts, now: EndpointFacts): EndpointFacts {
  return before.places === now.places && before.podsVersion === now.podsVersion ? before : now
}

interface Rows {
  /** Of the catalog. */
  version: number
  readonly pools: RenderedPools
  readonly hostnames: LayeredMap<unknown>
  /** Those that exist, in order of their host names. */
  readonly rows: readonly ServiceParts[]
}

interface CallerResult {
  readonly rows: readonly ServiceParts[]
  readonly facts: EndpointFacts
  readonly rendered: RenderedServices
}

/** For repeated calls of one caller: updated with changed Services. */
function callerRenderer(catalog: ServiceCatalog, workload: Remember<ServiceEndpoint, Workload>): CallerRenderer {
  const servicesOf = mapped(({ rendered }: ServiceParts) => rendered)
  const endpointsIn = mapped(({ endpoints }: ServiceParts) => endpoints)
  const localities = tally(({ rendered }: ServiceParts) => (rendered.locality === undefined ? [] : [true]))
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

interface RowsInput {
  readonly hostnames: LayeredMap<unknown>
  readonly now: ServicesNow
  readonly catalog: ServiceCatalog
}

/** Without a change the last one, as of the current version. */
function rowsAfter(last: Rows | undefined, { hostnames, now: { pools, partsAt }, catalog }: RowsInput): Rows {
  const { version } = catalog
  const ofCatalog = last?.pools === pools ? catalog.changedSince(last.version) : undefined
  if (last === undefined || ofCatalog === undefined) {
    const names = [...hostnames.entries()].map(([hostname]) => hostname).sort(compareText)
    return { version, pools, hostnames, rows: names.flatMap((hostname) => partsAt(hostname) ?? []) }
  }
  // Of a thousand Gateways most have none of the changed host names.
  const ofCaller = hostnames.since(last.hostnames).map(([hostname]) => hostname)
  const touched = new Set(
    [...ofCatalog, ...ofCaller].filter((one) => isThere(last.hostnames, one) || isThere(hostnames, one)),
  )
  if (touched.size === 0) {
    last.version = version
    return last
  }
  const rows = rowsWith(last.rows, touched, (hostname) =>
    isThere(hostnames, hostname) ? partsAt(hostname) : undefined,
  )
  return { version, pools, hostnames, rows }
}

function isThere(hostnames: LayeredMap<unknown>, hostname: string): boolean {
  return hostnames.get(hostname) !== undefined
}

function rowsWith(
  rows: readonly ServiceParts[],
  hostnames: ReadonlySet<string>,
  rowAt: (hostname: string) => ServiceParts | undefined,
): readonly ServiceParts[] {
  const edits = [...hostnames].sort(compareText).flatMap((hostname): ListChange<ServiceParts>[] => {
    const at = placeOf(rows, hostname, hostnameOf)
    const [known, now] = [rows[at], rowAt(hostname)]
    const removed = known?.hostname === hostname ? [known] : []
    const added = now === undefined ? [] : [now]
    return isIdentical(removed, added) ? [] : [{ at, removed, added }]
  })
  return edits.length === 0 ? rows : withChanges(rows, edits)
}

function hostnameOf({ hostname }: ServiceParts): string {
  return hostname
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
