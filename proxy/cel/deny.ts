// Deny rules fail closed if the cause is not in the rule: a body that cannot be read, or an expression that is too
// expensive. For any other failure the rule does not match, as specified (data-plane supplement section 8.3).
import { BudgetExceeded, type CelExpression, MissingKey } from '#api/cel/expression.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { routeShares } from './budget.ts'
import { UnreadableBody } from './deny-guard.ts'
import type { DenyGuard } from '../exchange/slots.ts'

/** Whether the expression is true, or its value cannot be determined. */
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
 * A body with content that the rule cannot interpret: compressed, too large, not UTF-8, not
 * JSON, or JSON of other types than the rule compares with. A missing member is a valid result.
 */
function isUnknown(error: unknown, { hasReadBody }: DenyGuard, { request }: Exchange): boolean {
  if (error instanceof BudgetExceeded || error instanceof UnreadableBody) return true
  if (!hasReadBody || error instanceof MissingKey) return false
  return !Buffer.isBuffer(request.body) || request.body.length > 0
}
