// EndpointSlices by the Service they belong to. Services whose slices are the same ones as last time keep their list.
import type { EndpointSlice } from '../kube.ts'
import { nameKey, namespaceOf } from '../object-ref.ts'

/** By `namespace/name` of the Service. */
export type SlicesByService = ReadonlyMap<string, readonly EndpointSlice[]>

interface Grouped {
  readonly slices: readonly EndpointSlice[]
  readonly byService: SlicesByService
}

const SERVICE_NAME_LABEL = 'kubernetes.io/service-name'

/** For a list that is asked for again and again, with few slices that are others. */
export function slicesByService(): (slices: readonly EndpointSlice[]) => SlicesByService {
  let last: Grouped | undefined
  return (slices) => {
    if (last?.slices === slices) return last.byService
    const byService = (last && withReplaced(last, slices)) ?? grouped(slices)
    last = { slices, byService }
    return byService
  }
}

/** Nearly always a few slices of the same Services are others. undefined: it is not so. */
function withReplaced(last: Grouped, slices: readonly EndpointSlice[]): SlicesByService | undefined {
  if (last.slices.length !== slices.length) return undefined
  const byService = new Map(last.byService)
  for (let index = 0; index < slices.length; index++) {
    const [before, now] = [last.slices[index], slices[index]]
    if (before === now) continue
    const key = now && serviceOf(now)
    if (before === undefined || now === undefined || serviceOf(before) !== key) return undefined
    if (key === undefined) continue
    const own = byService.get(key) ?? []
    byService.set(
      key,
      own.map((slice) => (slice === before ? now : slice)),
    )
  }
  return byService
}

function grouped(slices: readonly EndpointSlice[]): SlicesByService {
  const byService = new Map<string, EndpointSlice[]>()
  for (const slice of slices) {
    const key = serviceOf(slice)
    if (key === undefined) continue
    const known = byService.get(key)
    if (known === undefined) byService.set(key, [slice])
    else known.push(slice)
  }
  return byService
}

function serviceOf(slice: EndpointSlice): string | undefined {
  const name = slice.metadata.labels?.[SERVICE_NAME_LABEL]
  return name === undefined ? undefined : nameKey(namespaceOf(slice), name)
}
