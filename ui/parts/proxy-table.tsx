// Proxies that have reported a delivery, with what each has in force.
import type { ProxyOverview } from '#api/admin/controller-overview.ts'
import { gatewayHref } from '../gateway-place.ts'
import { type Column, Table } from './table.tsx'

export interface ProxyRow extends ProxyOverview {
  /** `namespace/name` */
  readonly gateway: string
}

export interface ProxyTableProps {
  readonly rows: readonly ProxyRow[]
  readonly empty: string
  /** The rows are of several Gateways. */
  readonly hasGateways: boolean
}

const GATEWAY: Column<ProxyRow> = {
  head: 'Gateway',
  cell: ({ gateway }) => <a href={gatewayHref(gateway)}>{gateway}</a>,
}
const COLUMNS: readonly Column<ProxyRow>[] = [
  { head: 'Pod', cell: ({ pod }) => pod },
  { head: 'Delivery in force', cell: ({ generation }) => (generation === 0 ? 'none' : generation), isNumber: true },
  { head: 'State', cell: (proxy) => <State proxy={proxy} /> },
]

export function ProxyTable({ rows, empty, hasGateways }: ProxyTableProps) {
  return (
    <Table
      caption="Proxies"
      columns={hasGateways ? [GATEWAY, ...COLUMNS] : COLUMNS}
      rows={rows}
      keyOf={({ gateway, pod }) => `${gateway} ${pod}`}
      empty={empty}
    />
  )
}

function State({ proxy: { isBehind, rejected } }: { readonly proxy: ProxyOverview }) {
  if (rejected !== undefined) return <span class="bad">{`rejected a newer delivery: ${rejected}`}</span>
  return isBehind ? <span class="warn">behind other proxies</span> : <span class="good">current</span>
}
