// Is it the backend? Each endpoint with its health, requests and latency.
import { useState } from 'preact/hooks'
import { endpointRows, healthText, type EndpointRow } from '#cli/proxy/backends.ts'
import type { Dump } from '../api.ts'
import { Filter, isShown } from '../parts/filter.tsx'
import { Table } from '../parts/table.tsx'

/** Below, an endpoint gets clearly fewer requests than its siblings. */
const HEALTHY_MIN = 0.8

export function Backends({ dump }: { readonly dump: Dump }) {
  const [text, setText] = useState('')
  const rows = endpointRows(dump, true).filter(({ name, namespace, endpoint }) =>
    isShown(text, [`${namespace}/${name}`, endpoint]),
  )
  return (
    <>
      <Filter label="Name or address" text={text} onText={setText} />
      <Table
        caption="Endpoints of backends"
        columns={[
          { head: 'Type', cell: ({ type }: EndpointRow) => type },
          { head: 'Backend', cell: ({ name, namespace }) => `${namespace}/${name}` },
          { head: 'Endpoint', cell: ({ endpoint }) => <span class="mono">{endpoint}</span> },
          {
            head: 'Health',
            cell: (row) => <span class={stateOf(row)}>{healthText(row, Date.now())}</span>,
            isNumber: true,
          },
          { head: 'Requests', cell: ({ requests }) => requests.toLocaleString('en'), isNumber: true },
          { head: 'Latency', cell: latencyOf, isNumber: true },
        ]}
        rows={rows}
        keyOf={({ type, name, namespace, endpoint }) => [type, namespace, name, endpoint].join(' ')}
        empty={text === '' ? 'No route names a backend with endpoints.' : 'No endpoint has this text.'}
      />
    </>
  )
}

function stateOf({ health, evictedUntil }: EndpointRow): 'good' | 'warn' | 'bad' {
  if (evictedUntil !== null) return 'bad'
  return health < HEALTHY_MIN ? 'warn' : 'good'
}

function latencyOf({ requests, latencyMs }: EndpointRow): string {
  return requests === 0 ? '' : `${latencyMs.toFixed(2)} ms`
}
