// The changes of the API server to an object before validation: drops nulls, writes the schema's defaults. Copies only
// what changes: most objects come from the API server, where nothing does.
import { isRecord } from '../json.ts'
import type { Semantics } from './semantics.ts'

/** @param node absent where the schema has nothing special to say */
export function withDefaults(node: Semantics | undefined, value: unknown): unknown {
  if (Array.isArray(value)) return listWithDefaults(node?.items, value)
  return isRecord(value) ? recordWithDefaults(node ?? NOTHING_SPECIAL, value) : value
}

const NOTHING_SPECIAL: Semantics = {}
const NO_FIELDS: Readonly<Record<string, never>> = {}

function listWithDefaults(item: Semantics | undefined, list: readonly unknown[]): readonly unknown[] {
  let copy: unknown[] | undefined
  for (let index = 0; index < list.length; index += 1) {
    const now = withDefaults(item, list[index])
    if (now === list[index]) continue
    copy ??= [...list]
    copy[index] = now
  }
  return copy ?? list
}

function recordWithDefaults(node: Semantics, value: Record<string, unknown>): Record<string, unknown> {
  const present = presentOf(node, value)
  const absent = absentOf(node, value)
  if (present === undefined && absent === undefined) return value
  const added = Object.entries(structuredClone(absent ?? NO_FIELDS)).map(([name, child]): Field => {
    return [name, childWithDefaults(node, name, child)]
  })
  // Own properties even for odd names such as `__proto__`.
  return Object.fromEntries([...(present ?? Object.entries(value)), ...added])
}

type Field = [name: string, value: unknown]

/** The fields of the value, with defaults in them; undefined: they stay as they are. */
function presentOf(node: Semantics, value: Record<string, unknown>): Field[] | undefined {
  const names = Object.keys(value)
  // From the first field that differs on.
  let fields: Field[] | undefined
  for (const [index, name] of names.entries()) {
    const child = value[name]
    const now = isKept(node, name, child) ? childWithDefaults(node, name, child) : DROPPED
    if (now !== child) fields ??= names.slice(0, index).map((earlier) => [earlier, value[earlier]])
    if (now !== DROPPED) fields?.push([name, now])
  }
  return fields
}

const DROPPED = Symbol('dropped')

function childWithDefaults(node: Semantics, name: string, child: unknown): unknown {
  if (isFree(node, name)) return child
  const { fields = NO_FIELDS, values } = node
  return withDefaults(Object.hasOwn(fields, name) ? fields[name] : values, child)
}

function isKept(node: Semantics, name: string, child: unknown): boolean {
  if (child !== null) return true
  return node.nullable?.includes(name) === true || node.nullableValues === true || isFree(node, name)
}

/** Defaults of the fields that the value lacks; undefined: of none. */
function absentOf(node: Semantics, value: Record<string, unknown>): Record<string, unknown> | undefined {
  if (node.defaults === undefined) return undefined
  const absent = Object.entries(node.defaults).filter(
    ([name]) => !Object.hasOwn(value, name) || !isKept(node, name, value[name]),
  )
  return absent.length === 0 ? undefined : Object.fromEntries(absent)
}

function isFree({ free, known }: Semantics, name: string): boolean {
  return free === true && known?.includes(name) !== true
}
