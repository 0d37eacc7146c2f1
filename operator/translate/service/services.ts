// Services and their endpoints as the proxy needs them. Only what some Gateway reaches is rendered.
import type { Service as RenderedService, Workload } from '#api/ir/types.gen.ts'
import type { EndpointSlice, Service } from '../kube.ts'
import { keyOf, nameKey, namespaceOf } from '../object-ref.ts'
import { compareText, sortedBy } from '../order.ts'
import type { Snapshot } from '../snapshot.ts'
import { addSlice, type WorkloadDraft, workloadOf } from './workloads.ts'

const SERVICE_NAME_LABEL = 'kubernetes.io/service-name'

export interface Services {
  readonly get: (namespace: string, name: string) => Service | undefined
  readonly hostname: (namespace: string, name: string) => string
  /** `reached` holds host names. */
  render(reached: Iterable<string>): { services: RenderedService[]; workloads: Workload[] }
}

export function servicesOf(snapshot: Snapshot, clusterDomain: string): Services {
  const slices = slicesByService(snapshot.EndpointSlice.all)
  const hostname = (namespace: string, name: string): string => `${name}.${namespace}.svc.${clusterDomain}`
  const renderOne = (service: Service, drafts: Map<string, WorkloadDraft>): RenderedService => {
    const namespace = namespaceOf(service)
    const host = hostname(namespace, service.metadata.name)
    for (const slice of slices.get(keyOf(service)) ?? []) addSlice(drafts, { slice, service, hostname: host })
    return { name: service.metadata.name, namespace, hostname: host, ports: portsOf(service) }
  }
  const byHostname = new Map(
    snapshot.Service.all.map((service) => [hostname(namespaceOf(service), service.metadata.name), service]),
  )
  return {
    get: snapshot.Service.get,
    hostname,
    render: (reached) => {
      const drafts = new Map<string, WorkloadDraft>()
      const found = [...reached].sort(compareText).flatMap((host) => byHostname.get(host) ?? [])
      const services = found.map((service) => renderOne(service, drafts))
      return { services, workloads: sortedBy([...drafts.values()].map(workloadOf), ({ uid }) => uid) }
    },
  }
}

function slicesByService(slices: readonly EndpointSlice[]): Map<string, EndpointSlice[]> {
  const byService = new Map<string, EndpointSlice[]>()
  for (const slice of slices) {
    const name = slice.metadata.labels?.[SERVICE_NAME_LABEL]
    if (name === undefined) continue
    const key = nameKey(namespaceOf(slice), name)
    const known = byService.get(key)
    if (known === undefined) byService.set(key, [slice])
    else known.push(slice)
  }
  return byService
}

function portsOf(service: Service): RenderedService['ports'] {
  const tcp = (service.spec?.ports ?? []).filter(({ protocol = 'TCP' }) => protocol === 'TCP')
  return tcp.map(({ port, name, appProtocol }) => ({
    port,
    ...(name !== undefined && { name }),
    ...(appProtocol !== undefined && { appProtocol }),
  }))
}
