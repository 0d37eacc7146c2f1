// Counts of a worker in its metrics memory, for tests of what the main thread makes of them.
import type { SeriesTable } from '../metrics/buffer.ts'
import type { Family } from '../metrics/family.ts'

export interface Counted {
  readonly family: Family
  /** The others are `unknown`. */
  readonly labels: Readonly<Record<string, string>>
  readonly slot: number
}

export function addCount(table: SeriesTable, { family, labels, slot }: Counted, count: number): void {
  const values = family.labels.map((name) => labels[name] ?? 'unknown')
  const at = table.series(family, values) + slot
  table.values[at] = (table.values[at] ?? 0) + count
}
