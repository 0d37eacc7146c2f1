// Which MCP servers does the proxy join, are they well, and which tools do they have?
import { useState } from 'preact/hooks'
import { rowKey, statesByRow } from '#cli/proxy/endpoint-states.ts'
import { type Dump, endpointStates } from '../api.ts'
import { type KnownTool, type ServerRow, serverRows } from '../backend-parts.ts'
import { mcpUrls } from '../mcp-urls.ts'
import { mayAct } from '../parts/actions-off.tsx'
import { Filter, isShown } from '../parts/filter.tsx'
import { Health, latencyOf } from '../parts/health.tsx'
import { HealthHour } from '../parts/last-hour.tsx'
import { ListedTools } from '../parts/listed-tools.tsx'
import type { McpItem } from '../mcp-session.ts'
import { McpAccess } from '../parts/mcp-access.tsx'
import { Arguments } from '../parts/mcp-items.tsx'
import { McpSessions } from '../parts/mcp-sessions.tsx'
import { countText } from '../parts/numbers.ts'
import { Table } from '../parts/table.tsx'
import { hrefOf } from '../place.ts'
import { usePolled } from '../polled.ts'

const EVERY_MS = 10_000

export function McpServers({ dump }: { readonly dump: Dump }) {
  const [text, setText] = useState('')
  const all = serverRows(dump)
  const states = statesByRow(usePolled(endpointStates, EVERY_MS).value)
  const rows = all.filter((row) => isShown(text, [`${row.namespace}/${row.name}`, row.endpoint, row.address]))
  return (
    <>
      <Filter label="Backend, server or address" text={text} onText={setText} />
      <Table
        caption="MCP servers"
        columns={[
          { head: 'Backend', cell: (row: ServerRow) => <Backend row={row} /> },
          { head: 'Server', cell: ({ endpoint }) => endpoint },
          { head: 'Protocol', cell: ({ protocol }) => protocol },
          { head: 'Address', cell: ({ address }) => <span class="mono">{address}</span> },
          { head: 'State', cell: (row) => stateOf(row) },
          {
            head: 'Health',
            cell: (row) => (
              <>
                <Health row={row} />
                <HealthHour history={states.get(rowKey(row))?.history} />
              </>
            ),
            isNumber: true,
          },
          { head: 'Requests', cell: ({ requests }) => countText(requests), isNumber: true },
          { head: 'Latency', cell: latencyOf, isNumber: true },
        ]}
        rows={rows}
        keyOf={rowKey}
        empty={text === '' ? 'No backend has MCP servers.' : 'No server has this text.'}
      />
      {all.length > 0 && <McpSessions />}
      {all.length > 0 && <Tools dump={dump} rows={all} />}
    </>
  )
}

/** With its mode. */
function Backend({ row: { namespace, name, mode } }: { readonly row: ServerRow }) {
  return (
    <>
      {namespace}/{name}
      <br />
      <span class="soft">{mode}</span>
    </>
  )
}

/** What is known of the server without a request to it. */
function stateOf({ isProcess, evictedUntil, requests, failures, evictions }: ServerRow): string {
  if (evictedUntil !== null) return 'evicted'
  if (failures > 0) return `the last ${countText(failures)} requests failed`
  if (requests === 0) return isProcess ? 'started for each session' : 'no request yet'
  return evictions === 0 ? 'answers' : `answers, was evicted ${countText(evictions)} times`
}

function Tools({ dump, rows }: { readonly dump: Dump; readonly rows: readonly ServerRow[] }) {
  const known = rows.flatMap(({ namespace, name, endpoint, tools }) =>
    tools.map((tool) => ({ ...tool, server: `${namespace}/${name} ${endpoint}` })),
  )
  const [items, setItems] = useState<readonly McpItem[]>([])
  return (
    <>
      {known.length > 0 && <KnownTools tools={known} />}
      <h2>Tools that a client gets</h2>
      {mayAct(dump) ? (
        <>
          <p>
            List tools opens a session at the servers as a client with this token, and ends it.{' '}
            <a href={hrefOf('mcp-playground')}>MCP playground</a> calls tools.
          </p>
          <ListedTools
            dump={dump}
            urls={mcpUrls(dump)}
            servers={rows.map(({ endpoint }) => endpoint)}
            onItems={setItems}
          />
        </>
      ) : (
        <p class="notice">
          Servers show their tools to clients only. Start the proxy with <code>UI_ACTIONS=true</code> to list them here
          as a client, or run <code>gw mcp pins {mcpUrls(dump)[0]}</code>.
        </p>
      )}
      <McpAccess dump={dump} items={items} />
    </>
  )
}

function KnownTools({ tools }: { readonly tools: readonly (KnownTool & { readonly server: string })[] }) {
  const [text, setText] = useState('')
  return (
    <>
      <h2>Tools of OpenAPI documents</h2>
      <Filter label="Tool or description" of="tools of OpenAPI documents" text={text} onText={setText} />
      <Table
        caption="Tools of OpenAPI documents"
        columns={[
          { head: 'Server', cell: ({ server }: KnownTool & { readonly server: string }) => server },
          { head: 'Tool', cell: ({ name }) => <span class="mono">{name}</span> },
          { head: 'Description', cell: ({ description }) => description },
          { head: 'Arguments', cell: ({ schema }) => <Arguments schema={schema} /> },
        ]}
        rows={tools.filter(({ name, description }) => isShown(text, [name, description]))}
        keyOf={({ server, name }) => `${server} ${name}`}
        empty="No tool has this text."
      />
    </>
  )
}
