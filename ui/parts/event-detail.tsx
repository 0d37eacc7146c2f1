// One event of a trace: itself, the state of the request at that time, or what changed since the state before.
import { useState } from 'preact/hooks'
import type { TraceEvent } from '#cli/trace/event-reader.ts'
import { snapshotBefore } from '#cli/trace/snapshots.ts'
import { patchLines } from './patch-lines.ts'

const MODES = ['event', 'snapshot', 'diff'] as const
type Mode = (typeof MODES)[number]

export interface EventDetailProps {
  readonly events: readonly TraceEvent[]
  readonly index: number
}

export function EventDetail({ events, index }: EventDetailProps) {
  const [mode, setMode] = useState<Mode>('event')
  return (
    <section aria-label="Detail">
      <div class="bar" role="group" aria-label="Show">
        {MODES.map((one) => (
          <button key={one} type="button" aria-pressed={one === mode} onClick={() => setMode(one)}>
            {one}
          </button>
        ))}
      </div>
      <pre tabIndex={0}>{textOf(events, index, mode)}</pre>
    </section>
  )
}

function textOf(events: readonly TraceEvent[], index: number, mode: Mode): string {
  if (mode === 'event') return JSON.stringify(events[index], undefined, 2)
  const current = snapshotBefore(events, index + 1)
  if (current === undefined) return 'no snapshot yet'
  const { type, stage = '', requestState } = current.event.message
  if (mode === 'snapshot') return `${stage}\n${JSON.stringify(requestState, undefined, 2)}`
  const former = snapshotBefore(events, current.index, type)
  if (former === undefined) return `${stage}: the first snapshot`
  const head = `${former.event.message.stage ?? ''} → ${stage}`
  return [head, ...patchLines(former.event.message.requestState, requestState)].join('\n')
}
