// Whether two values are equal, for callers that keep the earlier object if nothing has changed. Pure.
import { isRecord } from '../json.ts'

/** Deep equality of plain data; identical parts are not looked into. An undefined field counts as absent. */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => isSame(item, b[index]))
  }
  return isRecord(a) && isRecord(b) && areFieldsSame(a, b)
}

type Fields = Readonly<Record<string, unknown>>

function areFieldsSame(a: Fields, b: Fields): boolean {
  for (const name of Object.keys(a)) if (!isSame(a[name], Object.hasOwn(b, name) ? b[name] : undefined)) return false
  for (const name of Object.keys(b)) if (!Object.hasOwn(a, name) && b[name] !== undefined) return false
  return true
}
