// How much a Gemini model may think (data-plane supplement section 3.9): models since version 3 have a level, older
// ones a budget of tokens.
import type { TranslationNotes } from '../../canonical/format.ts'
import type { Reasoning, Setting } from '../../canonical/request.ts'
import { defined } from '../fields.ts'
import type { JsonObject } from '../../json.ts'
import { askedBudget, askedEffort, supportedEffort } from '../../traits/effort.ts'
import { traitsOf } from '../../traits/table.ts'
import type { ModelTraits } from '../../traits/traits.ts'

/** The model decides. */
const DYNAMIC = -1

export function thinkingConfig(
  { value, at }: Setting<Reasoning>,
  model: string,
  notes: TranslationNotes,
): JsonObject | undefined {
  const traits = traitsOf(model)
  if (traits.thinking === 'None') {
    notes.dropped(at, 'the model does not think')
    return undefined
  }
  const { effort, original, summary } = value
  const isOff = effort === 'none' || original?.thinking?.['type'] === 'disabled'
  return defined({
    ...amountOf(isOff ? { ...value, effort: 'none', budgetTokens: undefined } : value, traits),
    // Clients of other formats get thoughts whenever they ask for thinking.
    includeThoughts: !isOff && (original === undefined || summary !== undefined),
  })
}

function amountOf(reasoning: Reasoning, traits: ModelTraits): JsonObject {
  if (traits.thinking === 'Level') {
    const asked = askedEffort(reasoning)
    return asked === undefined ? {} : { thinkingLevel: supportedEffort(asked, traits).toUpperCase() }
  }
  const budget = askedBudget(reasoning)
  if (budget !== undefined) return { thinkingBudget: boundedBudget(budget, traits) }
  return reasoning.isAdaptive ? { thinkingBudget: DYNAMIC } : {}
}

/** The vendor rejects other budgets. */
function boundedBudget(budget: number, { budgetMin, budgetMax, canStopThinking }: ModelTraits): number {
  if (budget === DYNAMIC || (budget === 0 && canStopThinking)) return budget
  return Math.min(Math.max(budget, budgetMin), budgetMax)
}
