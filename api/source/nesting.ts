// Whether a parsed value is a tree of a sensible height. An alias inside of what it stands for makes a value without
// end, and whoever walks over it never comes back. Pure.

/** Deeper than any manifest, far below what the call stack holds. */
export const NESTING_MAX = 250

export interface NestingProblem {
  /** Field names and list positions from the root. */
  readonly parts: readonly string[]
  readonly message: string
}

export function nestingProblem(value: unknown): NestingProblem | undefined {
  return find(value, { parents: new Set(), done: new Set(), parts: [] })
}

interface Walk {
  readonly parents: Set<object>
  /** What was looked at in full: several aliases of one thing cost no more than one. */
  readonly done: Set<object>
  readonly parts: string[]
}

function find(value: unknown, walk: Walk): NestingProblem | undefined {
  if (typeof value !== 'object' || value === null || walk.done.has(value)) return undefined
  if (walk.parents.has(value)) {
    return { parts: [...walk.parts], message: 'is an alias of something that it is itself a part of; write it out' }
  }
  if (walk.parents.size >= NESTING_MAX) {
    return { parts: [...walk.parts], message: `is nested deeper than ${NESTING_MAX} levels` }
  }
  walk.parents.add(value)
  for (const [name, child] of Object.entries(value)) {
    walk.parts.push(name)
    const problem = find(child, walk)
    if (problem !== undefined) return problem
    walk.parts.pop()
  }
  walk.parents.delete(value)
  walk.done.add(value)
  return undefined
}
