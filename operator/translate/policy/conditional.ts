// The conditional form of several traffic fields: an ordered list; the proxy runs the first entry that matches.
import type { FieldPath } from '#api/problem.ts'
import { checkExpression } from './expression.ts'
import type { FieldContext } from './field.ts'

export interface ConditionalEntry<P> {
  readonly condition?: string
  readonly policy: P
}

/** `render` gets the path of the entry's policy. An invalid condition is kept and counts as false. */
export function renderConditional<P, R>(
  entries: ReadonlyArray<ConditionalEntry<P>>,
  context: FieldContext,
  render: (policy: P, path: FieldPath) => R,
): { conditional: Array<{ condition?: string; policy: R }> } {
  return {
    conditional: entries.map(({ condition, policy }, index) => {
      const path = `${context.path}.conditional[${index}]`
      if (condition !== undefined) checkExpression(condition, `${path}.condition`, context)
      return { ...(condition !== undefined && { condition }), policy: render(policy, `${path}.policy`) }
    }),
  }
}
