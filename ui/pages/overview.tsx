// Is all well? Traffic, what needs attention, and the listeners.
import { shortUid } from '#cli/proxy/backends.ts'
import { givenName } from '#cli/proxy/given-names.ts'
import { protocolOf } from '#cli/proxy/rows.ts'
import {
  type Connections,
  connections as openConnections,
  type Overview as Figures,
  type ModelUsage,
  type Traffic,
  traffic as trafficOfHour,
} from '../api.ts'
import { usageToday } from '../model-usage.ts'
import { Cards } from '../parts/cards.tsx'
import { countText, latencyText } from '../parts/numbers.ts'
import { Table } from '../parts/table.tsx'
import { TrafficCharts } from '../parts/traffic-charts.tsx'
import { UsageToday } from '../parts/usage.tsx'
import { usePolled } from '../polled.ts'

const EVERY_MS = 5000

interface Concern {
  readonly what: string
  readonly detail: string
  readonly href: string
}

type BoundListener = Figures['listeners'][number]

export function Overview({ figures }: { readonly figures: Figures }) {
  const { listeners, routes, policies, endpoints, requests, concerns: count } = figures
  const concerns = concernsOf(figures)
  const { value: traffic } = usePolled(trafficOfHour, EVERY_MS)
  const { value: usage } = usePolled(usageToday, EVERY_MS)
  return (
    <>
      <Cards
        cards={[
          { name: 'listeners', value: listeners.length },
          { name: 'routes', value: routes.toLocaleString('en') },
          { name: 'policies', value: policies.toLocaleString('en') },
          { name: 'endpoints', value: endpoints.toLocaleString('en') },
          { name: 'requests to endpoints', value: requests.toLocaleString('en') },
          { name: 'open connections', value: traffic?.openConnections },
          { name: 'requests in progress', value: traffic?.activeRequests },
          { name: 'concerns', value: count, state: count === 0 ? 'good' : 'warn' },
        ]}
      />
      <h2>Traffic</h2>
      {traffic === undefined ? <p class="soft">Loading the traffic.</p> : <TrafficCharts traffic={traffic} />}
      {usage !== undefined && hasModels(usage, traffic) && <UsageToday usage={usage} />}
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
      {concerns.length < count && (
        <p class="soft">{`The first ${concerns.length} of ${count.toLocaleString('en')}.`}</p>
      )}
      <Listeners listeners={listeners} traffic={traffic} />
    </>
  )
}

interface ListenersProps {
  readonly listeners: readonly BoundListener[]
  /** undefined: not yet known. */
  readonly traffic: Traffic | undefined
}

function Listeners({ listeners, traffic }: ListenersProps) {
  const { value: connections } = usePolled(openConnections, EVERY_MS)
  const rows = listeners.map((row) => ({
    ...row,
    traffic: trafficOf(row, traffic),
    open: connectionsOf(row, connections),
  }))
  return (
    <>
      <h2>Listeners, with the requests of the last 5 minutes</h2>
      <Table
        caption="Listeners"
        columns={[
          { head: 'Address', cell: ({ address }) => <span class="mono">{address}</span> },
          { head: 'Gateway', cell: ({ listener }) => `${listener.gatewayNamespace}/${listener.gatewayName}` },
          { head: 'Listener', cell: ({ listener }) => listener.listenerName },
          { head: 'Protocol', cell: ({ listener }) => protocolOf(listener) },
          { head: 'Hostname', cell: ({ listener }) => (listener.hostname === '' ? '*' : listener.hostname) },
          { head: 'Routes', cell: (row) => row.routes.toLocaleString('en'), isNumber: true },
          { head: 'Open connections', cell: ({ open }) => open && <Open open={open} />, isNumber: true },
          { head: 'Requests', cell: ({ traffic: own }) => own && countText(own.requests), isNumber: true },
          { head: '4xx', cell: ({ traffic: own }) => own && countText(own.clientErrors), isNumber: true },
          { head: '5xx', cell: ({ traffic: own }) => own && countText(own.serverErrors), isNumber: true },
          { head: 'p50', cell: ({ traffic: own }) => own && latencyText(own.latencyP50), isNumber: true },
          { head: 'p99', cell: ({ traffic: own }) => own && latencyText(own.latencyP99), isNumber: true },
        ]}
        rows={rows}
        keyOf={({ listener }) => listener.key}
        empty="No listener: the configuration has no Gateway with a listener, or none was accepted."
      />
      {rows.some(({ open }) => open?.ofListener === null) && (
        <p class="soft">
          Listeners without TLS on one port share its connections: the host of each request selects the listener.
        </p>
      )}
    </>
  )
}

/** A proxy without models has no use for tokens and cost. */
function hasModels({ total }: ModelUsage, traffic: Traffic | undefined): boolean {
  return total.requests > 0 || (traffic?.models.length ?? 0) > 0
}

type OpenConnections = Connections['listeners'][number]

function Open({ open: { ofPort, ofListener } }: { readonly open: OpenConnections }) {
  if (ofListener !== null) return <>{countText(ofListener)}</>
  return (
    <>
      {countText(ofPort)} <span class="soft">of the port</span>
    </>
  )
}

/** undefined: not yet known. */
function connectionsOf(
  { bind, listener }: BoundListener,
  connections: Connections | undefined,
): OpenConnections | undefined {
  return connections?.listeners.find((one) => isPlaceOf(one, bind, listener))
}

function isPlaceOf(
  place: Pick<OpenConnections, 'bind' | 'gateway' | 'listener'>,
  bind: string,
  { gatewayNamespace, gatewayName, listenerName }: BoundListener['listener'],
): boolean {
  return (
    place.bind === bind && place.gateway === `${gatewayNamespace}/${gatewayName}` && place.listener === listenerName
  )
}

/** undefined: no request yet, or the process is young. */
function trafficOf(
  { bind, listener }: BoundListener,
  traffic: Traffic | undefined,
): Traffic['listeners'][number] | undefined {
  return traffic?.listeners.find((one) => isPlaceOf(one, bind, listener))
}

function concernsOf({ evicted, certificates, credentials }: Figures): Concern[] {
  return [
    ...evicted.map(({ name, namespace, section, endpoint, evictedUntil }) => ({
      what: `endpoint ${shortUid(endpoint, namespace)} of ${namespace}/${givenName(name, section)}`,
      detail: `gets no requests until ${evictedUntil}`,
      href: '#/backends',
    })),
    ...certificates.map(({ owner, state, notAfter }) => ({
      what: `certificate of ${owner}`,
      detail: `${state}, valid until ${notAfter}`,
      href: '#/system',
    })),
    ...credentials.map(({ owner, kind, lastError }) => ({
      what: `credential ${kind} of ${owner}`,
      detail: lastError?.message ?? 'its last fetch failed',
      href: '#/system',
    })),
  ]
}
