// The watched requests, the newest first, with filters.
import { useState } from 'preact/hooks'
import { explanationOf } from '#cli/explain/explanation.ts'
import type { TraceEvent } from '../api.ts'
import { Choice, TextField } from './fields.tsx'
import { isShown } from './filter.tsx'

export interface Watched {
  readonly id: number
  readonly events: readonly TraceEvent[]
}

export interface RequestListProps {
  readonly requests: readonly Watched[]
  readonly shown: number | undefined
  readonly onShow: (id: number) => void
}

const ALL = 'all'
const INCOMPLETE = 'incomplete'
const STATUSES = [ALL, '2xx', '3xx', '4xx', '5xx', INCOMPLETE]

export function RequestList({ requests, shown, onShow }: RequestListProps) {
  const [text, setText] = useState('')
  const [status, setStatus] = useState(ALL)
  if (requests.length === 0) return <p class="soft">Press Watch, then send a request through the gateway.</p>
  const rows = requests.filter(
    ({ events }) =>
      (status === ALL || statusOf(events) === status) && isShown(text, [titleOf(events), decisionOf(events)]),
  )
  return (
    <>
      <div class="bar" role="search">
        <TextField label="Method, path or policy" value={text} onValue={setText} />
        <Choice label="Status" value={status} options={STATUSES} onValue={setStatus} />
      </div>
      {rows.length === 0 && <p class="soft">No request matches the filters.</p>}
      <ul aria-label="Requests">
        {rows.map(({ id, events }) => (
          <li key={id}>
            <button class="plain mono" type="button" aria-pressed={id === shown} onClick={() => onShow(id)}>
              {titleOf(events)}
            </button>
          </li>
        ))}
      </ul>
    </>
  )
}

function statusOf(events: readonly TraceEvent[]): string {
  const { status } = explanationOf(events) ?? {}
  return status === undefined ? INCOMPLETE : `${Math.floor(status / 100)}xx`
}

function decisionOf(events: readonly TraceEvent[]): string {
  const { decision, route = '' } = explanationOf(events) ?? {}
  return [route, decision?.name ?? '', ...(decision?.sources.map(({ object }) => object) ?? [])].join(' ')
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
