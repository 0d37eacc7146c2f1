// How much a client lets the model think, in the units of formats: tokens and efforts (data-plane supplement 3.9).
import type { Reasoning } from '../canonical/request.ts'
import { EFFORTS, type Effort, type ModelTraits } from './traits.ts'

type Asked = Pick<Reasoning, 'effort' | 'budgetTokens'>

/** Tokens from which an effort counts. */
const BUDGETS: { readonly [E in Effort]: number } = {
  none: 0,
  minimal: 1024,
  low: 1024,
  medium: 2048,
  high: 4096,
  xhigh: 8192,
  max: 16_384,
}

const BY_BUDGET: readonly Effort[] = ['max', 'xhigh', 'high', 'medium']

/** Clients may send any text. */
function isEffort(effort: string | undefined): effort is Effort {
  return effort !== undefined && Object.hasOwn(BUDGETS, effort)
}

/** undefined: the client sets neither a budget nor a known effort. */
export function askedBudget({ effort, budgetTokens }: Asked): number | undefined {
  return budgetTokens ?? (isEffort(effort) ? BUDGETS[effort] : undefined)
}

/** A budget has precedence. undefined: the client sets neither a budget nor a known effort. */
export function askedEffort({ effort, budgetTokens }: Asked): Effort | undefined {
  if (budgetTokens === undefined) return isEffort(effort) ? effort : undefined
  if (budgetTokens <= 0) return 'none'
  return BY_BUDGET.find((one) => BUDGETS[one] <= budgetTokens) ?? 'low'
}

/** The least effort of the model that is not below `asked`; else its greatest. */
export function supportedEffort(asked: Effort, { efforts }: Pick<ModelTraits, 'efforts'>): Effort {
  const least = EFFORTS.indexOf(asked)
  return efforts.find((one) => EFFORTS.indexOf(one) >= least) ?? efforts.at(-1) ?? asked
}
