// Live figures of what a reference of the configuration leads to. Pure.
import type { BackendReference, RenderedConfig } from '#api/ir/types.gen.ts'
import { addressKey, serviceKey, workloadKeys } from '../backend/endpoint-keys.ts'
import { figuresOfKeys, type OfKey } from './endpoint-info.ts'

/** Of each endpoint that is known; a Service has several. */
export type OfReference<T> = (ref: BackendReference) => T[]

export function figuresOfReferences<T>(
  { backends, workloads }: Pick<RenderedConfig, 'backends' | 'workloads'>,
  figures: OfKey<T>,
): OfReference<T> {
  const known = (keys: readonly string[]): T[] => figuresOfKeys(keys, figures)
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
