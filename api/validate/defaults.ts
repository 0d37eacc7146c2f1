// The changes of the API server to an object before validation: drops nulls, writes the schema's defaults. In a copy.
import { isRecord } from '../json.ts'
import type { Semantics } from './semantics.ts'

/** @param node absent where the schema has nothing special to say */
export function withDefaults(node: Semantics | undefined, value: unknown): unknown {
  if (Array.isArray(value)) {
    const item = node?.items
    return value.map((entry: unknown) => withDefaults(item, entry))
  }
  return isRecord(value) ? recordWithDefaults(node ?? {}, value) : value
}

function recordWithDefaults(node: Semantics, value: Record<string, unknown>): Record<string, unknown> {
  const { defaults = {}, fields = {}, nullable = [], values } = node
  const present = Object.entries(value).filter(([name, child]) => {
    return child !== null || nullable.includes(name) || node.nullableValues === true || isFree(node, name)
  })
  const absent = Object.entries(defaults).filter(([name]) => !present.some(([other]) => other === name))
  const entries = [...present, ...structuredClone(absent)].map(([name, child]) => {
    const own = Object.hasOwn(fields, name) ? fields[name] : values
    return [name, isFree(node, name) ? child : withDefaults(own, child)] as const
  })
  // Own properties even for odd names such as `__proto__`.
  return Object.fromEntries(entries)
}

function isFree({ free, known }: Semantics, name: string): boolean {
  return free === true && known?.includes(name) !== true
}
