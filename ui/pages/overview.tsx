// Is all well? Traffic, what needs attention, and the listeners.
import { endpointRows } from '#cli/proxy/backends.ts'
import { type BoundListener, listenersOf, protocolOf, routeRows } from '#cli/proxy/rows.ts'
import { type Dump, type Traffic, traffic as trafficOfHour } from '../api.ts'
import { Cards } from '../parts/cards.tsx'
import { countText, latencyText } from '../parts/numbers.ts'
import { Table } from '../parts/table.tsx'
import { TrafficCharts } from '../parts/traffic-charts.tsx'
import { usePolled } from '../polled.ts'

const EVERY_MS = 5000

interface Concern {
  readonly what: string
  readonly detail: string
  readonly href: string
}

export function Overview({ dump }: { readonly dump: Dump }) {
  const listeners = listenersOf(dump)
  const endpoints = endpointRows(dump, true)
  const concerns = concernsOf(dump)
  const { value: traffic } = usePolled(trafficOfHour, EVERY_MS)
  return (
    <>
      <Cards
        cards={[
          { name: 'listeners', value: listeners.length },
          { name: 'routes', value: routeRows(dump).length },
          { name: 'policies', value: dump.policies.length },
          { name: 'endpoints', value: endpoints.length },
          { name: 'requests to endpoints', value: total(endpoints.map(({ requests }) => requests)) },
          { name: 'open connections', value: traffic?.openConnections },
          { name: 'requests in progress', value: traffic?.activeRequests },
          { name: 'concerns', value: concerns.length, state: concerns.length === 0 ? 'good' : 'warn' },
        ]}
      />
      <h2>Traffic</h2>
      {traffic === undefined ? <p class="soft">Loading the traffic.</p> : <TrafficCharts traffic={traffic} />}
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
      <h2>Listeners, with the requests of the last 5 minutes</h2>
      <Table
        caption="Listeners"
        columns={[
          { head: 'Address', cell: ({ address }) => <span class="mono">{address}</span> },
          { head: 'Gateway', cell: ({ listener }) => `${listener.gatewayNamespace}/${listener.gatewayName}` },
          { head: 'Listener', cell: ({ listener }) => listener.listenerName },
          { head: 'Protocol', cell: ({ listener }) => protocolOf(listener) },
          { head: 'Hostname', cell: ({ listener }) => (listener.hostname === '' ? '*' : listener.hostname) },
          { head: 'Routes', cell: ({ listener }) => countOf(listener), isNumber: true },
          { head: 'Requests', cell: ({ traffic: own }) => own && countText(own.requests), isNumber: true },
          { head: '4xx', cell: ({ traffic: own }) => own && countText(own.clientErrors), isNumber: true },
          { head: '5xx', cell: ({ traffic: own }) => own && countText(own.serverErrors), isNumber: true },
          { head: 'p50', cell: ({ traffic: own }) => own && latencyText(own.latencyP50), isNumber: true },
          { head: 'p99', cell: ({ traffic: own }) => own && latencyText(own.latencyP99), isNumber: true },
        ]}
        rows={listeners.map((row) => ({ ...row, traffic: trafficOf(row, traffic) }))}
        keyOf={({ listener }) => listener.key}
        empty="No listener: the configuration has no Gateway with a listener, or none was accepted."
      />
    </>
  )
}

/** undefined: no request yet, or the process is young. */
function trafficOf(
  { bind, listener }: BoundListener,
  traffic: Traffic | undefined,
): Traffic['listeners'][number] | undefined {
  const { gatewayNamespace, gatewayName, listenerName } = listener
  return traffic?.listeners.find(
    (one) => one.bind === bind && one.gateway === `${gatewayNamespace}/${gatewayName}` && one.listener === listenerName,
  )
}

function countOf({ routes, tcpRoutes }: BoundListener['listener']): number {
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
