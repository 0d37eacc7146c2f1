// Selects an endpoint: the nearest bucket with one that is not evicted, and there power of two choices by
// score (data-plane supplement section 5.1).
import type { LiveEndpoint } from './endpoints.ts'
import type { EndpointRecord } from '../exchange/slots.ts'
import type { EndpointPicker } from './handler.ts'

/** Draws before the evicted endpoints are sorted out one by one. */
const DRAWS_MAX = 4

export interface Candidate {
  readonly endpoint: LiveEndpoint
  /** Of its bucket, 0 is nearest. undefined: only selected by name. */
  readonly rank: number | undefined
  /** Weight of the draw; 0: as without a rank. */
  readonly capacity: number
}

export interface PickerOptions {
  /** See EndpointPicker. */
  readonly isHostname: boolean
  /** Returns [0, 1). */
  readonly random?: (() => number) | undefined
}

/** When every endpoint is evicted, those of the nearest bucket serve (States and transitions of the specification). */
export function endpointPicker(candidates: readonly Candidate[], options: PickerOptions): EndpointPicker {
  const { isHostname, random = Math.random } = options
  const buckets = bucketsOf(candidates, random)
  const [nearest] = buckets
  let byLabel: ReadonlyMap<string, LiveEndpoint> | undefined
  const find = (label: string): LiveEndpoint | undefined => {
    byLabel ??= new Map(candidates.map(({ endpoint }) => [endpoint.label, endpoint]))
    return byLabel.get(label)
  }
  const hasActive = (): boolean => buckets.some((bucket) => bucket.hasActive())
  const only = buckets.length === 1 ? nearest?.only : undefined
  if (only !== undefined) {
    const pick = (): LiveEndpoint => {
      only.state.tryRestore()
      return only
    }
    return { isHostname, pick, find, hasActive, other: () => undefined }
  }
  return {
    isHostname,
    find,
    hasActive,
    other(tried) {
      for (const bucket of buckets) {
        const found = bucket.drawOther(tried)
        if (found !== undefined) return found
      }
      return undefined
    },
    pick() {
      for (const bucket of buckets) {
        const first = bucket.drawActive()
        if (first !== undefined) return better(first, bucket.drawActive() ?? first)
      }
      const first = nearest?.draw()
      return first === undefined ? undefined : better(first, nearest?.draw() ?? first)
    },
  }
}

/** Endpoints that are all alike. */
export function powerOfTwoPicker(
  endpoints: readonly LiveEndpoint[],
  isHostname: boolean,
  random?: () => number,
): EndpointPicker {
  const candidates = endpoints.map((endpoint) => ({ endpoint, rank: 0, capacity: 1 }))
  return endpointPicker(candidates, { isHostname, random })
}

function better(first: LiveEndpoint, second: LiveEndpoint): LiveEndpoint {
  return second.score > first.score ? second : first
}

/** Nearest first; none is empty. */
function bucketsOf(candidates: readonly Candidate[], random: () => number): Bucket[] {
  const byRank = new Map<number, Candidate[]>()
  for (const candidate of candidates) {
    const { rank, capacity } = candidate
    if (rank === undefined || capacity <= 0) continue
    const list = byRank.get(rank)
    if (list === undefined) byRank.set(rank, [candidate])
    else list.push(candidate)
  }
  return [...byRank].sort(([a], [b]) => a - b).map(([, list]) => new Bucket(list, random))
}

class Bucket {
  readonly #endpoints: readonly LiveEndpoint[]
  /** Capacities of the endpoints up to and with each one; undefined: all have the same. */
  readonly #upTo: readonly number[] | undefined
  readonly #random: () => number

  constructor(candidates: readonly Candidate[], random: () => number) {
    this.#endpoints = candidates.map(({ endpoint }) => endpoint)
    this.#upTo = sums(candidates)
    this.#random = random
  }

  get only(): LiveEndpoint | undefined {
    return this.#endpoints.length === 1 ? this.#endpoints[0] : undefined
  }

  hasActive(): boolean {
    return this.#endpoints.some(({ state }) => state.tryRestore())
  }

  draw(): LiveEndpoint | undefined {
    const upTo = this.#upTo
    if (upTo === undefined) return this.#endpoints[Math.trunc(this.#random() * this.#endpoints.length)]
    return this.#endpoints[placeOf(upTo, this.#random())]
  }

  /**
   * A few draws from all have the same odds as one draw from the active ones, and cost nothing while none is evicted.
   * undefined: all are evicted.
   */
  drawActive(): LiveEndpoint | undefined {
    for (let draws = 0; draws < DRAWS_MAX; draws++) {
      const drawn = this.draw()
      if (drawn === undefined || drawn.state.tryRestore()) return drawn
    }
    return this.drawOther([])
  }

  /** As `drawActive`, without those. */
  drawOther(tried: readonly EndpointRecord[]): LiveEndpoint | undefined {
    const active = this.#endpoints.flatMap((endpoint, index) =>
      !tried.includes(endpoint.state) && endpoint.state.tryRestore()
        ? [{ endpoint, capacity: this.#capacityAt(index) }]
        : [],
    )
    const upTo = sums(active)
    const at = upTo === undefined ? Math.trunc(this.#random() * active.length) : placeOf(upTo, this.#random())
    return active[at]?.endpoint
  }

  #capacityAt(index: number): number {
    const upTo = this.#upTo
    return upTo === undefined ? 1 : (upTo[index] ?? 0) - (upTo[index - 1] ?? 0)
  }
}

/** undefined: all are the same. */
function sums(candidates: readonly Pick<Candidate, 'capacity'>[]): number[] | undefined {
  const [first] = candidates
  if (candidates.every(({ capacity }) => capacity === first?.capacity)) return undefined
  let sum = 0
  return candidates.map(({ capacity }) => (sum += capacity))
}

/** The first sum above the share of the whole. */
function placeOf(upTo: readonly number[], share: number): number {
  const value = share * (upTo.at(-1) ?? 0)
  let low = 0
  let high = upTo.length - 1
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((upTo[middle] ?? 0) > value) high = middle
    else low = middle + 1
  }
  return low
}
