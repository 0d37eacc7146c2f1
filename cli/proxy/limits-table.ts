// Rate limits of `/limits` as tables of the command. Pure.
import { givenReference } from './given-names.ts'
import {
  countText,
  descriptorText,
  type GlobalLimit,
  leftText,
  type Limits,
  limitPlace,
  limitText,
  type LocalLimit,
  perText,
} from './limits.ts'
import { table } from './table.ts'

/** Those that the proxy counts, those that a service counts, and what it reported. Empty tables are left out. */
export function limitsTable({ local, global, omitted }: Limits, isWide = false): string {
  const more = isWide ? ['TARGET', 'CONDITION'] : []
  const reported = global.flatMap((limit) => limit.reported.map((report) => ({ report, limit })))
  const tables: readonly (readonly [head: readonly string[], rows: readonly (readonly string[])[]])[] = [
    [
      ['LIMIT', 'LEFT', 'REJECTED', 'REFILLED AT', 'POLICY', 'FIELD', ...more],
      local.map((limit) => [
        limitText(limit),
        leftText(limit),
        String(limit.rejected),
        limit.nextFill,
        ...placeCells(limit, isWide),
      ]),
    ],
    [
      ['COUNTS', 'ALLOWED', 'REJECTED', 'NO ANSWER', 'SERVICE', 'DOMAIN', 'POLICY', 'FIELD', ...more],
      global.map((limit) => [
        limit.descriptors.map(descriptorText).join('; '),
        ...[limit.allowed, limit.rejected, limit.failed].map(String),
        givenReference(limit.service),
        limit.domain,
        ...placeCells(limit, isWide),
      ]),
    ],
    [
      ['OF', 'LIMIT', 'LEFT', 'REPORTED AT', 'POLICY', 'FIELD', ...more],
      reported.map(({ report, limit }) => [
        report.entries,
        perText(report),
        countText(report.remaining),
        report.at,
        ...placeCells(limit, isWide),
      ]),
    ],
  ]
  const texts = tables.filter(([, rows]) => rows.length > 0).map(([head, rows]) => table(head, rows))
  return [...texts, ...(omitted > 0 ? [`${countText(omitted)} more limits\n`] : [])].join('\n')
}

function placeCells(limit: LocalLimit | GlobalLimit, isWide: boolean): string[] {
  const { object, field, target } = limitPlace(limit)
  return [object, field, ...(isWide ? [target, limit.condition ?? ''] : [])]
}
