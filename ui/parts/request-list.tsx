// The watched requests, the newest first, with filters.
import { useState } from 'preact/hooks'
import { explanationOf } from '#cli/explain/explanation.ts'
import type { TraceEvent } from '../api.ts'
import type { Watched } from '../watched-requests.ts'
import { Choice, TextField } from './fields.tsx'
import { isShown } from './filter.tsx'
import { stateOfStatus } from './states.ts'
import { Table } from './table.tsx'

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
  const rows = requests.map(rowOf).filter((row) => {
    return (status === ALL || row.group === status) && isShown(text, [row.title, row.route, row.decision, row.listener])
  })
  return (
    <>
      <div class="bar" role="search">
        <TextField label="Method, path, route, listener or policy" value={text} onValue={setText} />
        <Choice label="Status" value={status} options={STATUSES} onValue={setStatus} />
      </div>
      <Table
        caption="Requests"
        columns={[
          { head: 'Time', cell: ({ time }: Row) => <span class="mono">{time}</span> },
          { head: 'Status', cell: ({ status: code }) => <b class={stateOfStatus(code)}>{code ?? '…'}</b> },
          {
            head: 'Request',
            cell: ({ id, title, method, url }) => (
              <button
                class="plain mono"
                type="button"
                aria-pressed={id === shown}
                aria-label={title}
                onClick={() => onShow(id)}
              >
                {method} {url}
              </button>
            ),
          },
          { head: 'Route', cell: ({ route }) => route },
          { head: 'Decided by', cell: ({ decision }) => decision },
          { head: 'Took', cell: ({ took }) => took, isNumber: true },
        ]}
        rows={rows}
        keyOf={({ id }) => String(id)}
        empty="No request matches the filters."
      />
    </>
  )
}

interface Row {
  readonly id: number
  readonly time: string
  readonly method: string
  readonly url: string
  readonly title: string
  readonly status: number | undefined
  readonly group: string
  readonly listener: string
  readonly route: string
  readonly decision: string
  readonly took: string
}

function rowOf({ id, at, events }: Watched): Row {
  const { method = '', uri, path = '' } = requestOf(events)
  const url = uri ?? path
  const shared = { id, time: at.toLocaleTimeString('en-GB'), method, url }
  const explanation = explanationOf(events)
  if (explanation === undefined) return { ...shared, ...RUNNING, title: `${method} ${url} → …` }
  const { status, milliseconds, listener = '', route = '', decision } = explanation
  const took = `${milliseconds.toFixed(1)} ms`
  return {
    ...shared,
    title: `${method} ${url} → ${status ?? INCOMPLETE}, ${took}`,
    status,
    group: status === undefined ? INCOMPLETE : `${Math.floor(status / 100)}xx`,
    listener,
    route,
    decision: [decision.name, ...new Set(decision.sources.map(({ object }) => object))].join(', '),
    took,
  }
}

const RUNNING = { status: undefined, group: INCOMPLETE, listener: '', route: '', decision: '', took: '' } as const

export function titleOf(watched: Watched): string {
  const { time, title } = rowOf(watched)
  return `${time} ${title}`
}

interface ShownRequest {
  readonly method?: string
  readonly uri?: string
  readonly path?: string
}

function requestOf(events: readonly TraceEvent[]): ShownRequest {
  const state = events.find(({ message }) => message.requestState !== undefined)?.message.requestState
  // api/admin/openapi.yaml
  return state?.['request'] ?? {}
}
