// Uniqueness of list-maps (by key) and sets, with the path of the second of two equal entries.
import type { Problem } from '../problem.ts'
import { fieldPath, indexPath } from './path.ts'
import { isRecord } from '../json.ts'
import type { Semantics } from './semantics.ts'

export function listProblems(node: Semantics | undefined, value: unknown, path = ''): readonly Problem[] {
  const problems: Problem[] = []
  addProblems(node, { value, path }, problems)
  return problems
}

interface Place {
  readonly value: unknown
  readonly path: string
}

function addProblems(node: Semantics | undefined, { value, path }: Place, problems: Problem[]): void {
  if (node === undefined) return
  if (Array.isArray(value)) {
    addDuplicates(node.list, { value, path }, problems)
    const item = node.items
    if (item === undefined) return
    for (const [index, entry] of value.entries()) {
      addProblems(item, { value: entry, path: indexPath(path, index) }, problems)
    }
    return
  }
  const { fields = NO_FIELDS, values } = node
  if (!isRecord(value)) return
  for (const [name, child] of Object.entries(value)) {
    if (typeof child !== 'object') continue
    const known = Object.hasOwn(fields, name) ? fields[name] : values
    if (known !== undefined) addProblems(known, { value: child, path: fieldPath(path, name) }, problems)
  }
}

const NO_FIELDS: Readonly<Record<string, never>> = {}

interface Entries {
  readonly value: readonly unknown[]
  readonly path: string
}

function addDuplicates(list: Semantics['list'], { value: entries, path }: Entries, problems: Problem[]): void {
  if (list === undefined || entries.length < 2) return
  const counts = new Map<string, number>()
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
}

/** Equal texts for equal JSON values. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (!isRecord(part)) return part
    return Object.fromEntries(Object.entries(part).sort(([left], [right]) => (left < right ? -1 : 1)))
  })
}
