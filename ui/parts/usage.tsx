// Tokens and cost of requests to models as tables: of a day by gateway, and of a time by route and by client.
import { useState } from 'preact/hooks'
import type { ModelUsage } from '../api.ts'
import { sinceText, usageSinceStart, usageToday } from '../model-usage.ts'
import { hrefOf } from '../place.ts'
import { usePolled } from '../polled.ts'
import { Choice } from './fields.tsx'
import { isShown } from './filter.tsx'
import { countText, dollarsText } from './numbers.ts'
import { type Column, Table } from './table.tsx'

type Counts = ModelUsage['total']

const EVERY_MS = 5000
const PERIODS = { Today: usageToday, 'Since the start': usageSinceStart } as const
type Period = keyof typeof PERIODS

export function UsageToday({ usage }: { readonly usage: ModelUsage }) {
  const { total, gateways, others } = usage
  const rows = withOthers(
    gateways.map(({ gateway, ...counts }) => ({ cells: [gateway], counts })),
    { cells: ['other gateways'], counts: others.gateways },
  )
  return (
    <>
      <h2>Tokens and cost today</h2>
      <p class="soft">
        {`${sinceText(usage)} `}
        <a href={hrefOf('models')}>By route and client</a>
      </p>
      <UsageTable
        caption="Tokens and cost today"
        heads={['Gateway']}
        rows={rows.length > 1 ? [...rows, { cells: ['all'], counts: total }] : rows}
        empty="No request to a model today."
      />
    </>
  )
}

export function UsageOfTime({ text }: { readonly text: string }) {
  const [period, setPeriod] = useState<Period>('Today')
  const { value: usage, problem } = usePolled(PERIODS[period], EVERY_MS)
  const isPeriod = (given: string): given is Period => Object.hasOwn(PERIODS, given)
  return (
    <>
      <h2>Tokens and cost</h2>
      <div class="bar">
        <Choice
          label="Time"
          value={period}
          options={Object.keys(PERIODS)}
          onValue={(given) => isPeriod(given) && setPeriod(given)}
        />
        <p class="soft">{usage !== undefined && sinceText(usage)}</p>
      </div>
      {problem !== undefined && <p class="notice">{problem}</p>}
      {usage !== undefined && <Groups usage={usage} text={text} />}
    </>
  )
}

function Groups({ usage, text }: { readonly usage: ModelUsage; readonly text: string }) {
  const { routes, clients, others } = usage
  const isFound = ({ cells }: Row): boolean => isShown(text, cells)
  const routeRows = routes.map(({ route, ...counts }) => ({ cells: [route], counts })).filter(isFound)
  const clientRows = clients.map(({ kind, name, ...counts }) => ({ cells: clientCells({ kind, name }), counts }))
  const empty = text === '' ? 'No request to a model in this time.' : 'None has this text.'
  return (
    <>
      <h3>By route</h3>
      <UsageTable
        caption="By route"
        heads={['Route']}
        rows={withOthers(routeRows, { cells: ['other routes'], counts: others.routes })}
        empty={empty}
      />
      <h3>By client</h3>
      <UsageTable
        caption="By client"
        heads={['Client', 'Verified by']}
        rows={withOthers(clientRows.filter(isFound), { cells: ['other clients', ''], counts: others.clients })}
        empty={empty}
      />
      {others.clients.requests > 0 && (
        <p class="soft">{`The proxy counts ${clients.length} clients one by one, and the others together.`}</p>
      )}
    </>
  )
}

/** Names as in expressions. */
function clientCells({ kind, name }: Pick<ModelUsage['clients'][number], 'kind' | 'name'>): string[] {
  if (kind === 'none') return ['not verified', '']
  return [name === '' ? 'without a name' : name, kind]
}

interface Row {
  readonly cells: readonly string[]
  readonly counts: Counts
}

interface UsageTableProps {
  readonly caption: string
  /** Of the first columns. */
  readonly heads: readonly string[]
  readonly rows: readonly Row[]
  readonly empty: string
}

function UsageTable({ caption, heads, rows, empty }: UsageTableProps) {
  const number = (head: string, textOf: (counts: Counts) => string): Column<Row> => ({
    head,
    cell: ({ counts }) => textOf(counts),
    isNumber: true,
  })
  return (
    <Table
      caption={caption}
      columns={[
        ...heads.map((head, i): Column<Row> => ({ head, cell: ({ cells }) => cells[i] })),
        number('Requests', ({ requests }) => countText(requests)),
        number('Input tokens', ({ inputTokens }) => countText(inputTokens)),
        number('Output tokens', ({ outputTokens }) => countText(outputTokens)),
        number('Cost', ({ cost }) => (cost > 0 ? dollarsText(cost) : '')),
      ]}
      rows={rows}
      keyOf={({ cells }) => cells.join(' ')}
      empty={empty}
    />
  )
}

function withOthers(rows: readonly Row[], others: Row): readonly Row[] {
  return others.counts.requests > 0 ? [...rows, others] : rows
}
