// Services of a file and their endpoints, and references to them.
import type { BackendReference, LocalityPreference, Service, Workload } from '#api/ir/types.gen.ts'
import { hintFor } from '#api/nearest.ts'
import { serviceKey } from '../../../backend/endpoint-keys.ts'
import { pathTo } from '../field-path.ts'
import type { ServiceFields, ServiceReferenceFields, WorkloadFields } from '../schema/discovery.ts'
import { DEFAULT_NAMESPACE, type BuildContext } from './context.ts'
import { defined, ifSet } from './defined.ts'

type Preference = LocalityPreference['preferences'][number]

const PREFERENCES = {
  network: 'Network',
  cluster: 'Cluster',
  region: 'Region',
  zone: 'Zone',
  subzone: 'Subzone',
  node: 'Node',
} as const satisfies Readonly<Record<string, Preference>>

export interface Discovery {
  readonly services?: readonly ServiceFields[] | undefined
  readonly workloads?: readonly WorkloadFields[] | undefined
}

/** Before everything that may name a service. */
export function addDiscovery({ services = [], workloads = [] }: Discovery, context: BuildContext): void {
  const byKey = new Map<string, ServiceFields>()
  for (const [index, fields] of services.entries()) {
    const rendered = serviceOf(fields)
    const key = serviceKey(rendered)
    if (byKey.has(key)) context.error(pathTo('services', index), `service ${key} already exists`)
    byKey.set(key, fields)
    context.config.services.push(rendered)
  }
  const uids = new Set<string>()
  for (const [index, fields] of workloads.entries()) {
    const path = pathTo('workloads', index)
    const workload = workloadOf(fields, { path, services: byKey }, context)
    if (uids.has(workload.uid)) context.error(path, `workload ${workload.uid} already exists`)
    uids.add(workload.uid)
    context.config.workloads.push(workload)
  }
}

/** `name`: `{namespace}/{hostname}`. */
export function serviceNamed(
  { name, port }: ServiceReferenceFields,
  path: string,
  context: BuildContext,
): BackendReference {
  const { services } = context.config
  const service = services.find((one) => serviceKey(one) === name)
  if (service === undefined) {
    const hint = hintFor(name, services.map(serviceKey), 'declare it in services')
    const message = `there is no service ${name}`
    context.error(pathTo(path, 'name'), `${message}; ${hint}`)
    return { invalid: { reason: 'BackendNotFound', message } }
  }
  if (!service.ports.some((one) => one.port === port))
    context.error(pathTo(path, 'port'), `the service ${name} has no port ${port}`)
  return { service: { namespace: service.namespace, hostname: service.hostname, port } }
}

function serviceOf({ name, namespace = DEFAULT_NAMESPACE, hostname, ports, ...rest }: ServiceFields): Service {
  const { appProtocols = {}, locality } = rest
  return {
    name,
    namespace,
    hostname: hostname ?? `${name}.${namespace}.svc.cluster.local`,
    ports: Object.keys(ports).map((port) => ({
      port: Number(port),
      ...defined({ appProtocol: Object.hasOwn(appProtocols, port) ? appProtocols[port] : undefined }),
    })),
    ...defined({
      locality: ifSet(locality, ({ preferences, mode }): LocalityPreference => ({
        preferences: preferences.map((one) => PREFERENCES[one]),
        mode: mode === 'strict' ? 'Strict' : 'Failover',
      })),
    }),
  }
}

function workloadOf(
  fields: WorkloadFields,
  place: { readonly path: string; readonly services: ReadonlyMap<string, ServiceFields> },
  context: BuildContext,
): Workload {
  const { name, namespace = DEFAULT_NAMESPACE, workloadIps, status, locality = {} } = fields
  const {
    uid = `${namespace}/${name}`,
    node,
    cluster,
    network,
    serviceAccount,
    capacity,
    protocol,
    trustDomain,
  } = fields
  const { region, zone, subzone } = locality
  return {
    uid,
    name,
    namespace,
    addresses: workloadIps,
    ...defined({ node, region, zone, subzone, cluster, network, serviceAccount, capacity, trustDomain }),
    ...(protocol === 'HBONE' && { protocol }),
    healthy: status !== 'Unhealthy',
    services: Object.entries(fields.services).map(([key, own]) => membershipOf(key, own, place, context)),
  }
}

/** Without its own ports, the workload has the ports of the service. */
function membershipOf(
  key: string,
  own: Readonly<Record<string, number>>,
  { path, services }: { readonly path: string; readonly services: ReadonlyMap<string, ServiceFields> },
  context: BuildContext,
): Workload['services'][number] {
  const at = pathTo(path, 'services', key)
  const service = services.get(key)
  if (service === undefined) {
    context.error(at, `there is no service ${key}; ${hintFor(key, [...services.keys()], 'declare it in services')}`)
  }
  const ports = Object.keys(own).length === 0 ? (service?.ports ?? {}) : own
  const known = new Set(Object.keys(service?.ports ?? ports))
  for (const port of Object.keys(ports).filter((one) => !known.has(one)))
    context.error(at, `the service has no port ${port}`)
  const slash = key.indexOf('/')
  return {
    namespace: key.slice(0, slash),
    hostname: key.slice(slash + 1),
    ports: Object.entries(ports).map(([port, targetPort]) => ({ port: Number(port), targetPort })),
  }
}
