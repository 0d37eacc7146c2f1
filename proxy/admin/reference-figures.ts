// Live figures of what a reference of the configuration leads to. Pure.
import type { BackendReference, RenderedConfig } from '#api/ir/types.gen.ts'
import type { EndpointFigures } from '../backend/endpoint-store.ts'
import { addressKey, serviceKey, workloadKeys } from '../backend/endpoint-keys.ts'
import { type FiguresOf, figuresOfKeys } from './endpoint-info.ts'

/** Of each endpoint that is known; a Service has several. */
export type FiguresOfReference = (ref: BackendReference) => EndpointFigures[]

export function figuresOfReferences(
  { backends, workloads }: Pick<RenderedConfig, 'backends' | 'workloads'>,
  figures: FiguresOf,
): FiguresOfReference {
  const known = (keys: readonly string[]): EndpointFigures[] => figuresOfKeys(keys, figures)
  return ({ service, backend: key }) => {
    if (service === undefined) {
      const backend = backends.find((one) => one.key === key)
      const own = backend && addressKey(backend)
      return own === undefined ? [] : known([own])
    }
    const wanted = serviceKey(service)
    return workloads.flatMap((workload) =>
      workload.services
        .filter((membership) => serviceKey(membership) === wanted)
        .flatMap(({ namespace, hostname, ports }) => {
          const own = ports.filter(({ port }) => port === service.port)
          return known(workloadKeys(workload, { namespace, hostname, ports: own }))
        }),
    )
  }
}
