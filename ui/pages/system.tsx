// What runs? Version, settings, memory, certificates and credentials with their ends; actions if they are allowed.
import { fieldsOf } from '#cli/proxy/backends.ts'
import { type Dump, logLevel, memory, traffic } from '../api.ts'
import { usePolled } from '../polled.ts'
import { Actions } from '../parts/actions.tsx'
import { Cards } from '../parts/cards.tsx'
import { untilText } from '../parts/numbers.ts'
import { Table } from '../parts/table.tsx'

const EVERY_MS = 5000
const MEBIBYTE = 1024 * 1024

export function System({ dump }: { readonly dump: Dump }) {
  const { value: process } = usePolled(memory, EVERY_MS)
  const { value: level } = usePolled(logLevel, EVERY_MS)
  const { value: load } = usePolled(traffic, EVERY_MS)
  const settings = fieldsOf(dump.config)
  return (
    <>
      <Cards
        cards={[
          { name: 'version', value: dump.version['version'] },
          { name: 'configuration', value: numberOf(settings['configGeneration']) },
          { name: 'workers', value: numberOf(settings['workers']) },
          { name: 'memory (MiB)', value: residentOf(process) },
          { name: 'log level', value: level },
        ]}
      />
      {settings['uiActions'] === true && <Actions openConnections={load?.openConnections} />}
      <h2>Certificates</h2>
      <Table
        caption="Certificates"
        columns={[
          { head: 'Use', cell: ({ use }) => use.replaceAll('_', ' ') },
          { head: 'Of', cell: ({ owner }) => owner },
          { head: 'Valid until', cell: ({ notAfter }) => untilText(notAfter) },
          { head: 'State', cell: ({ state }) => <span class={state === 'valid' ? 'good' : 'bad'}>{state}</span> },
        ]}
        rows={dump.certificates}
        keyOf={({ use, owner, notAfter, secret = '' }) => [use, owner, notAfter, secret].join(' ')}
        empty="The configuration uses no certificate."
      />
      <h2>Credentials for backends</h2>
      <Table
        caption="Credentials for backends"
        columns={[
          { head: 'Kind', cell: ({ kind }) => kind },
          { head: 'Owner', cell: ({ owner }) => owner },
          { head: 'Used by', cell: ({ usedBy }) => usedBy.join(', ') },
          { head: 'Valid tokens', cell: ({ tokens }) => tokens, isNumber: true },
          { head: 'First expiry', cell: ({ firstExpiry }) => firstExpiry && untilText(firstExpiry) },
          { head: 'Last error', cell: ({ lastError }) => lastError?.message },
        ]}
        rows={dump.credentials}
        keyOf={({ kind, owner }) => `${kind} ${owner}`}
        empty="The proxy has fetched no credential."
      />
      <h2>Settings</h2>
      <pre tabIndex={0}>{JSON.stringify(dump.config, undefined, 2)}</pre>
    </>
  )
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

function residentOf(value: unknown): number | undefined {
  const { rss } = fieldsOf(fieldsOf(value)['process'])
  return typeof rss === 'number' ? Math.round(rss / MEBIBYTE) : undefined
}
