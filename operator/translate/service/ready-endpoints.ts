// Whether a Service has a ready endpoint, updated from one list of EndpointSlices to the next. Returns which Services
// gained their first or lost their last one; everything between is not a change.
import { changesBetween } from '../changes.ts'
import type { EndpointSlice } from '../kube.ts'
import { nameKey } from '../object-ref.ts'
import { isServing } from './endpoint-conditions.ts'
import { SERVICE_NAME_LABEL } from './service-catalog.ts'

export type EndpointState = 'no slices' | 'none ready' | 'ready'

interface Counts {
  slices: number
  /** Slices with a ready endpoint. */
  ready: number
}

export class ReadyEndpoints {
  #slices: readonly EndpointSlice[] = []
  #counts = new Map<string, Counts>()

  stateOf(service: string): EndpointState {
    const counts = this.#counts.get(service)
    if (counts === undefined) return 'no slices'
    return counts.ready > 0 ? 'ready' : 'none ready'
  }

  /** Services, by `namespace/name`, whose state has changed. */
  enter(slices: readonly EndpointSlice[]): string[] {
    const edits = changesBetween(this.#slices, slices) ?? [{ removed: this.#slices, added: slices }]
    this.#slices = slices
    const before = new Map<string, EndpointState>()
    const count = (slice: EndpointSlice, by: 1 | -1): void => {
      const service = serviceOf(slice)
      if (service === undefined) return
      if (!before.has(service)) before.set(service, this.stateOf(service))
      const counts = this.#counts.get(service) ?? { slices: 0, ready: 0 }
      counts.slices += by
      if (hasReady(slice)) counts.ready += by
      if (counts.slices === 0) this.#counts.delete(service)
      else this.#counts.set(service, counts)
    }
    for (const { removed, added } of edits) {
      for (const slice of removed) count(slice, -1)
      for (const slice of added) count(slice, 1)
    }
    return [...before].flatMap(([service, state]) => (this.stateOf(service) === state ? [] : [service]))
  }
}

function serviceOf({ metadata }: EndpointSlice): string | undefined {
  const name = metadata.labels?.[SERVICE_NAME_LABEL]
  return name === undefined ? undefined : nameKey(metadata.namespace ?? '', name)
}

/** Terminating endpoints that still serve get the requests if no other endpoint is ready. */
function hasReady({ endpoints }: EndpointSlice): boolean {
  return (endpoints ?? []).some((endpoint) => isServing(endpoint) && endpoint.addresses.length > 0)
}
