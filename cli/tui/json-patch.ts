// The difference of two JSON values as operations of a JSON Patch (RFC 6902): add, remove and replace. Items of lists
// are compared by position. Pure.

export type PatchOperation =
  | { readonly op: 'add'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string; readonly before: unknown }
  | { readonly op: 'replace'; readonly path: string; readonly value: unknown; readonly before: unknown }

/** Deeper values are compared as a whole. */
const DEPTH_MAX = 32

/** In the order of the members, those of `before` first. `before` of an operation is for display. */
export function jsonPatch(before: unknown, after: unknown, path = '', depth = 0): PatchOperation[] {
  if (Object.is(before, after)) return []
  if (depth >= DEPTH_MAX || !isContainer(before) || !isContainer(after) || isList(before) !== isList(after)) {
    return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ op: 'replace', path, value: after, before }]
  }
  const [old, current] = [new Map(Object.entries(before)), new Map(Object.entries(after))]
  return [...new Set([...old.keys(), ...current.keys()])].flatMap((key): PatchOperation[] => {
    const place = `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
    if (!current.has(key)) return [{ op: 'remove', path: place, before: old.get(key) }]
    if (!old.has(key)) return [{ op: 'add', path: place, value: current.get(key) }]
    return jsonPatch(old.get(key), current.get(key), place, depth + 1)
  })
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function isList(value: object): boolean {
  return Array.isArray(value)
}
