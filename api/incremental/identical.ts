// Whether two lists hold the same objects, for callers that keep what they derived from a list. Pure.

/** The same items at the same places. */
export function isIdentical(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a === b) return true
  if (a.length !== b.length) return false
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false
  return true
}
