// The `services` and `workloads` parts of the configuration dump, with the live figures of endpoints. Pure.
import type { components } from '#api/admin/types.gen.ts'
import type { RenderedConfig, Service, Workload, WorkloadService } from '#api/ir/types.gen.ts'
import { serviceKey, workloadKeys } from '../backend/endpoint-keys.ts'
import { localityRank, ownPlace, type Locality } from '../backend/locality.ts'
import { endpointInfo, figuresOfKeys, type FiguresOf } from './endpoint-info.ts'

type Schemas = components['schemas']

interface Endpoint {
  readonly workload: Workload
  /** What it is to the Service. */
  readonly service: WorkloadService
}

interface RankedEndpoint extends Endpoint {
  /** undefined: too far away. */
  readonly rank: number | undefined
}

export interface ServicesInput {
  readonly config: Pick<RenderedConfig, 'services' | 'workloads'>
  readonly figures: FiguresOf
  /** Where the proxy is, as far as its settings say. */
  readonly place: Locality
}

export function dumpServices({ config, figures, place }: ServicesInput): Schemas['DumpService'][] {
  const own = ownPlace(place, config.workloads)
  const endpoints = new Map<string, Endpoint[]>()
  for (const workload of config.workloads) {
    for (const service of workload.services) {
      const key = serviceKey(service)
      const list = endpoints.get(key)
      if (list === undefined) endpoints.set(key, [{ workload, service }])
      else list.push({ workload, service })
    }
  }
  return config.services.map((service) => {
    const { locality } = service
    const ranked = (endpoints.get(serviceKey(service)) ?? []).map((endpoint) => {
      const { workload, service: membership } = endpoint
      return { ...endpoint, rank: localityRank({ locality, own, workload, membership }) }
    })
    return dumpService(service, ranked, figures)
  })
}

function dumpService(
  service: Service,
  endpoints: readonly RankedEndpoint[],
  figures: FiguresOf,
): Schemas['DumpService'] {
  return {
    name: service.name,
    namespace: service.namespace,
    hostname: service.hostname,
    vips: [],
    ports: Object.fromEntries(service.ports.map(({ port }) => [String(port), targetPort(endpoints, port)])),
    appProtocols: Object.fromEntries(
      service.ports.flatMap(({ port, appProtocol }) =>
        appProtocol === undefined ? [] : [[String(port), appProtocol]],
      ),
    ),
    endpoints: dumpBuckets(service, endpoints, figures),
    subjectAltNames: [],
  }
}

/** Nearest first. Those that are too far away for the Service are rejected, like those that are not ready. */
function dumpBuckets(
  service: Service,
  endpoints: readonly RankedEndpoint[],
  figures: FiguresOf,
): Schemas['DumpEndpointGroup'][] {
  const byUid = (some: readonly Endpoint[]): Record<string, Schemas['DumpEndpoint']> =>
    Object.fromEntries(some.map((endpoint) => [endpoint.workload.uid, dumpEndpoint(service, endpoint, figures)]))
  const farthest = Math.max(0, ...endpoints.map(({ rank = 0 }) => rank))
  const buckets = Map.groupBy(endpoints, ({ rank = farthest }) => rank)
  if (buckets.size === 0) return [{ active: {}, rejected: {} }]
  return [...buckets]
    .sort(([a], [b]) => a - b)
    .map(([, members]) => ({
      active: byUid(members.filter(isServing)),
      rejected: byUid(members.filter((member) => !isServing(member))),
    }))
}

function isServing({ workload, rank }: RankedEndpoint): boolean {
  return workload.healthy && rank !== undefined
}

function targetPort(endpoints: readonly Endpoint[], port: number): number {
  for (const { service } of endpoints) {
    const found = service.ports.find((candidate) => candidate.port === port)
    if (found !== undefined) return found.targetPort
  }
  return port
}

/** A workload that serves several ports of the Service has the figures of all of them. */
function dumpEndpoint(service: Service, endpoint: Endpoint, figures: FiguresOf): Schemas['DumpEndpoint'] {
  const { workload } = endpoint
  const { ports } = endpoint.service
  const keys = workloadKeys(workload, { namespace: service.namespace, hostname: service.hostname, ports })
  return {
    endpoint: { workloadUid: workload.uid, port: portMap(ports) },
    ...endpointInfo(figuresOfKeys(keys, figures)),
    capacity: workload.capacity ?? 1,
  }
}

export function dumpWorkloads(workloads: readonly Workload[]): Schemas['DumpWorkload'][] {
  return workloads.map((workload) => ({
    uid: workload.uid,
    name: workload.name ?? '',
    namespace: workload.namespace ?? '',
    workloadIps: workload.addresses,
    serviceAccount: workload.serviceAccount ?? '',
    node: workload.node ?? '',
    network: workload.network ?? '',
    locality: { region: workload.region ?? '', zone: workload.zone ?? '', subzone: workload.subzone ?? '' },
    services: Object.fromEntries(workload.services.map((service) => [serviceKey(service), portMap(service.ports)])),
    status: workload.healthy ? 'Healthy' : 'Unhealthy',
    protocol: workload.protocol ?? 'TCP',
    capacity: workload.capacity ?? 1,
  }))
}

function portMap(ports: WorkloadService['ports']): Record<string, number> {
  return Object.fromEntries(ports.map(({ port, targetPort }) => [String(port), targetPort]))
}
