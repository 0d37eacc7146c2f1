// How many tokens a client lets the model think, for formats that count them.
import type { Reasoning } from './request.ts'

/** Data-plane supplement section 3.9. */
const BUDGETS: ReadonlyMap<string | undefined, number> = new Map([
  ['none', 0],
  ['minimal', 1024],
  ['low', 1024],
  ['medium', 2048],
  ['high', 4096],
  ['xhigh', 8192],
  ['max', 16_384],
])

/** undefined: the client sets neither a budget nor a known effort. */
export function askedBudget({ effort, budgetTokens }: Pick<Reasoning, 'effort' | 'budgetTokens'>): number | undefined {
  return budgetTokens ?? BUDGETS.get(effort)
}
