// The answer of `/memory`: allocator and process memory of all threads.
import { getHeapStatistics } from 'node:v8'
import type { components } from '#api/admin/types.gen.ts'
import type { MetricsAggregate } from '../metrics/aggregate.ts'

export function memoryReport(
  workers: readonly { readonly slot: number; readonly buffer: SharedArrayBuffer }[],
  aggregate: MetricsAggregate,
): components['schemas']['Memory'] {
  const heap = getHeapStatistics()
  return {
    process: {
      ...process.memoryUsage(),
      residentMax: process.resourceUsage().maxRSS * 1024,
      mainHeapLimit: heap.heap_size_limit,
      mainMalloced: heap.malloced_memory,
    },
    workers: workers.map(({ slot, buffer }) => ({
      worker: slot,
      heapUsed: aggregate.gauges(buffer, 'heapUsedBytes'),
      heapTotal: aggregate.gauges(buffer, 'heapTotalBytes'),
    })),
  }
}
