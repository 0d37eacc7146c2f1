// Adds up the counts of all workers, including dead ones. Main thread only; reads shared memory, never writes it.
import type { SeriesEntry } from './buffer.ts'
import { OVERFLOW_LABEL, SeriesReader } from './buffer.ts'
import { FAMILIES, type GaugeName } from './families.ts'
import type { Family } from './family.ts'

/** Workers and their successors may have different series; the limit is this multiple of the limit of one worker. */
const SERIES_FACTOR = 4

/** One series over all workers. The objects are kept between scrapes. */
export interface TotalSeries {
  readonly labels: Readonly<Record<string, string>>
  /** Totals of dead workers plus, after `refresh`, of the live ones. */
  readonly totals: Float64Array
}

interface Series extends TotalSeries {
  readonly retained: Float64Array
  readonly merge: typeof addInto
}

interface Source {
  readonly reader: SeriesReader
  readonly entries: { readonly series: Series; readonly slot: number }[]
}

export class MetricsAggregate {
  readonly #families: Map<string, Series>[] = FAMILIES.map(() => new Map())
  readonly #sources = new Map<SharedArrayBuffer, Source>()
  #retainedOverflows = 0

  attach(shared: SharedArrayBuffer): void {
    this.#sources.set(shared, { reader: new SeriesReader(shared), entries: [] })
  }

  /** Keeps the totals of a dead worker. */
  detach(shared: SharedArrayBuffer): void {
    const source = this.#sources.get(shared)
    if (source === undefined) return
    this.#learn(source)
    for (const { series, slot } of source.entries) series.merge(series.retained, source.reader.values, slot)
    this.#retainedOverflows += source.reader.overflows
    this.#sources.delete(shared)
  }

  /** Updates `totals` of all series. */
  refresh(): void {
    for (const source of this.#sources.values()) this.#learn(source)
    for (const family of this.#families) for (const series of family.values()) series.totals.set(series.retained)
    for (const { reader, entries } of this.#sources.values()) {
      for (const { series, slot } of entries) series.merge(series.totals, reader.values, slot)
    }
  }

  /** Series of a family with counts. */
  series(family: Family): readonly TotalSeries[] {
    const all = this.#families[family.id]
    if (all === undefined) return []
    return [...all.values()].filter((series) => series.totals.some((value) => value !== 0))
  }

  gauges(shared: SharedArrayBuffer, name: GaugeName): number {
    return this.#sources.get(shared)?.reader.gauge(name) ?? 0
  }

  get overflows(): number {
    let sum = this.#retainedOverflows
    for (const { reader } of this.#sources.values()) sum += reader.overflows
    return sum
  }

  #learn(source: Source): void {
    for (const entry of source.reader.newSeries()) {
      source.entries.push({ series: this.#seriesOf(entry), slot: entry.slot })
    }
  }

  #seriesOf({ family, slot, labels }: SeriesEntry): Series {
    const key = labels.join('\u0000')
    const known = this.#families[family.id]
    const existing = known?.get(key)
    if (existing !== undefined) return existing
    if (known !== undefined && known.size >= family.seriesMax * SERIES_FACTOR && labels[0] !== OVERFLOW_LABEL) {
      return this.#seriesOf({ family, slot, labels: family.labels.map(() => OVERFLOW_LABEL) })
    }
    const series: Series = {
      labels: labelsOf(family, labels),
      totals: new Float64Array(family.slots),
      retained: new Float64Array(family.slots),
      merge: family.isLatest === true ? takeLatest : addInto,
    }
    known?.set(key, series)
    return series
  }
}

/** The labels of the family, then name and value of the labels that a policy adds. */
function labelsOf(family: Family, labels: readonly string[]): Readonly<Record<string, string>> {
  const named: [string, string][] = family.labels.map((name, i) => [name, labels[i] ?? 'unknown'])
  for (let i = family.labels.length; i < labels.length; i += 2)
    named.push([labels[i] ?? '', labels[i + 1] ?? 'unknown'])
  return Object.fromEntries(named)
}

function addInto(target: Float64Array, values: Float64Array, slot: number): void {
  for (let i = 0; i < target.length; i++) target[i] = (target[i] ?? 0) + (values[slot + i] ?? 0)
}

function takeLatest(target: Float64Array, values: Float64Array, slot: number): void {
  if ((values[slot] ?? 0) <= (target[0] ?? 0)) return
  for (let i = 0; i < target.length; i++) target[i] = values[slot + i] ?? 0
}
