// A map of names to CEL, as the list that the contract has.
import type { NamedExpression } from '#api/ir/types.gen.ts'
import type { FieldPath } from '#api/problem.ts'
import { sortedBy } from '../order.ts'
import { checkExpression } from './expression.ts'
import type { FieldContext } from './field.ts'

/** By name: a map of the API has no order of its own. */
export function namedExpressions(
  map: Readonly<Record<string, string>>,
  path: FieldPath,
  context: FieldContext,
): NamedExpression[] {
  return sortedBy(Object.entries(map), ([name]) => name).map(([name, expression]) => {
    checkExpression(expression, `${path}.${name}`, context)
    return { name, expression }
  })
}
