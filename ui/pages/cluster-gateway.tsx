// Is this Gateway well? Its listeners and proxies, and the problems of what is attached to it or used by it.
import { useState } from 'preact/hooks'
import { fieldsOf, textOf } from '#cli/proxy/backends.ts'
import { type BoundListener, listenersOf, protocolOf } from '#cli/proxy/rows.ts'
import type { GatewayView } from '../controller-api.ts'
import { Cards } from '../parts/cards.tsx'
import { Fact } from '../parts/fact.tsx'
import { Filter } from '../parts/filter.tsx'
import { countText } from '../parts/numbers.ts'
import { ProblemTables } from '../parts/problem-tables.tsx'
import { Programmed } from '../parts/programmed.tsx'
import { ProxyTable } from '../parts/proxy-table.tsx'
import { ProxyUi } from '../parts/proxy-ui.tsx'
import { Table } from '../parts/table.tsx'

export function ClusterGateway({ gateway, dump, conditions, problems }: GatewayView) {
  const [text, setText] = useState('')
  const { key, programmed, addresses, proxies } = gateway
  return (
    <>
      <dl class="facts">
        <Fact name="programmed" lines={[<Programmed programmed={programmed} />]} />
        <Fact name="addresses" lines={addresses.length === 0 ? ['none yet'] : addresses} />
        <Fact name="web UI of a proxy" lines={[<ProxyUi gateway={key} />]} />
      </dl>
      <h2>Figures</h2>
      <Cards
        cards={[
          { name: 'listeners', value: countText(gateway.listeners) },
          { name: 'rules', value: countText(gateway.routes) },
          { name: 'policies', value: countText(gateway.policies) },
          { name: 'backends', value: countText(gateway.backends) },
          { name: 'proxies', value: countText(proxies.length) },
          { name: 'problems', value: countText(problems.length), state: problems.length === 0 ? 'good' : 'warn' },
        ]}
      />
      <h2>Listeners</h2>
      <Table
        caption="Listeners"
        columns={[
          { head: 'Port', cell: ({ address }: BoundListener) => address.replace(/^.*:/, '') },
          { head: 'Listener', cell: ({ listener }) => nameOf(listener) },
          { head: 'Protocol', cell: ({ listener }) => protocolOf(listener) },
          { head: 'Hostname', cell: ({ listener }) => (listener.hostname === '' ? '*' : listener.hostname) },
          {
            head: 'Rules',
            cell: ({ listener: { routes, tcpRoutes } }) =>
              countText(Object.keys(routes).length + Object.keys(tcpRoutes).length),
            isNumber: true,
          },
          { head: 'State', cell: ({ listener }) => <ListenerState listener={listener} /> },
        ]}
        rows={listenersOf(dump)}
        keyOf={({ listener }) => listener.key}
        empty="No listener of this Gateway can be served: the conditions below have the reasons."
      />
      <h2>Proxies</h2>
      <ProxyTable
        hasGateways={false}
        rows={proxies.map((proxy) => ({ gateway: key, ...proxy }))}
        empty="No proxy has reported the delivery that it has in force."
      />
      <h2>Find in problems and conditions</h2>
      <Filter label="Object, reason or message" text={text} onText={setText} />
      <ProblemTables text={text} conditions={conditions} problems={problems} />
    </>
  )
}

type Listener = BoundListener['listener']

/** Several sets of listeners may have listeners with the same name. */
function nameOf({ listenerName, listenerSet }: Listener): string {
  if (listenerSet === undefined) return listenerName
  const { namespace, name } = fieldsOf(listenerSet)
  return `${listenerName} of ListenerSet ${textOf(namespace)}/${textOf(name)}`
}

/** The reason comes with listeners that cannot be served. */
function ListenerState({ listener }: { readonly listener: Listener }) {
  const invalid = textOf(fieldsOf(listener)['invalid'])
  return invalid === '' ? <span class="good">served</span> : <span class="bad">{invalid}</span>
}
