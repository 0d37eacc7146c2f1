// What `flatten(x)` returns: a mark that logs and traces expand into one field for each entry. It has no text form, so
// elsewhere, as in a metric label, it counts as an absent value.
import { elementOrMissing, keysOf } from '../engine/access.ts'
import { isMap } from '../engine/types.ts'

/** Fields that one flattened value may become; the rest is dropped. */
const FLATTENED_FIELDS_MAX = 1000
const FLATTENED_DEPTH_MAX = 32

export class Flattened {
  readonly value: unknown
  readonly isRecursive: boolean

  constructor(value: unknown, isRecursive: boolean) {
    this.value = value
    this.isRecursive = isRecursive
  }
}

/** The fields of an attribute: `name.key` and `name.0` for a flattened value, the value itself for any other. */
export function attributeFields(name: string, value: unknown): (readonly [name: string, value: unknown])[] {
  const fields: (readonly [string, unknown])[] = []
  if (value instanceof Flattened) expand(name, value.value, value.isRecursive ? FLATTENED_DEPTH_MAX : 1, fields)
  else fields.push([name, value])
  return fields
}

function expand(name: string, value: unknown, depth: number, into: (readonly [string, unknown])[]): void {
  if (into.length >= FLATTENED_FIELDS_MAX) return
  if (depth > 0 && Array.isArray(value)) {
    for (const [index, item] of value.entries()) expand(`${name}.${index}`, item, depth - 1, into)
  } else if (depth > 0 && isMap(value)) {
    for (const key of keysOf(value)) expand(`${name}.${String(key)}`, elementOrMissing(value, key), depth - 1, into)
  } else {
    into.push([name, value])
  }
}
