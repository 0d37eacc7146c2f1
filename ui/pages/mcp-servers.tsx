// Which MCP servers does the proxy join, and are they well?
import { useState } from 'preact/hooks'
import type { Dump } from '../api.ts'
import { type ServerRow, serverRows } from '../backend-parts.ts'
import { hrefOf } from '../place.ts'
import { Filter, isShown } from '../parts/filter.tsx'
import { Health, latencyOf } from '../parts/health.tsx'
import { countText } from '../parts/numbers.ts'
import { Table } from '../parts/table.tsx'

export function McpServers({ dump }: { readonly dump: Dump }) {
  const [text, setText] = useState('')
  const rows = serverRows(dump).filter((row) =>
    isShown(text, [`${row.namespace}/${row.name}`, row.endpoint, row.address]),
  )
  return (
    <>
      <p>
        <a href={hrefOf('mcp-playground')}>MCP playground</a> lists the tools of these servers with their descriptions
        and schemas, as a client of the gateway gets them.
      </p>
      <Filter label="Backend, server or address" text={text} onText={setText} />
      <Table
        caption="MCP servers"
        columns={[
          { head: 'Backend', cell: ({ namespace, name }: ServerRow) => `${namespace}/${name}` },
          { head: 'Server', cell: ({ endpoint }) => endpoint },
          { head: 'Protocol', cell: ({ protocol }) => protocol },
          { head: 'Address', cell: ({ address }) => <span class="mono">{address}</span> },
          { head: 'Mode of the backend', cell: ({ mode }) => mode },
          { head: 'Health', cell: (row) => <Health row={row} />, isNumber: true },
          { head: 'Requests', cell: ({ requests }) => countText(requests), isNumber: true },
          { head: 'Latency', cell: latencyOf, isNumber: true },
        ]}
        rows={rows}
        keyOf={({ namespace, name, endpoint }) => [namespace, name, endpoint].join(' ')}
        empty={text === '' ? 'No backend has MCP servers.' : 'No server has this text.'}
      />
    </>
  )
}
