// How much a Gemini model may think (data-plane supplement section 3.9): models since version 3 have a level, older
// ones a budget of tokens.
import type { TranslationNotes } from '../../canonical/format.ts'
import type { Reasoning, Setting } from '../../canonical/request.ts'
import { askedBudget } from '../../canonical/thinking-budget.ts'
import { defined } from '../fields.ts'
import type { JsonObject } from '../../json.ts'

/** The model decides. */
const DYNAMIC = -1

/** Since version 3: its thinking has levels, and it rejects calls in the history without their signature. */
export function isSince3(model: string): boolean {
  return /(?:^|\/)gemini-(?:[3-9]|\d\d)(?!\d)/.test(model)
}

function isPro(model: string): boolean {
  return /(?:^|\/)gemini-[\d.]+-pro/.test(model)
}

export function thinkingConfig(
  { value, at }: Setting<Reasoning>,
  model: string,
  notes: TranslationNotes,
): JsonObject | undefined {
  if (/(?:^|\/)(?:gemma|gemini-[12]\.0|gemini-1\.5)/.test(model)) {
    notes.dropped(at, 'the model does not think')
    return undefined
  }
  const { effort, original, summary } = value
  const isOff = effort === 'none' || original?.thinking?.['type'] === 'disabled'
  return defined({
    ...amountOf(isOff ? { ...value, effort: 'none', budgetTokens: undefined } : value, model),
    // Clients of other formats get thoughts whenever they ask for thinking.
    includeThoughts: !isOff && (original === undefined || summary !== undefined),
  })
}

function amountOf(reasoning: Reasoning, model: string): JsonObject {
  const budget = budgetOf(reasoning)
  if (budget === undefined) return {}
  if (!isSince3(model)) return { thinkingBudget: boundedBudget(budget, model) }
  const isMinimal = reasoning.effort === 'minimal' && reasoning.budgetTokens === undefined
  return { thinkingLevel: levelOf(isMinimal ? 0 : budget, model) }
}

function budgetOf(reasoning: Reasoning): number | undefined {
  return askedBudget(reasoning) ?? (reasoning.isAdaptive ? DYNAMIC : undefined)
}

/** undefined: the default of the model. */
function levelOf(budget: number, model: string): string | undefined {
  if (budget === DYNAMIC) return undefined
  // Models of the kind pro think at least at the level low, and the first of them has no level medium.
  if (budget <= 0) return isPro(model) ? 'LOW' : 'MINIMAL'
  if (budget < 2048) return 'LOW'
  return budget < 4096 && !/(?:^|\/)gemini-3-pro/.test(model) ? 'MEDIUM' : 'HIGH'
}

/** The vendor rejects other budgets. */
function boundedBudget(budget: number, model: string): number {
  if (budget === DYNAMIC) return budget
  if (isPro(model)) return Math.min(Math.max(budget, PRO_BUDGET_MIN), PRO_BUDGET_MAX)
  return Math.min(budget, BUDGET_MAX)
}

const PRO_BUDGET_MIN = 128
const PRO_BUDGET_MAX = 32_768
const BUDGET_MAX = 24_576
