// The memory for the counts of one worker: gauges, values and the list of series in one SharedArrayBuffer, so that main
// reads at scrape time without a message and no count is lost when the worker dies. One writer, one reader. Values are
// 64-bit floats written with plain aligned stores, which supported processors write atomically; a scrape needs no more.
import { FAMILIES, GAUGES, type GaugeName } from './families.ts'
import type { Family } from './family.ts'

const HEADER_BYTES = 64
const VALUES_USED = 0
const TEXT_USED = 1
const OVERFLOWS = 2
const GAUGE_BYTES = 16 * 8
/** 4 MiB: 12 000 routes with one status each. Untouched pages cost nothing. */
const VALUES_MAX = 512 * 1024
const TEXT_BYTES_MAX = 4 * 1024 * 1024
/** Clients choose some label values (model names): they are truncated, never unlimited. */
export const LABEL_CHARS_MAX = 128
export const OVERFLOW_LABEL = 'overflow'

export interface BufferSize {
  readonly values: number
  readonly textBytes: number
}

const DEFAULT_SIZE: BufferSize = { values: VALUES_MAX, textBytes: TEXT_BYTES_MAX }

export function createMetricsBuffer(size: BufferSize = DEFAULT_SIZE): SharedArrayBuffer {
  const shared = new SharedArrayBuffer(HEADER_BYTES + 8 + GAUGE_BYTES + size.values * 8 + size.textBytes)
  // The buffer has the only number that its layout depends on.
  new Float64Array(shared, HEADER_BYTES, 1)[0] = size.values
  return shared
}

interface Layout {
  readonly header: Int32Array
  readonly gauges: Float64Array
  readonly values: Float64Array
  readonly text: Buffer
}

function layoutOf(shared: SharedArrayBuffer): Layout {
  const valuesMax = new Float64Array(shared, HEADER_BYTES, 1)[0] ?? 0
  const gaugesAt = HEADER_BYTES + 8
  const valuesAt = gaugesAt + GAUGE_BYTES
  return {
    header: new Int32Array(shared, 0, HEADER_BYTES / 4),
    gauges: new Float64Array(shared, gaugesAt, GAUGE_BYTES / 8),
    values: new Float64Array(shared, valuesAt, valuesMax),
    text: Buffer.from(shared, valuesAt + valuesMax * 8),
  }
}

/** The writer in the worker. */
export class SeriesTable {
  /** Indexed by the result of `series` plus the offsets of the family. */
  readonly values: Float64Array
  readonly #layout: Layout
  readonly #slotByKey: Map<string, number>[] = FAMILIES.map(() => new Map())
  readonly #overflowSlot: number[] = []
  #valuesUsed = 0
  #textUsed = 0

  constructor(shared: SharedArrayBuffer) {
    this.#layout = layoutOf(shared)
    this.values = this.#layout.values
    for (const family of FAMILIES) {
      const labels = family.labels.map(() => OVERFLOW_LABEL)
      this.#overflowSlot.push(this.#register(family, labels) ?? 0)
    }
  }

  /** The first slot of a series; creates the series. Cache the result: this builds a key. */
  series(family: Family, labels: readonly string[]): number {
    const known = this.#slotByKey[family.id]
    // Built from truncated values: a key must not keep a client's long string in memory.
    const key = (labels.some(isLong) ? labels.map(cutLabel) : labels).join('\u0000')
    const slot = known?.get(key)
    if (slot !== undefined || known === undefined) return slot ?? 0
    const fresh = known.size < family.seriesMax ? this.#register(family, labels) : undefined
    if (fresh === undefined) {
      Atomics.add(this.#layout.header, OVERFLOWS, 1)
      return this.#overflowSlot[family.id] ?? 0
    }
    known.set(key, fresh)
    return fresh
  }

  setGauge(name: GaugeName, value: number): void {
    this.#layout.gauges[GAUGES.indexOf(name)] = value
  }

  #register(family: Family, labels: readonly string[]): number | undefined {
    const slot = this.#valuesUsed
    const { header, text, values } = this.#layout
    const entry = `${JSON.stringify([family.id, slot, ...labels.map(cutLabel)])}\n`
    const bytes = Buffer.byteLength(entry)
    if (slot + family.slots > values.length || this.#textUsed + bytes > text.length) return undefined
    text.write(entry, this.#textUsed)
    this.#valuesUsed += family.slots
    this.#textUsed += bytes
    Atomics.store(header, VALUES_USED, this.#valuesUsed)
    Atomics.store(header, TEXT_USED, this.#textUsed)
    return slot
  }
}

function isLong(label: string): boolean {
  return label.length > LABEL_CHARS_MAX
}

export function cutLabel(label: string): string {
  return label.slice(0, LABEL_CHARS_MAX)
}

export interface SeriesEntry {
  readonly family: Family
  readonly slot: number
  readonly labels: readonly string[]
}

/** The reader in the main thread. */
export class SeriesReader {
  readonly values: Float64Array
  readonly #layout: Layout
  #textRead = 0

  constructor(shared: SharedArrayBuffer) {
    this.#layout = layoutOf(shared)
    this.values = this.#layout.values
  }

  /** Series registered since the last call. */
  newSeries(): SeriesEntry[] {
    const end = Atomics.load(this.#layout.header, TEXT_USED)
    if (end === this.#textRead) return []
    const lines = this.#layout.text.toString('utf8', this.#textRead, end).split('\n')
    this.#textRead = end
    const entries: SeriesEntry[] = []
    for (const line of lines) {
      if (line === '') continue
      // Written by SeriesTable of the same program, published only when complete.
      const [id, slot, ...labels] = JSON.parse(line) as [number, number, ...string[]]
      const family = FAMILIES[id]
      if (family !== undefined) entries.push({ family, slot, labels })
    }
    return entries
  }

  gauge(name: GaugeName): number {
    return this.#layout.gauges[GAUGES.indexOf(name)] ?? 0
  }

  /** Look-ups without room for a separate series. */
  get overflows(): number {
    return Atomics.load(this.#layout.header, OVERFLOWS)
  }
}
