// Problems of objects with their fields, and conditions that report a problem. Gateways are links to their pages.
import type { ComponentChildren } from 'preact'
import type { ConditionOverview, ProblemOverview } from '#api/admin/controller-overview.ts'
import { gatewayHref } from '../gateway-place.ts'
import { isShown } from './filter.tsx'
import { Table } from './table.tsx'

export interface ProblemTablesProps {
  /** Of the filter. */
  readonly text: string
  readonly conditions: readonly ConditionOverview[]
  readonly problems: readonly ProblemOverview[]
  /** Of all, also of those that the lists leave out; unset: the lists are complete. */
  readonly totals?: { readonly conditions: number; readonly problems: number }
}

export function ProblemTables({ text, conditions, problems, totals }: ProblemTablesProps) {
  return (
    <>
      <h2>Problems of objects</h2>
      <LeftOut list={problems} total={totals?.problems} />
      <Table
        caption="Problems of objects"
        columns={[
          { head: 'Object', cell: ({ object }: ProblemOverview) => <Linked text={object} /> },
          {
            head: 'Level',
            cell: ({ severity }) => <span class={severity === 'error' ? 'bad' : 'warn'}>{severity}</span>,
          },
          { head: 'Message', cell: ({ message }) => <div class="sentence">{message}</div> },
          { head: 'Field', cell: ({ path }) => <span class="mono">{path}</span> },
          { head: 'Reason', cell: ({ reason }) => reason },
        ]}
        rows={problems.filter(({ object, path, reason, message }) => isShown(text, [object, path, reason, message]))}
        keyOf={({ object, path, reason, message }) => [object, path, reason, message].join(' ')}
        empty={text === '' ? 'No object has a problem.' : 'No problem has this text.'}
      />
      <h2>Conditions that report a problem</h2>
      <LeftOut list={conditions} total={totals?.conditions} />
      <Table
        caption="Conditions that report a problem"
        columns={[
          { head: 'Object', cell: ({ object }: ConditionOverview) => <Linked text={object} /> },
          { head: 'Condition', cell: ({ type, status }) => `${type}: ${status}` },
          { head: 'Message', cell: ({ message }) => <div class="sentence">{message}</div> },
          { head: 'About', cell: ({ part }) => <Linked text={part} /> },
          { head: 'Reason', cell: ({ reason }) => reason },
        ]}
        rows={conditions.filter(({ object, part, type, reason, message }) =>
          isShown(text, [object, part, type, reason, message]),
        )}
        keyOf={({ object, part, type, reason, message }) => [object, part, type, reason, message].join(' ')}
        empty={text === '' ? 'No condition reports a problem.' : 'No condition has this text.'}
      />
    </>
  )
}

function LeftOut({ list, total = 0 }: { readonly list: readonly unknown[]; readonly total: number | undefined }) {
  if (total <= list.length) return null
  const [shown, all] = [list.length, total].map((count) => count.toLocaleString('en'))
  return <p class="soft">{`The list has the first ${shown} of ${all}; the page of a Gateway has its own.`}</p>
}

const GATEWAY = /^Gateway ([^,]+)(.*)$/

/** `Gateway namespace/name`, with what follows. */
function Linked({ text }: { readonly text: string }): ComponentChildren {
  const [, key, rest] = GATEWAY.exec(text) ?? []
  if (key === undefined) return text
  return (
    <>
      Gateway <a href={gatewayHref(key)}>{key}</a>
      {rest}
    </>
  )
}
