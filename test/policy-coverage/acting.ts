// Which settings have an effect: a golden that sets one must be rendered differently for another value.
import type { Setting, SetValue } from './settings.ts'
import type { ActingGolden } from './acting-goldens.ts'

/** Values that replace the original one, one after the other, until the output changes. */
const OTHER_TEXTS = ['other', '45s', '"other"', '45']

/** The settings that a document sets. */
export type Reader = (document: unknown) => readonly SetValue[]

export function settingsThatAct(
  settings: readonly Setting[],
  read: Reader,
  worlds: Iterable<ActingGolden>,
): ReadonlySet<string> {
  const values = new Map(settings.map((setting) => [setting.path, setting.values]))
  const acting = new Set<string>()
  for (const { documents, rendered } of worlds) {
    const set = documents.flatMap(read).filter(({ setting }) => !acting.has(setting))
    if (set.length === 0) continue
    const before = rendered()
    for (const one of set) {
      const allowed = values.get(one.setting) ?? []
      if (!acting.has(one.setting) && doesAct(one, { allowed, before, rendered })) acting.add(one.setting)
    }
  }
  return acting
}

interface Attempt {
  readonly allowed: readonly string[]
  /** The output of the unchanged golden. */
  readonly before: string | undefined
  readonly rendered: () => string | undefined
}

function doesAct(one: SetValue, { allowed, before, rendered }: Attempt): boolean {
  const { holder, key, value } = one
  const record = holder as Record<string, unknown> // holders are maps or lists, and the key is one of theirs
  const outcomeWith = (other: unknown): string | undefined => {
    record[key] = other
    const result = rendered()
    record[key] = value
    return result
  }
  if (allowed.length > 1) {
    const outcomes = allowed.map(outcomeWith)
    if (new Set(outcomes).size === allowed.length) return true
    // The schema may reject some values with the list beside them, and others without it.
    const lists = Object.keys(record).filter((name) => Array.isArray(record[name]))
    if (Array.isArray(holder) || lists.length === 0) return false
    const alone = withoutLists(record, lists, () => allowed.map(outcomeWith))
    return new Set(allowed.map((_, index) => `${outcomes[index]} ${alone[index]}`)).size === allowed.length
  }
  return othersFor(value).some((other) => {
    const after = outcomeWith(other)
    return after !== undefined && after !== before
  })
}

function othersFor(value: unknown): readonly unknown[] {
  if (typeof value === 'number') return [value + 1]
  if (typeof value === 'boolean') return [!value]
  return typeof value === 'string' ? OTHER_TEXTS : [{ other: 'other' }, undefined]
}

/** The result of `work` without these fields. */
function withoutLists<T>(record: Record<string, unknown>, names: readonly string[], work: () => T): T {
  const kept = Object.fromEntries(names.map((name) => [name, record[name]]))
  for (const name of names) delete record[name]
  const result = work()
  Object.assign(record, kept)
  return result
}
