// Every endpoint a rendered configuration names, by the key its state has in shared memory. The main thread calls it
// before workers see the configuration; what it misses has a state of its own in each worker.
import type { AIProvider, Backend, RenderedConfig, Service, Workload } from '#api/ir/types.gen.ts'
import { PROVIDER_PORT, providerProfile } from '../llm/provider.ts'
import { endpointKey } from './endpoints.ts'

/** Some may come twice. */
export function endpointKeysOf(config: RenderedConfig): string[] {
  const keys: string[] = []
  const known = serviceKeysOf(config.services)
  for (const workload of config.workloads) {
    for (const { service, keys: own } of keysByService(workload)) {
      if (known.has(service)) for (const key of own) keys.push(key)
    }
  }
  for (const backend of config.backends) for (const key of backendKeys(backend)) keys.push(key)
  return keys
}

/** Most workloads of a configuration are those of the one before. */
const remembered = new WeakMap<Workload, KeysOfService[]>()

const rememberedServices = new WeakMap<readonly Service[], ReadonlySet<string>>()

function serviceKeysOf(services: readonly Service[]): ReadonlySet<string> {
  let keys = rememberedServices.get(services)
  if (keys === undefined) {
    keys = new Set(services.map(serviceKey))
    rememberedServices.set(services, keys)
  }
  return keys
}

interface KeysOfService {
  readonly service: string
  readonly keys: readonly string[]
}

function keysByService(workload: Workload): KeysOfService[] {
  let list = remembered.get(workload)
  if (list === undefined) {
    list = workload.services.map((service) => ({
      service: serviceKey(service),
      keys: workloadKeys(workload, service),
    }))
    remembered.set(workload, list)
  }
  return list
}

/** The endpoints that a workload is to a Service: one for each port. */
export function workloadKeys(
  { addresses }: Pick<Workload, 'addresses'>,
  { namespace, hostname, ports }: Pick<Workload['services'][number], 'namespace' | 'hostname' | 'ports'>,
): string[] {
  const host = addresses[0]
  if (host === undefined) return []
  return ports.map(({ port, targetPort }) =>
    endpointKey(serviceOwner({ namespace, hostname }, port), { host, port: targetPort, unixPath: undefined }),
  )
}

type ServiceName = Pick<Service, 'namespace' | 'hostname'>

export function serviceKey({ namespace, hostname }: ServiceName): string {
  return `${namespace}/${hostname}`
}

export function serviceOwner(service: ServiceName, port: number): string {
  return `service/${serviceKey(service)}:${port}`
}

/** A provider of an AI backend. */
export function sectionOwner(backend: { readonly namespace: string; readonly name: string }, section: string): string {
  return `${backend.namespace}/${backend.name}#${section}`
}

/** undefined: the provider leads to a backend or Service that has endpoints of its own, or has no address. */
export function providerKey(backend: Backend, provider: AIProvider): string | undefined {
  if (provider.hostOverride !== undefined) {
    const { host, port } = provider.hostOverride
    return endpointKey(sectionOwner(backend.name, provider.name), { host, port, unixPath: undefined })
  }
  const host = provider.backendRef === undefined ? providerProfile(provider)?.defaultHost : undefined
  if (host === undefined) return undefined
  return endpointKey(sectionOwner(backend.name, provider.name), { host, port: PROVIDER_PORT, unixPath: undefined })
}

/** undefined: the backend is no plain address. */
export function staticKey(backend: Backend): string | undefined {
  if (backend.static === undefined) return undefined
  const { host = '', port = 0, unixPath } = backend.static
  return endpointKey(backend.key, { host, port, unixPath })
}

function backendKeys(backend: Backend): string[] {
  const key = staticKey(backend)
  if (key !== undefined) return [key]
  const providers = backend.ai?.groups.flatMap((group) => group.providers) ?? []
  return providers.map((provider) => providerKey(backend, provider)).filter((key) => key !== undefined)
}
