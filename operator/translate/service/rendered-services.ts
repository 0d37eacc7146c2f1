// Services in the two forms that proxies need: the Service itself, and its endpoints as workloads.
import { isIdentical } from '#api/identical.ts'
import { GATEWAY_NAME_LABEL, safeName } from '#api/delivery/names.ts'
import type { Service as RenderedService, Workload } from '#api/ir/types.gen.ts'
import type { EndpointSlice, KubeObject, Service } from '../kube.ts'
import type { RenderedPools } from '../inference/rendered-pools.ts'
import { derived, type Memory } from '../memory.ts'
import { keyOf, nameKey, namespaceOf } from '../object-ref.ts'
import type { Snapshot } from '../snapshot.ts'
import { localityPreference } from './locality-preference.ts'
import { placesOfNodes } from './node-places.ts'
import type { Services } from './services.ts'
import { slicesByService } from './slices-by-service.ts'
import { endpointsOf, type ServiceEndpoint, workloadsOf } from './workloads.ts'

/** Neither list is in order. */
export interface RenderedServices {
  readonly services: RenderedService[]
  readonly workloads: Workload[]
}

/** `reached` holds host names. For one caller and the same ones as last time the answer may be the same object. */
export type RenderServices = (caller: ServicesCaller, reached: Iterable<string>) => RenderedServices

/** A Gateway of ours. */
export interface ServicesCaller {
  readonly gateway: KubeObject
}

export interface ServiceParts {
  readonly hostname: string
  readonly rendered: RenderedService
  readonly endpoints: readonly ServiceEndpoint[]
}

/** To be called with the snapshot of the moment, and what its InferencePools come to. */
export function serviceRenderer(
  memory: Memory,
  lookup: Services,
): (snapshot: Snapshot, pools: RenderedPools) => RenderServices {
  const partsOf = memory.table<Service, ServiceParts>()
  const workload = memory.table<ServiceEndpoint, Workload>()
  const proxiesOf = memory.table<Service, readonly ServiceEndpoint[]>()
  const answers = new WeakMap<object, LastAnswer>()
  const slicesOf = slicesByService()
  const servicesOf = derived((services: readonly Service[]) => servicesByHostname(services, lookup))
  const gatewaysOf = derived(servicesByGateway)
  const placesOf = placesOfNodes()
  return (snapshot, pools) => {
    const slices = slicesOf(snapshot.EndpointSlice.all)
    const byHostname = servicesOf(snapshot.Service.all)
    const byGateway = gatewaysOf(snapshot.Service.all)
    const places = placesOf(snapshot.Node.all)
    const isCurrent = ({ from }: LastAnswer): boolean =>
      from.slices === slices && from.byHostname === byHostname && from.pools === pools && from.places === places
    /** Where proxies are they learn from their own endpoints. */
    const proxies = ({ gateway }: ServicesCaller): readonly ServiceEndpoint[] =>
      (byGateway.get(nameKey(namespaceOf(gateway), safeName(gateway.metadata.name))) ?? []).flatMap((service) => {
        const own = slices.get(keyOf(service)) ?? []
        return proxiesOf(service, own, () => proxyEndpoints(service, own))
      })
    const rowOf = (hostname: string, before: Row | undefined): Row => {
      const service = byHostname.get(hostname)
      if (service === undefined) return { service, key: '', own: NO_SLICES, parts: pools.get(hostname) }
      const key = before?.service === service ? before.key : keyOf(service)
      const own = slices.get(key) ?? NO_SLICES
      if (before?.service === service && before.own === own) return before
      return { service, key, own, parts: partsOf(service, own, () => renderOne(service, own, hostname)) }
    }
    const answer = (caller: ServicesCaller, rows: readonly Row[]): RenderedServices => {
      const found = rows.flatMap(({ parts }) => parts ?? [])
      return {
        services: found.map(({ rendered }) => rendered),
        workloads: workloadsOf(
          [
            ...found.flatMap(({ endpoints }) => endpoints),
            ...(found.some(({ rendered }) => rendered.locality !== undefined) ? proxies(caller) : []),
          ],
          workload,
          places,
        ),
      }
    }
    return (caller, hostnames) => {
      const reached = [...hostnames]
      const last = answers.get(caller)
      if (last !== undefined && isCurrent(last) && isIdentical(last.reached, reached)) return last.answer
      const rows = reached.map((hostname, at) => {
        return rowOf(hostname, last?.reached[at] === hostname ? last.rows[at] : undefined)
      })
      const now = answer(caller, rows)
      answers.set(caller, { from: { slices, byHostname, pools, places }, reached, rows, answer: now })
      return now
    }
  }
}

/** What a caller got, and what it was made of. */
interface LastAnswer {
  readonly from: {
    readonly slices: object
    readonly byHostname: object
    readonly pools: object
    readonly places: object
  }
  readonly reached: readonly string[]
  /** Of the host name at the same place. */
  readonly rows: readonly Row[]
  readonly answer: RenderedServices
}

interface Row {
  readonly service: Service | undefined
  readonly key: string
  readonly own: readonly EndpointSlice[]
  readonly parts: ServiceParts | undefined
}

const NO_SLICES: readonly EndpointSlice[] = []

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

/** Services that the deployer made for Gateways. */
function servicesByGateway(services: readonly Service[]): Map<string, Service[]> {
  const labelled = services.filter(({ metadata }) => metadata.labels?.[GATEWAY_NAME_LABEL] !== undefined)
  return Map.groupBy(labelled, (service) =>
    nameKey(namespaceOf(service), service.metadata.labels?.[GATEWAY_NAME_LABEL] ?? ''),
  )
}

function servicesByHostname(services: readonly Service[], { hostname }: Services): Map<string, Service> {
  return new Map(services.map((service) => [hostname(namespaceOf(service), service.metadata.name), service]))
}

function portsOf(service: Service): RenderedService['ports'] {
  const tcp = (service.spec?.ports ?? []).filter(({ protocol = 'TCP' }) => protocol === 'TCP')
  return tcp.map(({ port, name, appProtocol }) => ({
    port,
    ...(name !== undefined && { name }),
    ...(appProtocol !== undefined && { appProtocol }),
  }))
}
