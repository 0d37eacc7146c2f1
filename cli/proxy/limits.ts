// Rate limits of `/limits` as words: for the web UI and tables. Pure.
import type { components } from '#api/admin/types.gen.ts'
import { sourceOf } from '../explain/explanation.ts'
import { targetText } from './rows.ts'

type Schemas = components['schemas']
export type Limits = Schemas['Limits']
export type LocalLimit = Limits['local'][number]
export type GlobalLimit = Limits['global'][number]

/** Each a unit of the API, with its length. */
const INTERVALS: readonly (readonly [ms: number, name: string])[] = [
  [3_600_000, 'an hour'],
  [60_000, 'a minute'],
  [1000, 'a second'],
]
const LOCAL = 'rateLimit.'
const INDEX = /\[\d+\]$/

export interface LimitPlace {
  readonly object: string
  /** `spec.traffic.rateLimit.local[0]`; an entry of a list with conditions has no index, see its condition. */
  readonly field: string
  /** Where the limit applies. */
  readonly target: string
}

export function limitPlace(limit: LocalLimit | GlobalLimit): LimitPlace {
  const { source, target } = limit
  const isRule = source.kind === 'rule'
  const { object, field } = sourceOf(source.key, 'rateLimit')
  return {
    object: isRule ? `the rule ${source.key}` : object,
    field: isRule || field === undefined ? fileField(limit) : `${field}.${policyField(limit)}`,
    target: target === undefined ? 'the rule' : targetText(target),
  }
}

/** Local and global limits of a list with conditions are separate lists in the proxy: their places in it are lost. */
function policyField({ path }: Pick<LocalLimit, 'path'>): string {
  const own = path.startsWith(LOCAL) ? `local${indexOf(path)}` : 'global'
  return path.includes('.conditional[') ? `conditional[].policy.${own}` : own
}

/** Of a standalone file. */
function fileField({ path }: Pick<LocalLimit, 'path'>): string {
  return path.startsWith(LOCAL) ? `localRateLimit${indexOf(path)}` : 'remoteRateLimit'
}

function indexOf(path: string): string {
  return INDEX.exec(path)?.[0] ?? ''
}

/** `10 requests an hour, burst 5`. */
export function limitText({ unit, limit, intervalMs, capacity }: LocalLimit): string {
  const burst = capacity > limit ? `, burst ${countText(capacity - limit)}` : ''
  const units = limit === 1 ? unit.slice(0, -1) : unit
  return `${countText(limit)} ${units.toLowerCase()} ${intervalText(intervalMs)}${burst}`
}

/** `3 of 15`. */
export function leftText({ remaining, capacity }: LocalLimit): string {
  return `${countText(remaining)} of ${countText(capacity)}`
}

/** `tokens by key, model; math.ceil(llm.cost.total)`. */
export function descriptorText({ unit, entries, cost }: GlobalLimit['descriptors'][number]): string {
  const names = entries.map(({ name }) => name).join(', ')
  return `${cost === undefined ? unit.toLowerCase() : cost} by ${names}`
}

/** `100 a day`. */
export function perText({ limit, interval }: GlobalLimit['reported'][number]): string {
  if (interval === '') return countText(limit)
  return `${countText(limit)} ${interval === 'Hour' ? 'an' : 'a'} ${interval.toLowerCase()}`
}

function intervalText(intervalMs: number): string {
  const [length, name] = INTERVALS.find(([ms]) => intervalMs % ms === 0) ?? [1, 'a millisecond']
  const count = intervalMs / length
  return count === 1 ? name : `in ${countText(count)} ${name.slice(name.indexOf(' ') + 1)}s`
}

export function countText(count: number): string {
  return count.toLocaleString('en')
}
