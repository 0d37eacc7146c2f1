// The valid name that a misspelt one most probably means.
import { distance } from 'fastest-levenshtein'

/** Longer names are not typing errors, and cost quadratic time. */
const NAME_LENGTH_MAX = 64

/** undefined when no name is near: a wrong guess is worse than none. */
export function nearestName(name: string, valid: readonly string[]): string | undefined {
  if (name.length > NAME_LENGTH_MAX) return undefined
  const distanceMax = Math.max(1, Math.floor(name.length / 3))
  let best: { candidate: string; edits: number } | undefined
  for (const candidate of valid) {
    const edits = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (edits <= distanceMax && (best === undefined || edits < best.edits)) best = { candidate, edits }
  }
  return best?.candidate
}

/** The advice for an unknown name; `otherwise` where no valid name is near. */
export function hintFor(name: string, valid: readonly string[], otherwise: string): string {
  const nearest = nearestName(name, valid)
  return nearest === undefined ? otherwise : `did you mean ${nearest}?`
}

/** Insertions, deletions and replacements; two neighbours that have changed places count as one. */
export function editDistance(a: string, b: string): number {
  const edits = distance(a, b)
  return edits === 2 && isSwap(a, b) ? 1 : edits
}

function isSwap(a: string, b: string): boolean {
  let at = 0
  while (at < a.length && a[at] === b[at]) at++
  return a === b.slice(0, at) + b.charAt(at + 1) + b.charAt(at) + b.slice(at + 2)
}
