// What is left? Rate limits of requests and tokens with the state of their buckets, and those that a service counts.
import { useState } from 'preact/hooks'
import {
  descriptorText,
  type GlobalLimit,
  leftText,
  limitPlace,
  limitText,
  type LocalLimit,
  perText,
} from '#cli/proxy/limits.ts'
import { givenReference } from '#cli/proxy/given-names.ts'
import { type Dump, limits as askLimits } from '../api.ts'
import { timeText } from '../model-usage.ts'
import { hrefOf } from '../place.ts'
import { Filter, isShown } from '../parts/filter.tsx'
import { countText } from '../parts/numbers.ts'
import { type Column, Table } from '../parts/table.tsx'
import { TerminalCommand } from '../parts/terminal-command.tsx'
import { usePolled } from '../polled.ts'

const EVERY_MS = 3000

type Limit = LocalLimit | GlobalLimit

interface LimitsProps {
  readonly dump: Dump
}

export function Limits({ dump }: LimitsProps) {
  const [text, setText] = useState('')
  const { value, problem } = usePolled(askLimits, EVERY_MS)
  const isFound = (limit: Limit): boolean => {
    const { object, field, target } = limitPlace(limit)
    return isShown(text, [object, field, target, limit.condition ?? ''])
  }
  const local = (value?.local ?? []).filter(isFound)
  const global = (value?.global ?? []).filter(isFound)
  return (
    <>
      <Filter label="Policy, target or condition" text={text} onText={setText} />
      {problem !== undefined && <p class="notice">{problem}</p>}
      {value === undefined ? (
        problem === undefined && <p>Loading the limits.</p>
      ) : (
        <>
          <h2>Limits that this proxy counts</h2>
          <LocalLimits rows={local} dump={dump} isFiltered={text !== ''} />
          <h2>Limits and budgets that a service counts</h2>
          <GlobalLimits rows={global} dump={dump} isFiltered={text !== ''} />
          {value.omitted > 0 && <p class="soft">{`${countText(value.omitted)} more limits have more left.`}</p>}
          <TerminalCommand given="config limits" />
        </>
      )}
    </>
  )
}

interface TableProps<Row> extends LimitsProps {
  readonly rows: readonly Row[]
  readonly isFiltered: boolean
}

function LocalLimits({ rows, dump, isFiltered }: TableProps<LocalLimit>) {
  return (
    <Table
      caption="Limits that this proxy counts"
      columns={[
        { head: 'Limit', cell: limitText },
        {
          head: 'Left',
          cell: (limit) => <span class={limit.remaining === 0 ? 'bad' : undefined}>{leftText(limit)}</span>,
          isNumber: true,
        },
        { head: 'Rejected', cell: ({ rejected }) => countText(rejected), isNumber: true },
        { head: 'Refilled in', cell: ({ nextFill }) => restText(nextFill), isNumber: true },
        ...placeColumns(rows, dump),
      ]}
      rows={rows}
      keyOf={({ source, path }) => `${source.key} ${path}`}
      empty={
        isFiltered
          ? 'No limit has this text.'
          : 'No policy has local limits. A GwPolicy with traffic.rateLimit.local appears here.'
      }
    />
  )
}

function GlobalLimits({ rows, dump, isFiltered }: TableProps<GlobalLimit>) {
  const reported = rows.flatMap((limit) => limit.reported.map((report) => ({ ...report, limitOf: limit })))
  return (
    <>
      <Table
        caption="Limits that a service counts"
        columns={[
          {
            head: 'Counts',
            cell: ({ descriptors }) =>
              descriptors.map((one) => <div key={descriptorText(one)}>{descriptorText(one)}</div>),
          },
          { head: 'Allowed', cell: ({ allowed }) => countText(allowed), isNumber: true },
          { head: 'Rejected', cell: ({ rejected }) => countText(rejected), isNumber: true },
          { head: 'No answer', cell: ({ failed }) => countText(failed), isNumber: true },
          {
            head: 'Service',
            cell: ({ service, domain }) => (
              <>
                <div class="mono">{givenReference(service)}</div>
                <div class="soft">{`domain ${domain}`}</div>
              </>
            ),
          },
          ...placeColumns(rows, dump),
        ]}
        rows={rows}
        keyOf={({ source, path }) => `${source.key} ${path}`}
        empty={
          isFiltered
            ? 'No limit has this text.'
            : 'No policy has global limits. A GwPolicy with traffic.rateLimit.global appears here.'
        }
      />
      {rows.length > 0 && (
        <p class="soft">
          The service keeps these counts for all proxies. The columns Allowed, Rejected and No answer are requests of
          this proxy since its start.
        </p>
      )}
      {reported.length > 0 && (
        <>
          <h2>What is left, as the services reported it last</h2>
          <Table
            caption="What is left, as the services reported it last"
            columns={[
              { head: 'Of', cell: ({ entries }: (typeof reported)[number]) => <span class="mono">{entries}</span> },
              { head: 'Limit', cell: perText },
              {
                head: 'Left',
                cell: ({ remaining }) => (
                  <span class={remaining === 0 ? 'bad' : undefined}>{countText(remaining)}</span>
                ),
                isNumber: true,
              },
              { head: 'Reported at', cell: ({ at }) => timeText(at), isNumber: true },
              { head: 'Policy', cell: ({ limitOf }) => <Source limit={limitOf} dump={dump} /> },
            ]}
            rows={reported}
            keyOf={({ limitOf, descriptor, entries }) =>
              [limitOf.source.key, limitOf.path, descriptor, entries].join(' ')
            }
            empty=""
          />
        </>
      )}
    </>
  )
}

function placeColumns<Row extends Limit>(rows: readonly Row[], dump: Dump): Column<Row>[] {
  const hasCondition = rows.some(({ condition }) => condition !== undefined)
  return [
    { head: 'Policy', cell: (limit) => <Source limit={limit} dump={dump} /> },
    { head: 'Applies to', cell: (limit) => limitPlace(limit).target },
    ...(hasCondition ? [{ head: 'Condition', cell: conditionOf }] : []),
  ]
}

function conditionOf({ condition }: Limit) {
  return condition !== undefined && <span class="mono">{condition}</span>
}

function Source({ limit, dump }: { readonly limit: Limit; readonly dump: Dump }) {
  const { object, field } = limitPlace(limit)
  const isPolicy = dump.policies.some(({ key }) => key === limit.source.key)
  return (
    <>
      <div>{isPolicy ? <a href={hrefOf('policies', limit.source.key)}>{object}</a> : object}</div>
      <div class="soft mono">{field}</div>
    </>
  )
}

const UNITS: readonly (readonly [ms: number, name: string])[] = [
  [3_600_000, 'h'],
  [60_000, 'min'],
]

/** `42 min`: the units of limits. */
function restText(time: string): string {
  const restMs = Math.max(0, Date.parse(time) - Date.now())
  const [length, name] = UNITS.find(([ms]) => restMs >= 2 * ms) ?? [1000, 's']
  return `${countText(Math.ceil(restMs / length))} ${name}`
}
