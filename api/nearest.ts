// The valid name that a misspelt one most probably means.

/** Longer names are nobody's typing error, and cost quadratic time. */
const NAME_LENGTH_MAX = 64

/** undefined when nothing is near: a wild guess is worse than none. */
export function nearestName(name: string, valid: readonly string[]): string | undefined {
  if (name.length > NAME_LENGTH_MAX) return undefined
  const distanceMax = Math.max(1, Math.floor(name.length / 3))
  let best: { candidate: string; distance: number } | undefined
  for (const candidate of valid) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (distance <= distanceMax && (best === undefined || distance < best.distance)) best = { candidate, distance }
  }
  return best?.candidate
}

/** The cure for a name that nothing bears; `otherwise` where no name is near. */
export function hintFor(name: string, valid: readonly string[], otherwise: string): string {
  const nearest = nearestName(name, valid)
  return nearest === undefined ? otherwise : `did you mean ${nearest}?`
}

/** Insertions, deletions, replacements and swaps of neighbours (optimal string alignment). */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(last, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwap ? at(beforeLast, j - 2) + 1 : Number.MAX_SAFE_INTEGER
      const distance = Math.min(at(last, j) + 1, at(row, j - 1) + 1, replaced, swapped)
      row.push(distance)
    }
    beforeLast = last
    last = row
  }
  return at(last, b.length)
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? 0
}
