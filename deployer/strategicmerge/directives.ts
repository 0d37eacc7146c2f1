// Words that have a meaning inside a strategic merge patch, and how what is left of a patch is cleaned of them.
import { isJsonObject, type Json, type JsonObject } from '../kube-object.ts'

export const PATCH = '$patch'
export const RETAIN_KEYS = '$retainKeys'
export const SET_ORDER = '$setElementOrder/'
export const DELETE_ITEMS = '$deleteFromPrimitiveList/'

const KNOWN: ReadonlySet<Json> = new Set(['delete', 'replace', 'merge'])

/** A copy without nulls in maps: a new value has nothing that they could delete. */
export function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isJsonObject(value)) return value
  const kept = Object.entries(value).filter(([, item]) => item !== null)
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutNulls(item)]))
}

/** A copy without maps that hold `$patch`; undefined: the value itself is one. */
export function withoutDirectives(value: Json): Json | undefined {
  if (Array.isArray(value)) return value.flatMap((item) => withoutDirectives(item) ?? [])
  if (!isJsonObject(value)) return value
  if (Object.hasOwn(value, PATCH)) return undefined
  return mapEntries(value, withoutDirectives)
}

/** A copy in which `$patch: replace` and `$patch: merge` are nothing but the value, and deleted maps are gone. */
export function withDirectivesApplied(value: Json): Json | undefined {
  if (Array.isArray(value)) return value.flatMap((item) => (isMarker(item) ? [] : (withDirectivesApplied(item) ?? [])))
  if (!isJsonObject(value)) return value
  if (value[PATCH] === 'delete') return undefined
  return mapEntries(value, withDirectivesApplied)
}

/** Path of the first `$patch` in it that has no meaning. */
export function unknownDirective(value: Json, path: string): string | undefined {
  if (!isJsonObject(value) && !Array.isArray(value)) return undefined
  const directive = isJsonObject(value) ? value[PATCH] : undefined
  if (directive !== undefined && !KNOWN.has(directive)) return `${path}.${PATCH}`
  for (const [key, item] of Object.entries(value)) {
    const found = unknownDirective(item, Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`)
    if (found !== undefined) return found
  }
  return undefined
}

function mapEntries(value: JsonObject, change: (item: Json) => Json | undefined): JsonObject {
  const result = new Map<string, Json>()
  for (const [key, item] of Object.entries(value)) {
    const changed = isDirective(key) ? undefined : change(item)
    if (changed !== undefined) result.set(key, changed)
  }
  return Object.fromEntries(result)
}

/** An item that only says something about its list. */
function isMarker(item: Json): boolean {
  return isJsonObject(item) && Object.hasOwn(item, PATCH) && Object.keys(item).length === 1
}

function isDirective(key: string): boolean {
  return key === PATCH || key === RETAIN_KEYS || key.startsWith(SET_ORDER) || key.startsWith(DELETE_ITEMS)
}
