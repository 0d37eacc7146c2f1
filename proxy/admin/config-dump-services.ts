// The `services` and `workloads` parts of the configuration dump, with the live figures of endpoints. Pure.
import type { components } from '#api/admin/types.gen.ts'
import type { RenderedConfig, Service, Workload, WorkloadService } from '#api/ir/types.gen.ts'
import { workloadKeys } from '../backend/endpoint-keys.ts'
import { endpointInfo, type FiguresOf } from './endpoint-info.ts'

type Schemas = components['schemas']

interface Endpoint {
  readonly workload: Workload
  readonly ports: WorkloadService['ports']
}

export function dumpServices(
  config: Pick<RenderedConfig, 'services' | 'workloads'>,
  figures: FiguresOf,
): Schemas['DumpService'][] {
  const endpoints = new Map<string, Endpoint[]>()
  for (const workload of config.workloads) {
    for (const service of workload.services) {
      const key = serviceKey(service)
      const list = endpoints.get(key)
      if (list === undefined) endpoints.set(key, [{ workload, ports: service.ports }])
      else list.push({ workload, ports: service.ports })
    }
  }
  return config.services.map((service) => dumpService(service, endpoints.get(serviceKey(service)) ?? [], figures))
}

function dumpService(service: Service, endpoints: readonly Endpoint[], figures: FiguresOf): Schemas['DumpService'] {
  const ready = endpoints.filter(({ workload }) => workload.healthy)
  const unready = endpoints.filter(({ workload }) => !workload.healthy)
  const byUid = (some: readonly Endpoint[]): Record<string, Schemas['DumpEndpoint']> =>
    Object.fromEntries(some.map((endpoint) => [endpoint.workload.uid, dumpEndpoint(service, endpoint, figures)]))
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
    endpoints: [{ active: byUid(ready), rejected: byUid(unready) }],
    subjectAltNames: [],
  }
}

function targetPort(endpoints: readonly Endpoint[], port: number): number {
  for (const { ports } of endpoints) {
    const found = ports.find((candidate) => candidate.port === port)
    if (found !== undefined) return found.targetPort
  }
  return port
}

/** A workload that serves several ports of the Service has the figures of all of them. */
function dumpEndpoint(service: Service, { workload, ports }: Endpoint, figures: FiguresOf): Schemas['DumpEndpoint'] {
  const known = workloadKeys(workload, { namespace: service.namespace, hostname: service.hostname, ports })
    .map((key) => figures(key))
    .filter((one) => one !== undefined)
  return {
    endpoint: { workloadUid: workload.uid, port: portMap(ports) },
    ...endpointInfo(known),
    capacity: 1,
  }
}

export function dumpWorkloads(workloads: readonly Workload[]): Schemas['DumpWorkload'][] {
  return workloads.map((workload) => ({
    uid: workload.uid,
    name: workload.name ?? '',
    namespace: workload.namespace ?? '',
    workloadIps: workload.addresses,
    node: workload.node ?? '',
    locality: { zone: workload.zone ?? '' },
    services: Object.fromEntries(workload.services.map((service) => [serviceKey(service), portMap(service.ports)])),
    status: workload.healthy ? 'Healthy' : 'Unhealthy',
    protocol: 'TCP',
    capacity: 1,
  }))
}

function portMap(ports: WorkloadService['ports']): Record<string, number> {
  return Object.fromEntries(ports.map(({ port, targetPort }) => [String(port), targetPort]))
}

function serviceKey(service: { readonly namespace: string; readonly hostname: string }): string {
  return `${service.namespace}/${service.hostname}`
}
