// A price that does not depend on tokens.
import type { LlmCost, LlmPricing } from '../../exchange/facts.ts'

/** undefined: the cost is unknown. */
export function pricedAt(cost: Partial<LlmCost> | undefined): LlmPricing {
  const costOf = (): LlmCost | undefined => cost && { status: 'Exact', usd: undefined, rates: {}, ...cost }
  return { costOf, totalOf: costOf }
}
