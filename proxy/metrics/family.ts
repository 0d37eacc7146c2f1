// Metrics with the same labels, and how they are laid out in memory. Data only.

export interface MetricShape {
  readonly name: string
  readonly help: string
  /** Upper bounds; undefined: a counter. */
  readonly buckets: Float64Array | undefined
}

/** Metrics with the same label values: one look-up serves all of them. */
export interface Family {
  readonly id: number
  readonly labels: readonly string[]
  readonly metrics: readonly MetricShape[]
  /** Slot of each metric, relative to the series. */
  readonly offsets: readonly number[]
  readonly slots: number
  /** Separate series of a worker; further ones are counted together under `overflow`. */
  readonly seriesMax: number
  /** For the admin server only: scrapes do not have it. */
  readonly isInternal?: true
  /** Of several workers, the values of the one whose first value, a time, is the highest; unset: their sum. */
  readonly isLatest?: true
}

/** Slots a metric needs: buckets, the overflow bucket and the sum; or one for a counter. */
function slotsOf(shape: MetricShape): number {
  return shape.buckets === undefined ? 1 : shape.buckets.length + 2
}

export function family(init: Omit<Family, 'offsets' | 'slots'>): Family {
  const offsets: number[] = []
  let slots = 0
  for (const shape of init.metrics) {
    offsets.push(slots)
    slots += slotsOf(shape)
  }
  return { ...init, offsets, slots }
}

export function counter(name: string, help: string): MetricShape {
  return { name, help, buckets: undefined }
}

export function histogram(name: string, help: string, buckets: Float64Array): MetricShape {
  return { name, help, buckets }
}

export function bounds(values: readonly number[]): Float64Array {
  return Float64Array.from(values)
}
