// Whether a parsed value is a tree of limited height. An alias inside of its own value makes an endless value, and code
// that walks over it never ends. Pure.

/** Deeper than any manifest, far below what the call stack holds. */
export const NESTING_MAX = 250

export interface NestingProblem {
  /** Field names and list positions from the root. */
  readonly parts: readonly string[]
  readonly message: string
}

export function nestingProblem(value: unknown): NestingProblem | undefined {
  const found = heightOf(value, { parents: new Set(), heights: new Map(), parts: [] })
  return typeof found === 'number' ? undefined : found
}

interface Walk {
  readonly parents: Set<object>
  /** Levels below what was looked at in full: several aliases of one thing cost no more than one. */
  readonly heights: Map<object, number>
  readonly parts: string[]
}

/** Levels of the value, the scalar at the end not counted. */
function heightOf(value: unknown, walk: Walk): number | NestingProblem {
  if (typeof value !== 'object' || value === null) return 0
  const { parents, heights, parts } = walk
  if (parents.has(value)) {
    return { parts: [...parts], message: 'is an alias of a value that contains it; write out the value' }
  }
  const known = heights.get(value)
  if (parents.size + (known ?? 1) > NESTING_MAX) {
    return { parts: [...parts], message: `is nested deeper than ${NESTING_MAX} levels` }
  }
  if (known !== undefined) return known
  parents.add(value)
  let highest = 0
  for (const [name, child] of Object.entries(value)) {
    parts.push(name)
    const height = heightOf(child, walk)
    if (typeof height !== 'number') return height
    highest = Math.max(highest, height)
    parts.pop()
  }
  parents.delete(value)
  heights.set(value, highest + 1)
  return highest + 1
}
