// What happened to this request? Watches requests one after the other: what decided, and each event with the state of
// the request and what changed in it.
import { useEffect, useState } from 'preact/hooks'
import { explanationOf } from '#cli/explain/explanation.ts'
import { labelOf, millisecondsOf, summaryOf } from '#cli/trace/summary.ts'
import { type Dump, problemOf, type TraceEvent, watchRequest } from '../api.ts'
import { EventDetail } from '../parts/event-detail.tsx'
import { Explained } from '../parts/explained.tsx'
import { Replay } from '../parts/replay.tsx'
import { RequestList, type Watched } from '../parts/request-list.tsx'

/** Older ones are forgotten. */
const REQUESTS_MAX = 50

interface Watch {
  readonly expression: string
  readonly stop: AbortController
}

export function Requests({ dump }: { readonly dump: Dump }) {
  const [expression, setExpression] = useState('')
  const [watch, setWatch] = useState<Watch | undefined>(undefined)
  const [state, setState] = useState('')
  const [requests, setRequests] = useState<readonly Watched[]>([])
  const [shown, setShown] = useState<number | undefined>(undefined)
  const [at, setAt] = useState(0)

  useEffect(() => {
    if (watch === undefined) return undefined
    const add = (id: number, event: TraceEvent): void => setRequests((all) => withEvent(all, id, event))
    void follow(watch, { add, report: setState }).then(() => setWatch(undefined))
    return () => watch.stop.abort()
  }, [watch])

  const request = requests.find(({ id }) => id === shown)
  return (
    <>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          setWatch(watch === undefined ? { expression, stop: new AbortController() } : undefined)
        }}
      >
        <label>
          Only requests for which this expression (CEL) holds
          <input
            type="text"
            class="mono"
            value={expression}
            disabled={watch !== undefined}
            placeholder={'request.path.startsWith("/api")'}
            onInput={({ currentTarget }) => setExpression(currentTarget.value)}
          />
        </label>
        <button class="main" type="submit">
          {watch === undefined ? 'Watch' : 'Stop'}
        </button>
        <p role="status">{watch === undefined && state === '' ? 'Not watching.' : state}</p>
      </form>
      <RequestList
        requests={requests}
        shown={shown}
        onShow={(id) => {
          setShown(id)
          setAt(0)
        }}
      />
      {request !== undefined && (
        <>
          <Explained explanation={explanationOf(request.events)} />
          <Replay key={request.id} events={request.events} dump={dump} />
          <h2>Events</h2>
          <div class="split">
            <ol class="scroll" aria-label="Events" tabIndex={0}>
              {request.events.map((event, index) => (
                <li key={index}>
                  <button class="plain" type="button" aria-pressed={index === at} onClick={() => setAt(index)}>
                    {millisecondsOf(event)} ms {labelOf(event)}
                  </button>{' '}
                  <span class={event.severity === 'error' ? 'bad' : undefined}>{summaryOf(event)}</span>
                </li>
              ))}
            </ol>
            <EventDetail events={request.events} index={at} />
          </div>
        </>
      )}
    </>
  )
}

/** Until it is stopped, or the proxy rejects the expression. */
async function follow(
  { expression, stop: { signal } }: Watch,
  { add, report }: { readonly add: (id: number, event: TraceEvent) => void; readonly report: (text: string) => void },
): Promise<void> {
  try {
    while (!signal.aborted) {
      const id = performance.now()
      await watchRequest(expression, signal, {
        onEvent: (event) => add(id, event),
        onReady: () => report('Waiting for the next request.'),
      })
    }
  } catch (error) {
    if (!signal.aborted) report(problemOf(error))
  } finally {
    if (signal.aborted) report('')
  }
}

/** The newest request first. */
function withEvent(all: readonly Watched[], id: number, event: TraceEvent): readonly Watched[] {
  const known = all.find((one) => one.id === id)
  if (known === undefined) return [{ id, events: [event] }, ...all].slice(0, REQUESTS_MAX)
  return all.map((one) => (one === known ? { id, events: [...known.events, event] } : one))
}
