// Every endpoint that a rendered configuration names, by the key of its state in shared memory. The main thread calls
// it before workers see the configuration; an endpoint that it misses has separate state in each worker.
import type { AIProvider, Backend, RenderedConfig, Service, StaticTarget, Workload } from '#api/ir/types.gen.ts'
import { Grouped } from '#api/incremental/grouped.ts'
import { agentCoreAddress } from './agent-core.ts'
import { endpointKey } from './endpoints.ts'
import { PROVIDER_PORT, providerHost, rerankHost } from './provider-address.ts'

type Lists = Pick<RenderedConfig, 'workloads' | 'backends'>

/** Updated from one configuration to the next. */
export class EndpointKeys {
  readonly #workloads: Grouped<Workload>
  readonly #backends: Grouped<Backend>

  private constructor(workloads: Grouped<Workload>, backends: Grouped<Backend>) {
    this.#workloads = workloads
    this.#backends = backends
  }

  static of({ workloads, backends }: Lists): EndpointKeys {
    return new EndpointKeys(Grouped.of(workloads, allWorkloadKeys), Grouped.of(backends, backendKeys))
  }

  /** The same list if nothing has changed. */
  after(lists: Lists): EndpointKeys {
    const [workloads, backends] = [this.#workloads.after(lists.workloads), this.#backends.after(lists.backends)]
    return workloads === this.#workloads && backends === this.#backends ? this : new EndpointKeys(workloads, backends)
  }

  /** Some may come twice. */
  *all(): IterableIterator<string> {
    yield* this.#workloads.keys()
    yield* this.#backends.keys()
  }

  since(before: EndpointKeys): { readonly come: readonly string[]; readonly gone: readonly string[] } {
    const changed = [
      ...this.#workloads.changedSince(before.#workloads),
      ...this.#backends.changedSince(before.#backends),
    ]
    return {
      come: changed.filter((key) => this.#has(key) && !before.#has(key)),
      gone: changed.filter((key) => !this.#has(key) && before.#has(key)),
    }
  }

  #has(key: string): boolean {
    return this.#workloads.at(key).length > 0 || this.#backends.at(key).length > 0
  }
}

function allWorkloadKeys(workload: Workload): string[] {
  return workload.services.flatMap((service) => workloadKeys(workload, service))
}

/** The endpoints of a workload for a Service: one for each port. */
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

/** undefined: the provider uses a backend or Service with its own endpoints, or has no address. */
export function providerKey(backend: Backend, provider: AIProvider): string | undefined {
  if (provider.hostOverride !== undefined) {
    const { host, port } = provider.hostOverride
    return endpointKey(sectionOwner(backend.name, provider.name), { host, port, unixPath: undefined })
  }
  const host = provider.backendRef === undefined ? providerHost(provider) : undefined
  if (host === undefined) return undefined
  return endpointKey(sectionOwner(backend.name, provider.name), { host, port: PROVIDER_PORT, unixPath: undefined })
}

/** undefined: rerank requests have no endpoint of their own. */
function rerankKey(backend: Backend, provider: AIProvider): string | undefined {
  const host = rerankHost(provider)
  if (host === undefined) return undefined
  return endpointKey(sectionOwner(backend.name, provider.name), { host, port: PROVIDER_PORT, unixPath: undefined })
}

/** undefined: the backend does not have exactly one address. */
export function addressKey(backend: Backend): string | undefined {
  const target: StaticTarget | undefined = backend.static ?? (backend.agentCore && agentCoreAddress(backend.agentCore))
  if (target === undefined) return undefined
  const { host = '', port = 0, unixPath } = target
  return endpointKey(backend.key, { host, port, unixPath })
}

function backendKeys(backend: Backend): string[] {
  const key = addressKey(backend)
  if (key !== undefined) return [key]
  const providers = backend.ai?.groups.flatMap((group) => group.providers) ?? []
  return providers
    .flatMap((provider) => [providerKey(backend, provider), rerankKey(backend, provider)])
    .filter((one) => one !== undefined)
}
