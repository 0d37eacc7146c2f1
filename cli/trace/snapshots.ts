// The state of a request along its trace. Pure.
import type { TraceEvent } from './event-reader.ts'

const SNAPSHOTS: ReadonlySet<string> = new Set(['requestSnapshot', 'responseSnapshot'])

export interface Snapshot {
  readonly index: number
  readonly event: TraceEvent
}

/** The last one before `end`, of one type or of any. */
export function snapshotBefore(events: readonly TraceEvent[], end: number, type?: string): Snapshot | undefined {
  for (let index = end - 1; index >= 0; index--) {
    const event = events[index]
    if (event !== undefined && (type === undefined ? SNAPSHOTS.has(event.message.type) : event.message.type === type)) {
      return { index, event }
    }
  }
  return undefined
}
