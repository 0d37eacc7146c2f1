// Which phases of a method a guardrail service checks (data-plane supplement section 4.5).
import type { MCPGuardrailsMethod } from '#api/ir/types.gen.ts'

export type MethodPhase = MCPGuardrailsMethod['phase']

/** By specificity, the most specific first. */
const SHAPES: readonly ((pattern: string) => boolean)[] = [
  (pattern) => !pattern.includes('*'),
  (pattern) => pattern !== '*' && pattern.endsWith('*'),
  (pattern) => pattern !== '*' && pattern.startsWith('*'),
  () => true,
]

/** The exact name, then `prefix*`, `*suffix` and `*`; longer ones first, then alphabetically. No match: `Off`. */
export function compileMethods(methods: readonly MCPGuardrailsMethod[]): (method: string) => MethodPhase {
  const ordered = methods.toSorted(
    (a, b) =>
      shapeOf(a.method) - shapeOf(b.method) || b.method.length - a.method.length || (a.method < b.method ? -1 : 1),
  )
  return (method) => ordered.find(({ method: pattern }) => matches(pattern, method))?.phase ?? 'Off'
}

function shapeOf(pattern: string): number {
  return SHAPES.findIndex((isShape) => isShape(pattern))
}

function matches(pattern: string, method: string): boolean {
  if (!pattern.includes('*')) return pattern === method
  return pattern.endsWith('*') ? method.startsWith(pattern.slice(0, -1)) : method.endsWith(pattern.slice(1))
}
