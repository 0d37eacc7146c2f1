// Is it the backend? Each endpoint with its health, requests and latency.
import { useState } from 'preact/hooks'
import { endpointRows, type EndpointRow } from '#cli/proxy/backends.ts'
import type { Dump } from '../api.ts'
import { Filter, isShown } from '../parts/filter.tsx'
import { Health, latencyOf } from '../parts/health.tsx'
import { Table } from '../parts/table.tsx'
import { TerminalCommand } from '../parts/terminal-command.tsx'

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
            cell: (row) => <Health row={row} />,
            isNumber: true,
          },
          { head: 'Requests', cell: ({ requests }) => requests.toLocaleString('en'), isNumber: true },
          { head: 'Latency', cell: latencyOf, isNumber: true },
        ]}
        rows={rows}
        keyOf={({ type, name, namespace, endpoint }) => [type, namespace, name, endpoint].join(' ')}
        empty={text === '' ? 'No route names a backend with endpoints.' : 'No endpoint has this text.'}
      />
      <TerminalCommand given="config backends" />
    </>
  )
}
