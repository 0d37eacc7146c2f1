// Whether two lists are made of the very same things, for those who keep what was made of a list. Pure.

/** The same items at the same places. */
export function isIdentical(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a === b) return true
  if (a.length !== b.length) return false
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false
  return true
}
