// The endpoints of a configuration with their names, as the dump has them, and what is known of each. Pure.
import type { Backend, ProviderGroup, RenderedConfig } from '#api/ir/types.gen.ts'
import { serviceKey, workloadKeys } from '../backend/endpoint-keys.ts'
import { address, type Figures, figuresOfAddress, figuresOfProvider, sectionOf } from './config-dump-backends.ts'
import { figuresOfKeys, type OfKey } from './endpoint-info.ts'

export interface EndpointPlace {
  readonly type: 'Service' | 'Backend'
  /** Of the Service or backend. */
  readonly name: string
  readonly namespace: string
  readonly section?: string
  readonly endpoint: string
}

type Found<T> = readonly [EndpointPlace, readonly T[]]

/** Those of Services, addresses of which something is known, and providers. */
export function* endpointsOf<T>(config: RenderedConfig, known: Figures<T>): Generator<Found<T>> {
  yield* serviceEndpoints(config, known.ofKey)
  for (const backend of config.backends) {
    const place = placeOf(backend)
    const target = backend.static
    const own = target === undefined ? [] : figuresOfAddress(backend, known)
    if (target !== undefined && own.length > 0) yield [{ ...place, endpoint: address(target) }, own]
    for (const provider of providersOf(backend)) {
      yield [{ ...place, endpoint: provider.name }, figuresOfProvider(backend, provider, known)]
    }
  }
}

/** Servers of MCP backends: a reference leads to endpoints of a Service or of another backend. */
export function* mcpServersOf<T>({ backends }: RenderedConfig, { ofReference }: Figures<T>): Generator<Found<T>> {
  for (const backend of backends) {
    for (const { name, ref } of backend.mcp?.targets ?? []) {
      if (ref !== undefined) yield [{ ...placeOf(backend), endpoint: name }, ofReference(ref)]
    }
  }
}

function placeOf(backend: Backend): Omit<EndpointPlace, 'endpoint'> {
  const { name, namespace } = backend.name
  return { type: 'Backend', name, namespace, ...sectionOf(backend) }
}

function* serviceEndpoints<T>({ services, workloads }: RenderedConfig, ofKey: OfKey<T>): Generator<Found<T>> {
  const known = new Map(services.map((service) => [serviceKey(service), service]))
  for (const workload of workloads) {
    for (const { ports, ...membership } of workload.services) {
      const service = known.get(serviceKey(membership))
      if (service === undefined) continue
      const { name, namespace, hostname } = service
      const keys = workloadKeys(workload, { namespace, hostname, ports })
      yield [{ type: 'Service', name, namespace, endpoint: workload.uid }, figuresOfKeys(keys, ofKey)]
    }
  }
}

function providersOf({ ai }: Backend): ProviderGroup['providers'] {
  return ai?.groups.flatMap(({ providers }) => providers) ?? []
}
