// Open sessions of MCP clients: how many each server has, and those used last. Ids are digests.
import { givenName, givenReference } from '#cli/proxy/given-names.ts'
import { type McpSessions as Sessions, mcpSessions } from '../api.ts'
import { usePolled } from '../polled.ts'
import { countText, sinceText } from './numbers.ts'
import { Table } from './table.tsx'

const EVERY_MS = 10_000

type Session = Sessions['sessions'][number]

export function McpSessions() {
  const { value } = usePolled(mcpSessions, EVERY_MS)
  if (value === undefined) return null
  const { total, isComplete, backends, sessions } = value
  const servers = backends.flatMap((backend) => backend.servers.map((server) => ({ ...backend, server })))
  return (
    <>
      <h2>Sessions</h2>
      <Table
        caption="Sessions of servers"
        columns={[
          { head: 'Backend', cell: ({ backend }: (typeof servers)[number]) => backendText(backend) },
          { head: 'Route', cell: ({ route }) => route },
          { head: 'Server', cell: ({ server }) => server.name },
          { head: 'Legacy', cell: ({ server }) => countText(server.legacy), isNumber: true },
          { head: 'MCP 2026-07-28', cell: ({ server }) => countText(server.modern), isNumber: true },
        ]}
        rows={servers}
        keyOf={({ gateway, route, backend, server }) => [gateway, route, backend, server.name].join(' ')}
        empty="No session is open: clients of MCP 2026-07-28 and of stateless backends have none."
      />
      {sessions.length > 0 && (
        <>
          <h3>{`Open sessions: ${countText(total)}${isComplete ? '' : ' or more'}`}</h3>
          <Table
            caption="Open sessions"
            columns={[
              { head: 'Session', cell: ({ id }: Session) => <span class="mono">{id}</span> },
              { head: 'Backend', cell: ({ backend }) => backendText(backend) },
              { head: 'Client', cell: ({ client }) => client ?? '' },
              { head: 'Servers', cell: ({ servers: own }) => own.map(serverText).join(', ') },
              { head: 'Opened', cell: ({ opened }) => (opened === null ? 'elsewhere' : sinceText(opened)) },
              { head: 'Last used', cell: ({ used }) => sinceText(used) },
              { head: 'In progress', cell: ({ busy }) => countText(busy), isNumber: true },
            ]}
            rows={sessions}
            keyOf={({ id }) => id}
            empty=""
          />
          {total > sessions.length && <p class="soft">{`The ${countText(sessions.length)} that were used last.`}</p>}
        </>
      )}
    </>
  )
}

/** With the namespace if it has one. */
function backendText(backend: string): string {
  if (backend.startsWith('/')) return givenReference(backend)
  const at = backend.indexOf('/')
  return `${backend.slice(0, at + 1)}${givenName(backend.slice(at + 1))}`
}

function serverText({ name, era }: Session['servers'][number]): string {
  if (era === null) return `${name} (not reached)`
  return era === 'modern' ? `${name} (MCP 2026-07-28)` : name
}
