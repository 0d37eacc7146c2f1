// Uniqueness of list-maps (by key) and sets, with the path of the second of two equal entries.
import type { Problem } from '../problem.ts'
import { fieldPath, indexPath } from './path.ts'
import { isRecord } from '../json.ts'
import type { Semantics } from './semantics.ts'

export function listProblems(node: Semantics | undefined, value: unknown, path = ''): Problem[] {
  if (node === undefined) return []
  if (Array.isArray(value)) {
    const own = duplicates(node.list, value, path)
    const item = node.items
    if (item === undefined) return own
    return [...own, ...value.flatMap((entry, index) => listProblems(item, entry, indexPath(path, index)))]
  }
  if (!isRecord(value)) return []
  return Object.entries(value).flatMap(([name, child]) => {
    const known = Object.hasOwn(node.fields ?? {}, name) ? node.fields?.[name] : node.values
    return listProblems(known, child, fieldPath(path, name))
  })
}

function duplicates(list: Semantics['list'], entries: readonly unknown[], path: string): Problem[] {
  if (list === undefined) return []
  const counts = new Map<string, number>()
  const problems: Problem[] = []
  for (const [index, entry] of entries.entries()) {
    const identity = list === 'set' ? entry : isRecord(entry) ? list.map((key) => entry[key] ?? null) : undefined
    // Another type is the structural check's business.
    if (identity === undefined) continue
    const text = canonical(identity)
    const count = (counts.get(text) ?? 0) + 1
    counts.set(text, count)
    // A third equal entry is not reported again.
    if (count !== 2) continue
    const what = list === 'set' ? 'value' : `entry with the same ${list.join(', ')}`
    const message = `Duplicate value: an earlier ${what} is in this list`
    problems.push({ path: indexPath(path, index), reason: 'FieldValueDuplicate', message, severity: 'error' })
  }
  return problems
}

/** Equal texts for equal JSON values. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (!isRecord(part)) return part
    return Object.fromEntries(Object.entries(part).sort(([left], [right]) => (left < right ? -1 : 1)))
  })
}
