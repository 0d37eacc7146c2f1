// Who takes this request? Each route with its listener, hosts and backends; for one of them the policies in force.
import { useState } from 'preact/hooks'
import { backendText, type RouteRow, routeRows } from '#cli/proxy/rows.ts'
import { fieldsOf } from '#cli/proxy/backends.ts'
import { givenName } from '#cli/proxy/given-names.ts'
import type { Dump } from '../api.ts'
import { matchText } from '../match-text.ts'
import { useItem } from '../place.ts'
import { EffectivePolicies } from '../parts/effective-policies.tsx'
import { Filter, isShown } from '../parts/filter.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { TerminalCommand } from '../parts/terminal-command.tsx'

/** The row of a rule shows the others as a number. */
const MATCHES_MAX = 4

/** Without names of rules, the column would be empty. */
const RULE: Column<RouteRow> = { head: 'Rule', cell: (row) => ('ruleName' in row ? row.ruleName : undefined) }

export function Routes({ dump }: { readonly dump: Dump }) {
  const [text, setText] = useState('')
  const [shown, setShown] = useItem('routes')
  const rows = routeRows(dump).filter((row) =>
    isShown(text, [row.key, givenName(row.name), hostsOf(row), matchesOf(row), backendsOf(row)]),
  )
  return (
    <>
      <Filter label="Name, host, path or backend" text={text} onText={setText} />
      {shown !== '' && <EffectivePolicies key={shown} route={shown} dump={dump} onClose={() => setShown('')} />}
      <Table
        caption="Routes"
        columns={[
          { head: 'Route', cell: (row: RouteRow) => `${row.namespace}/${givenName(row.name)}` },
          ...(rows.some((row) => 'ruleName' in row) ? [RULE] : []),
          { head: 'Hosts', cell: hostsOf },
          { head: 'Matches', cell: (row) => <span class="mono">{matchesOf(row)}</span> },
          { head: 'Backends', cell: backendsOf },
          {
            head: 'Policies',
            cell: (row) =>
              'matches' in row || 'kind' in row ? (
                <button
                  class="plain"
                  type="button"
                  aria-pressed={row.key === shown}
                  aria-label={`Policies in force for ${row.key}`}
                  onClick={() => setShown(row.key)}
                >
                  in force
                </button>
              ) : undefined,
          },
          { head: 'Listener', cell: listenerOf },
        ]}
        rows={rows}
        keyOf={({ key, address, listener }) => `${address} ${listener} ${key}`}
        empty={text === '' ? 'No route is attached to a listener.' : 'No route has this text.'}
      />
      <TerminalCommand given="config routes" />
    </>
  )
}

function listenerOf({ listener, address }: RouteRow): string {
  return address === '' ? listener : `${listener} (${address})`
}

function hostsOf({ hostnames = ['*'] }: RouteRow): string {
  return hostnames.join(', ')
}

function backendsOf({ backends = [] }: RouteRow): string {
  return backends.map(backendOf).join(', ')
}

/** With the reason of one that cannot be used. */
function backendOf(backend: object): string {
  const { message } = fieldsOf(fieldsOf(backend)['invalid'])
  return typeof message === 'string' ? `${backendText(backend)}: ${message}` : backendText(backend)
}

function matchesOf(row: RouteRow): string {
  if (!('matches' in row) || row.matches === undefined) return ''
  const more = row.matches.length - MATCHES_MAX
  const texts = row.matches.slice(0, MATCHES_MAX).map(matchText)
  return [...texts, ...(more > 0 ? [`${more} more`] : [])].join(', or ')
}
