// Is it the backend? Each endpoint with its health, latency, connections and evictions, now and in the last hour.
import { useState } from 'preact/hooks'
import { endpointRows, type EndpointRow } from '#cli/proxy/backends.ts'
import { rowKey, statesByRow } from '#cli/proxy/endpoint-states.ts'
import { evictionText } from '#cli/proxy/eviction-text.ts'
import { type Dump, type EndpointState, endpointStates } from '../api.ts'
import { Filter, isShown } from '../parts/filter.tsx'
import { Health, latencyOf } from '../parts/health.tsx'
import { HealthHour, LatencyHour } from '../parts/last-hour.tsx'
import { countText } from '../parts/numbers.ts'
import { Table } from '../parts/table.tsx'
import { TerminalCommand } from '../parts/terminal-command.tsx'
import { usePolled } from '../polled.ts'

const EVERY_MS = 10_000

interface Row extends EndpointRow {
  readonly state: EndpointState | undefined
}

export function Backends({ dump }: { readonly dump: Dump }) {
  const [text, setText] = useState('')
  const { value } = usePolled(endpointStates, EVERY_MS)
  const states = statesByRow(value)
  const all = endpointRows(dump, true)
  const rows = all
    .filter(({ name, namespace, endpoint }) => isShown(text, [`${namespace}/${name}`, endpoint]))
    .map((row): Row => ({ ...row, state: states.get(rowKey(row)) }))
  const used = all.filter(({ requests }) => requests > 0).length
  return (
    <>
      <Filter label="Name or address" text={text} onText={setText} />
      <Table
        caption="Endpoints of backends"
        columns={[
          { head: 'Type', cell: ({ type }: Row) => type },
          { head: 'Backend', cell: ({ name, namespace }) => <span class="name">{`${namespace}/${name}`}</span> },
          { head: 'Endpoint', cell: ({ endpoint }) => <span class="mono">{endpoint}</span> },
          { head: 'Health', cell: (row) => <HealthOf row={row} />, isNumber: true },
          { head: 'Requests', cell: (row) => <Requests row={row} />, isNumber: true },
          { head: 'Latency', cell: (row) => <LatencyOf row={row} />, isNumber: true },
          { head: 'Connections', cell: ({ state }) => state && <Connections state={state} />, isNumber: true },
          { head: 'Evictions', cell: (row) => <Evictions row={row} /> },
        ]}
        rows={rows}
        keyOf={rowKey}
        empty={text === '' ? 'No route names a backend with endpoints.' : 'No endpoint has this text.'}
      />
      {states.size > 0 && (
        <p class="soft">
          The bars are the minutes of the last hour: lowest health, in red with an eviction, and latency.
          {used > states.size &&
            ` The proxy keeps them for ${countText(states.size)} of ${countText(used)} endpoints with requests, those with failures first.`}
        </p>
      )}
      <TerminalCommand given="config backends" />
    </>
  )
}

function HealthOf({ row }: { readonly row: Row }) {
  return (
    <>
      <Health row={row} />
      <HealthHour history={row.state?.history} />
    </>
  )
}

function Requests({ row: { requests, pending } }: { readonly row: Row }) {
  return (
    <>
      {countText(requests)}
      <br />
      {pending > 0 && <span class="soft">{`${countText(pending)} in progress`}</span>}
    </>
  )
}

function LatencyOf({ row }: { readonly row: Row }) {
  return (
    <>
      {latencyOf(row)}
      <LatencyHour history={row.state?.history} />
    </>
  )
}

/** `3 open, 2 idle` and the limit below. */
function Connections({ state: { connections } }: { readonly state: EndpointState }) {
  const { open, idle, max } = connections
  return (
    <>
      {`${countText(open)} open, ${countText(idle)} idle`}
      <br />
      <span class="soft">{max === null ? '' : `of ${countText(max)}`}</span>
    </>
  )
}

function Evictions({ row: { evictions, lastEviction } }: { readonly row: Row }) {
  return (
    <>
      {countText(evictions)}
      {lastEviction !== null && <div class="soft eviction">{evictionText(lastEviction, Date.now())}</div>}
    </>
  )
}
