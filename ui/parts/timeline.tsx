// The events of a trace in their order, each with its time as a bar; the one that decided is marked.
import { decidingEvent } from '#cli/explain/explanation.ts'
import { labelOf, millisecondsOf, summaryOf } from '#cli/trace/summary.ts'
import type { TraceEvent } from '../api.ts'

export interface TimelineProps {
  readonly events: readonly TraceEvent[]
  /** Position of the one that is shown. */
  readonly shown: number
  readonly onShow: (index: number) => void
}

/** Of the drawing; the page scales it. */
const WIDTH = 100
const BAR_MIN = 1.5

export function Timeline({ events, shown, onShow }: TimelineProps) {
  const end = Math.max(1, ...events.map(({ eventEnd }) => eventEnd))
  const decided = decidingEvent(events)
  return (
    <ol class="timeline scroll" aria-label="Events" tabIndex={0}>
      {events.map((event, index) => {
        const start = ((event.eventStart ?? event.eventEnd) / end) * WIDTH
        const width = Math.max(BAR_MIN, (event.eventEnd / end) * WIDTH - start)
        return (
          <li key={index} class={index === decided ? 'decided' : undefined}>
            <span class="mono soft number">{millisecondsOf(event)} ms</span>
            <svg viewBox={`0 0 ${WIDTH} 8`} preserveAspectRatio="none" aria-hidden="true">
              <rect x={Math.min(start, WIDTH - BAR_MIN)} y="2" width={width} height="4" />
            </svg>
            <span>
              <button class="plain" type="button" aria-pressed={index === shown} onClick={() => onShow(index)}>
                {labelOf(event)}
              </button>{' '}
              <span class={event.severity === 'error' ? 'bad' : undefined}>{summaryOf(event)}</span>
              {index === decided && <b class="mark"> decided</b>}
            </span>
          </li>
        )
      })}
    </ol>
  )
}
