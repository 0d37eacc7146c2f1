// Connections to addresses, added up over the pools of each: connections with other settings have pools of their own.
import type { PoolCounts } from './client.ts'

/** Connections to one address. */
export interface EndpointConnections {
  /** `host:port`. */
  readonly label: string
  /** Those without a request included. */
  readonly open: number
  readonly idle: number
  readonly openMax: number
}

/** Of the addresses in `labels` that have a pool. */
export function endpointConnections(
  pools: Iterable<PoolCounts>,
  labels: ReadonlySet<string>,
): readonly EndpointConnections[] {
  const counts = new Map<string, EndpointConnections>()
  for (const { label, openCount, idleCount, openMax } of pools) {
    if (!labels.has(label)) continue
    const { open, idle, openMax: max } = counts.get(label) ?? { open: 0, idle: 0, openMax: 0 }
    counts.set(label, { label, open: open + openCount, idle: idle + idleCount, openMax: max + openMax })
  }
  return [...counts.values()]
}
