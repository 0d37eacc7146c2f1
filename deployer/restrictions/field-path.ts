// Paths of fields, such as `deployment.spec.template.spec.containers[gw].image`: how settings write them, how they
// match. Items of lists are named by their name, keys of maps that hold other characters stand in brackets as well.

/** Without brackets: `['containers', 'gw', 'image']`. */
export type FieldPath = readonly string[]

const ANY = '*'
const SEGMENT = /(?:^|\.)([A-Za-z$][\w$]*|\*)|\[([^\][]+)\]/gy
const PLAIN = /^[A-Za-z$][\w$]*$/

/** undefined: not a path. */
export function parseFieldPath(text: string): FieldPath | undefined {
  if (text.startsWith('.') || text.startsWith('[')) return undefined
  const segments: string[] = []
  let end = 0
  for (const match of text.matchAll(SEGMENT)) {
    segments.push(match[1] ?? match[2] ?? '')
    end = match.index + match[0].length
  }
  return end === text.length && segments.length > 0 ? segments : undefined
}

/** One more segment in the notation of `parseFieldPath`. */
export function shownBelow(path: string, segment: string, isItem: boolean): string {
  return isItem || !PLAIN.test(segment) ? `${path}[${segment}]` : `${path}.${segment}`
}

/** Whether `path` is the field of `pattern` or lies below it. */
export function covers(pattern: FieldPath, path: FieldPath): boolean {
  return pattern.length <= path.length && overlaps(pattern, path)
}

/** Whether one of the two is the other or lies below it. */
export function overlaps(one: FieldPath, other: FieldPath): boolean {
  const length = Math.min(one.length, other.length)
  for (let i = 0; i < length; i++) {
    const [a = ANY, b = ANY] = [one[i], other[i]]
    if (a !== b && a !== ANY && b !== ANY) return false
  }
  return true
}
