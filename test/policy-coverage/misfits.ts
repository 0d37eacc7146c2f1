// Values that the schema rejects, one at a time, at every place that a policy sets. Pure.
import { isWithin } from '#api/validate/understood.ts'
import { validateObject } from '#api/validate/validate.ts'
import type { Schema } from './settings.ts'

const SECTIONS = ['traffic', 'frontend', 'backend'] as const
/** Wrong types, formats, words, sizes; the schema decides which of them are wrong at a place. */
const JUNK: readonly unknown[] = [
  true,
  5,
  -1,
  1e9,
  1.5,
  '',
  'no such value',
  '\u0001',
  'x'.repeat(5000),
  [],
  {},
  { other: 'x' },
  [{ other: 'x' }],
]

/** `['traffic', 'cors', 'allowOrigins', 0]`. */
export type SettingPath = ReadonlyArray<string | number>

export interface Misfit {
  /** Path in the schema: `traffic.cors.allowOrigins[]`. */
  readonly setting: string
  /** Path in problems: `spec.traffic.cors.allowOrigins[0]`. */
  readonly path: string
  readonly place: SettingPath
  readonly value: unknown
  /** Why the schema rejects it. */
  readonly reason: string
  /** Where the schema reports it: a rule may name another field, such as `kind` for a wrong pair of group and kind. */
  readonly reportedAt: string
}

export interface PlacedSetting {
  readonly setting: string
  readonly place: SettingPath
}

/** Every place below the sections of a policy, with its containers. */
export function placesOf(policy: object, schema: Schema): PlacedSetting[] {
  const spec = member(policy, 'spec')
  return SECTIONS.flatMap((name) =>
    below(member(spec, name), schema.properties?.[name], { setting: name, place: [name] }),
  )
}

/** One value for each reason of the schema to reject the place. */
export function misfitsAt(policy: object, { setting, place }: PlacedSetting): Misfit[] {
  const found = new Map<string, Misfit>()
  for (const value of JUNK) {
    const [problem] = validateObject(withValue(policy, ['spec', ...place], value)).problems
    if (problem === undefined) continue
    const reason = `${problem.reason} ${typeof value}`
    if (found.has(reason)) continue
    const { path: reportedAt } = problem
    found.set(reason, { setting, place, path: pathOf(place), value, reason: problem.reason, reportedAt })
  }
  return [...found.values()]
}

/** Whether a problem at `path` reports the misfit. */
export function reports(path: string, misfit: Misfit): boolean {
  return isWithin(misfit.path, path) || isWithin(path, misfit.path) || path === misfit.reportedAt
}

/** Places of any object, without a schema: every place below `place`, including itself. `value`: its current value. */
export function placesBelow(value: unknown, place: SettingPath): PlacedSetting[] {
  const setting = place.map((key) => (typeof key === 'number' ? '[]' : key)).join('.')
  const here = { setting, place }
  if (typeof value !== 'object' || value === null) return [here]
  const keys = Array.isArray(value) ? value.keys() : Object.keys(value)
  return [here, ...[...keys].flatMap((key) => placesBelow(member(value, key), [...place, key]))]
}

/** A copy. */
export function withValue(holder: unknown, place: SettingPath, value: unknown): object {
  const copy: unknown = structuredClone(holder)
  const last = place.at(-1) ?? ''
  const parent = place.slice(0, -1).reduce(member, copy)
  if (typeof parent !== 'object' || parent === null) throw new Error(`nothing at ${place.join('.')}`)
  if (value === undefined) Reflect.deleteProperty(parent, last)
  else Reflect.set(parent, last, value)
  return Object(copy) as object // as the holder was
}

function below(value: unknown, schema: Schema | undefined, here: PlacedSetting): PlacedSetting[] {
  if (value === undefined || schema === undefined) return []
  const { properties, items, additionalProperties } = schema
  const at = (key: string | number, name: string, part: Schema | undefined): PlacedSetting[] =>
    below(member(value, key), part, { setting: `${here.setting}${name}`, place: [...here.place, key] })
  if (properties !== undefined) {
    return [here, ...Object.entries(properties).flatMap(([name, part]) => at(name, `.${name}`, part))]
  }
  if (items !== undefined && Array.isArray(value)) return [here, ...value.flatMap((_, index) => at(index, '[]', items))]
  if (additionalProperties?.type !== undefined && typeof value === 'object' && value !== null) {
    return [here, ...Object.keys(value).flatMap((name) => at(name, '{}', additionalProperties))]
  }
  return [here]
}

function pathOf(place: SettingPath): string {
  return place.reduce<string>((path, key) => (typeof key === 'number' ? `${path}[${key}]` : `${path}.${key}`), 'spec')
}

export function member(holder: unknown, key: string | number): unknown {
  return typeof holder === 'object' && holder !== null && Object.hasOwn(holder, key)
    ? (Reflect.get(holder, key) as unknown)
    : undefined
}
