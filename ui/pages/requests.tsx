// What happened to this request? Watches requests one after the other: what decided, and each event with the state of
// the request and what changed in it.
import { useState } from 'preact/hooks'
import { decidingEvent, explanationOf } from '#cli/explain/explanation.ts'
import type { Dump } from '../api.ts'
import { Comparison } from '../parts/comparison.tsx'
import { EventDetail } from '../parts/event-detail.tsx'
import { Explained } from '../parts/explained.tsx'
import { Choice } from '../parts/fields.tsx'
import { Replay } from '../parts/replay.tsx'
import { RequestList, titleOf } from '../parts/request-list.tsx'
import { Timeline } from '../parts/timeline.tsx'
import { changeWatch, startWatch, stopWatch, useWatch, type Watched } from '../watched-requests.ts'

export function Requests({ dump }: { readonly dump: Dump }) {
  const { requests, expression, isWatching, status, shown } = useWatch()
  const request = requests.find(({ id }) => id === shown)
  return (
    <>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (isWatching) stopWatch()
          else void startWatch()
        }}
      >
        <label>
          Only requests for which this expression (CEL) holds
          <input
            type="text"
            class="mono"
            value={expression}
            disabled={isWatching}
            placeholder={'request.path.startsWith("/api")'}
            onInput={({ currentTarget }) => changeWatch({ expression: currentTarget.value })}
          />
        </label>
        <button class="main" type="submit">
          {isWatching ? 'Stop' : 'Watch'}
        </button>
        <p role="status">{!isWatching && status === '' ? 'Not watching.' : status}</p>
      </form>
      <RequestList requests={requests} shown={shown} onShow={(id) => changeWatch({ shown: id })} />
      {request !== undefined && <Shown key={request.id} request={request} others={requests} dump={dump} />}
    </>
  )
}

interface ShownProps {
  readonly request: Watched
  readonly others: readonly Watched[]
  readonly dump: Dump
}

function Shown({ request, others, dump }: ShownProps) {
  const [at, setAt] = useState<number | undefined>(undefined)
  const { events } = request
  const shown = at ?? Math.max(0, decidingEvent(events))
  return (
    <>
      <Explained explanation={explanationOf(events)} dump={dump} />
      <Replay events={events} dump={dump} />
      <CompareWith request={request} others={others} />
      <h2>Events</h2>
      <div class="split">
        <Timeline events={events} shown={shown} onShow={setAt} />
        <EventDetail events={events} index={shown} />
      </div>
    </>
  )
}

const NONE = 'no other request'

/** The snapshots of another watched request beside those of this one. */
function CompareWith({ request, others }: Pick<ShownProps, 'request' | 'others'>) {
  const [title, setTitle] = useState(NONE)
  const titles = new Map(others.filter(({ id }) => id !== request.id).map((other) => [titleOf(other), other] as const))
  const other = titles.get(title)
  if (titles.size === 0) return null
  return (
    <>
      <div class="bar">
        <Choice label="Compare with" value={title} options={[NONE, ...titles.keys()]} onValue={setTitle} />
      </div>
      {other !== undefined && (
        <section aria-label="Comparison">
          <Comparison before={request.events} after={other.events} titles={[titleOf(request), title]} />
        </section>
      )}
    </>
  )
}
