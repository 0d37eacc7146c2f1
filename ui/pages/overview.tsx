// Is all well? Counts, what needs attention, and the listeners.
import { endpointRows } from '#cli/proxy/backends.ts'
import { listenersOf, protocolOf, routeRows } from '#cli/proxy/rows.ts'
import type { Dump } from '../api.ts'
import { Cards } from '../parts/cards.tsx'
import { Table } from '../parts/table.tsx'

interface Concern {
  readonly what: string
  readonly detail: string
  readonly href: string
}

export function Overview({ dump }: { readonly dump: Dump }) {
  const listeners = listenersOf(dump)
  const endpoints = endpointRows(dump, true)
  const concerns = concernsOf(dump)
  return (
    <>
      <Cards
        cards={[
          { name: 'listeners', value: listeners.length },
          { name: 'routes', value: routeRows(dump).length },
          { name: 'policies', value: dump.policies.length },
          { name: 'endpoints', value: endpoints.length },
          { name: 'requests to endpoints', value: total(endpoints.map(({ requests }) => requests)) },
          { name: 'concerns', value: concerns.length, state: concerns.length === 0 ? 'good' : 'warn' },
        ]}
      />
      <h2>What needs attention</h2>
      <Table
        caption="What needs attention"
        columns={[
          { head: 'What', cell: ({ what, href }: Concern) => <a href={href}>{what}</a> },
          { head: 'Detail', cell: ({ detail }) => detail },
        ]}
        rows={concerns}
        keyOf={({ what }) => what}
        empty="Nothing: all endpoints are in use, and no certificate or credential needs a look."
      />
      <h2>Listeners</h2>
      <Table
        caption="Listeners"
        columns={[
          { head: 'Address', cell: ({ address }) => <span class="mono">{address}</span> },
          { head: 'Gateway', cell: ({ listener }) => `${listener.gatewayNamespace}/${listener.gatewayName}` },
          { head: 'Listener', cell: ({ listener }) => listener.listenerName },
          { head: 'Protocol', cell: ({ listener }) => protocolOf(listener) },
          { head: 'Hostname', cell: ({ listener }) => (listener.hostname === '' ? '*' : listener.hostname) },
          { head: 'Routes', cell: ({ listener }) => countOf(listener), isNumber: true },
        ]}
        rows={listeners}
        keyOf={({ listener }) => listener.key}
        empty="No listener: the configuration has no Gateway with a listener, or none was accepted."
      />
    </>
  )
}

function countOf({ routes, tcpRoutes }: ReturnType<typeof listenersOf>[number]['listener']): number {
  return Object.keys(routes).length + Object.keys(tcpRoutes).length
}

function total(counts: readonly number[]): string {
  return counts.reduce((sum, count) => sum + count, 0).toLocaleString('en')
}

function concernsOf(dump: Dump): Concern[] {
  const evicted = endpointRows(dump, true)
    .filter(({ evictedUntil }) => evictedUntil !== null)
    .map(({ name, namespace, endpoint, evictedUntil }) => ({
      what: `endpoint ${endpoint} of ${namespace}/${name}`,
      detail: `gets no requests until ${evictedUntil}`,
      href: '#/backends',
    }))
  const certificates = dump.certificates
    .filter(({ state }) => state !== 'valid')
    .map(({ owner, state, notAfter }) => ({
      what: `certificate of ${owner}`,
      detail: `${state}, valid until ${notAfter}`,
      href: '#/system',
    }))
  const credentials = dump.credentials
    .filter(({ failuresInRow }) => failuresInRow > 0)
    .map(({ owner, kind, lastError }) => ({
      what: `credential ${kind} of ${owner}`,
      detail: lastError?.message ?? 'its last fetch failed',
      href: '#/system',
    }))
  return [...evicted, ...certificates, ...credentials]
}
