// Deny rules fail closed where the reason is not in the rule: a body that cannot be read, or an expression that costs
// too much. Any other failure is no match, as the specification has it (data-plane supplement section 8.3).
import { BudgetExceeded, type CelExpression, MissingKey } from '#api/cel/expression.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { routeShares } from './budget.ts'
import { UnreadableBody } from './deny-guard.ts'
import type { DenyGuard } from '../exchange/slots.ts'

/** Whether the expression is true, or whether that cannot be known. */
export function isTrueOrUnknown(expression: CelExpression, exchange: Exchange): boolean {
  const guard: DenyGuard = { hasReadBody: false }
  exchange.denyGuard = guard
  try {
    const failed = (error: unknown): boolean => isUnknown(error, guard, exchange)
    if (exchange.trace !== undefined) {
      return exchange.trace.evaluate({ expression, exchange, failed, isCredential: false }) === true
    }
    return evaluated(expression, exchange, failed)
  } finally {
    exchange.denyGuard = undefined
  }
}

function evaluated(expression: CelExpression, exchange: Exchange, failed: (error: unknown) => boolean): boolean {
  try {
    return routeShares.evaluate(expression, exchange) === true
  } catch (error) {
    return failed(error)
  }
}

/**
 * A body that holds something, and that the rule could not take for what it is: compressed, too large, not UTF-8, not
 * JSON, or JSON of other types than the rule compares with. A member that is not there is an answer.
 */
function isUnknown(error: unknown, { hasReadBody }: DenyGuard, { request }: Exchange): boolean {
  if (error instanceof BudgetExceeded || error instanceof UnreadableBody) return true
  if (!hasReadBody || error instanceof MissingKey) return false
  return !Buffer.isBuffer(request.body) || request.body.length > 0
}
