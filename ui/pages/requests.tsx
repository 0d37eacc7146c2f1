// What happened to this request? Watches requests one after the other: what decided, and each event with the state of
// the request and what changed in it.
import { useEffect, useState } from 'preact/hooks'
import { explanationOf } from '#cli/explain/explanation.ts'
import { labelOf, millisecondsOf, summaryOf } from '#cli/trace/summary.ts'
import { problemOf, type TraceEvent, watchRequest } from '../api.ts'
import { EventDetail } from '../parts/event-detail.tsx'
import { Explained } from '../parts/explained.tsx'

/** Older ones are forgotten. */
const REQUESTS_MAX = 50

interface Watched {
  readonly id: number
  readonly events: readonly TraceEvent[]
}

interface Watch {
  readonly expression: string
  readonly stop: AbortController
}

export function Requests() {
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

interface ListProps {
  readonly requests: readonly Watched[]
  readonly shown: number | undefined
  readonly onShow: (id: number) => void
}

function RequestList({ requests, shown, onShow }: ListProps) {
  if (requests.length === 0) return <p class="soft">Press Watch, then send a request through the gateway.</p>
  return (
    <ul aria-label="Requests">
      {requests.map(({ id, events }) => (
        <li key={id}>
          <button class="plain mono" type="button" aria-pressed={id === shown} onClick={() => onShow(id)}>
            {titleOf(events)}
          </button>
        </li>
      ))}
    </ul>
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

function titleOf(events: readonly TraceEvent[]): string {
  const { request } = (events.find(({ message }) => message.requestState !== undefined)?.message.requestState ??
    {}) as {
    readonly request?: { readonly method?: string; readonly uri?: string; readonly path?: string }
  } // api/admin/openapi.yaml
  const { status, milliseconds } = explanationOf(events) ?? {}
  const end = status === undefined ? '…' : `${status}, ${(milliseconds ?? 0).toFixed(1)} ms`
  return `${request?.method ?? ''} ${request?.uri ?? request?.path ?? ''} → ${end}`
}
