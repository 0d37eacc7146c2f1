// frontend.networkAuthorization: CEL over `source` alone, once for each connection. The rules of all levels are kept,
// with the same meaning as in authorization.ts; here there is no exchange to evaluate them on.
import { EVALUATION_STEPS_MAX } from '#api/cel/compile.ts'
import { BudgetExceeded, type CelExpression } from '#api/cel/expression.ts'
import type { Authorization } from '#api/ir/types.gen.ts'
import { type ConnectionSource, sourceVariables } from '../../cel/connection-views.ts'

/** undefined: no rules, every connection is admitted. */
export function compileNetworkAuthorization(
  rules: readonly Authorization[],
  expression: (source: string) => CelExpression,
): ((source: ConnectionSource) => boolean) | undefined {
  if (rules.length === 0) return undefined
  const compiled = (action: Authorization['action']): CelExpression[][] =>
    rules.filter((rule) => rule.action === action).map(({ matchExpressions }) => matchExpressions.map(expression))
  const deny = compiled('Deny')
  const require = compiled('Require')
  const allow = compiled('Allow')
  return (source) => {
    const variables = sourceVariables(source)
    const budget = { celStepsLeft: EVALUATION_STEPS_MAX }
    /** Only the literal `true` counts; a failed expression does not match, a Deny rule above its cost limit does. */
    const matchesAs = (rule: readonly CelExpression[], isDeny: boolean): boolean =>
      rule.every((one) => {
        try {
          return one.evaluate(variables, budget) === true
        } catch (error) {
          return isDeny && error instanceof BudgetExceeded
        }
      })
    const matches = (rule: readonly CelExpression[]): boolean => matchesAs(rule, false)
    return (
      !deny.some((rule) => matchesAs(rule, true)) &&
      require.every(matches) &&
      (allow.length === 0 || allow.some(matches))
    )
  }
}
