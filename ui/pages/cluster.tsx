// Is the cluster well? All Gateways with their proxies, and objects with problems.
import { useState } from 'preact/hooks'
import type { ControllerOverview, GatewayOverview } from '#api/admin/controller-overview.ts'
import { gatewayHref } from '../gateway-place.ts'
import { Cards } from '../parts/cards.tsx'
import { Filter, isShown } from '../parts/filter.tsx'
import { countText } from '../parts/numbers.ts'
import { ProblemTables } from '../parts/problem-tables.tsx'
import { Programmed } from '../parts/programmed.tsx'
import { ProxyTable, type ProxyRow } from '../parts/proxy-table.tsx'
import { ProxyUi } from '../parts/proxy-ui.tsx'
import { Table } from '../parts/table.tsx'

const KINDS = ['HTTPRoute', 'GRPCRoute', 'TLSRoute', 'TCPRoute', 'GwPolicy', 'GwBackend', 'GwModel'] as const

export function Cluster(overview: ControllerOverview) {
  const { version, isLeading, pending, objects, totals, gateways, conditions, problems } = overview
  const [text, setText] = useState('')
  const proxies = gateways.flatMap(({ key, proxies: own }) =>
    own.map((proxy): ProxyRow => ({ gateway: key, ...proxy })),
  )
  const behind = proxies.filter(({ isBehind, rejected }) => isBehind || rejected !== undefined).length
  const open = gateways.filter(({ programmed }) => programmed?.isTrue !== true).length
  return (
    <>
      {pending.length > 0 && (
        <p class="notice" role="alert">
          {`The controller still reads or cannot watch ${pending.join(', ')}: this page may lack objects, or show an old ` +
            'state of them. The log of the controller has the reason.'}
        </p>
      )}
      <Cards
        cards={[
          { name: 'version', value: version },
          { name: 'this replica', value: isLeading ? 'leader' : 'standby' },
          { name: 'Gateways', value: countText(totals.gateways) },
          { name: 'not programmed', value: countText(open), state: open === 0 ? 'good' : 'bad' },
          { name: 'proxies', value: countText(proxies.length) },
          { name: 'proxies behind', value: countText(behind), state: behind === 0 ? 'good' : 'warn' },
          { name: 'problems', value: countText(totals.problems), state: totals.problems === 0 ? 'good' : 'warn' },
          ...KINDS.map((kind) => ({ name: kind, value: objects[kind] && countText(objects[kind]) })),
        ]}
      />
      <h2>Find</h2>
      <Filter label="Object, pod, reason or message" text={text} onText={setText} />
      <h2>Gateways</h2>
      {totals.gateways > gateways.length && (
        <p class="soft">{`The first ${countText(gateways.length)} of ${countText(totals.gateways)}.`}</p>
      )}
      <Table
        caption="Gateways"
        columns={[
          { head: 'Gateway', cell: ({ key }: GatewayOverview) => <a href={gatewayHref(key)}>{key}</a> },
          { head: 'Programmed', cell: ({ programmed }) => <Programmed programmed={programmed} /> },
          { head: 'Addresses', cell: ({ addresses }) => <span class="mono">{addresses.join(', ')}</span> },
          { head: 'Listeners', cell: ({ listeners }) => countText(listeners), isNumber: true },
          { head: 'Rules', cell: ({ routes }) => countText(routes), isNumber: true },
          { head: 'Backends', cell: ({ backends }) => countText(backends), isNumber: true },
          { head: 'Policies', cell: ({ policies }) => countText(policies), isNumber: true },
          { head: 'Web UI of a proxy', cell: ({ key }) => <ProxyUi gateway={key} /> },
        ]}
        rows={gateways.filter(({ key, addresses, programmed }) =>
          isShown(text, [key, ...addresses, programmed?.message ?? '']),
        )}
        keyOf={({ key }) => key}
        empty={text === '' ? 'No Gateway names a GatewayClass of this controller.' : 'No Gateway has this text.'}
      />
      <h2>Proxies</h2>
      <ProxyTable
        hasGateways
        rows={proxies.filter(({ gateway, pod, rejected = '' }) => isShown(text, [gateway, pod, rejected]))}
        empty={text === '' ? 'No proxy has reported the delivery that it has in force.' : 'No proxy has this text.'}
      />
      <ProblemTables text={text} conditions={conditions} problems={problems} totals={totals} />
    </>
  )
}
