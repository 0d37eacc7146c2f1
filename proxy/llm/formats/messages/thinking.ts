// Thinking of the messages format: its settings, and blocks with their signatures.
import { carriedSignature, carriedText } from '../../canonical/carrier.ts'
import type { TranslationNotes } from '../../canonical/format.ts'
import type { Reasoning, Setting, Signature } from '../../canonical/request.ts'
import { asString, type JsonObject } from '../../json.ts'
import { askedBudget, askedEffort, supportedEffort } from '../../traits/effort.ts'
import type { ModelTraits } from '../../traits/traits.ts'

export interface ThinkingContext {
  readonly traits: ModelTraits
  /** Of output tokens, if it is known. */
  readonly limit: number | undefined
  /** The client requires a call of a tool. */
  readonly isCallForced: boolean
  /** The history has a result of a call that came without the thoughts before it. */
  readonly answersCallWithoutThoughts: boolean
}

export interface ThinkingSettings {
  readonly thinking?: JsonObject | undefined
  readonly effort?: string | undefined
}

/** Settings of a client in this format have precedence; others are a hint, dropped if the vendor rejects it. */
export function thinkingSettings(
  reasoning: Setting<Reasoning> | undefined,
  context: ThinkingContext,
  notes: TranslationNotes,
): ThinkingSettings {
  if (reasoning === undefined) return {}
  const { value, at } = reasoning
  if (value.original !== undefined) return value.original
  const asked = askedEffort(value)
  if (asked === 'none' || (asked === undefined && !value.isAdaptive)) return {}
  const { traits } = context
  const budget = budgetWithin(askedBudget(value), context)
  const obstacle = asked === undefined && traits.thinking === 'Budget' ? NO_BUDGET : obstacleTo(budget, context)
  if (obstacle !== undefined) {
    notes.dropped(at, obstacle)
    return {}
  }
  if (traits.thinking === 'Budget') return { thinking: { type: 'enabled', budget_tokens: budget } }
  // Without `display`, these models send no text of their thoughts.
  const effort = asked && supportedEffort(asked, traits)
  return { thinking: { type: 'adaptive', display: 'summarized' }, effort }
}

const NO_BUDGET = 'the model thinks only with a budget, which it does not choose itself'

const BUDGET_MIN = 1024

/** undefined: the vendor rejects it. */
function budgetWithin(budget: number | undefined, { traits, limit }: ThinkingContext): number | undefined {
  if (budget === undefined || budget < Math.max(BUDGET_MIN, traits.budgetMin)) return undefined
  const within = Math.min(budget, traits.budgetMax)
  return limit === undefined || within < limit ? within : undefined
}

/** Why the vendor would reject thinking; undefined: it accepts it. */
function obstacleTo(
  budget: number | undefined,
  { traits, isCallForced, answersCallWithoutThoughts }: ThinkingContext,
): string | undefined {
  if (traits.thinking === 'None') return 'the model does not think'
  if (traits.thinking === 'Budget' && budget === undefined) return 'the limit of output tokens leaves no room'
  const isInTheWay = isCallForced && !traits.acceptsForcedCallWithThinking
  if (!isInTheWay && !answersCallWithoutThoughts) return undefined
  return 'thinking allows no forced call, and requires the thoughts before a call'
}

export function isThinking({ thinking }: ThinkingSettings): boolean {
  return thinking !== undefined && thinking['type'] !== 'disabled'
}

/** Thinking that the vendor sent only encrypted is a block of its own, marked in the value of the signature. */
const REDACTED = 'redacted_thinking:'

export function thinkingBlock(text: string, signature: Signature): JsonObject {
  const { format, value } = signature
  if (format === 'Messages' && value.startsWith(REDACTED)) {
    return { type: 'redacted_thinking', data: value.slice(REDACTED.length) }
  }
  return { type: 'thinking', thinking: text, signature: carriedText(signature, 'Messages') }
}

/** Of a block of thinking; undefined: it has none. */
export function signatureOf(block: JsonObject): Signature | undefined {
  if (block['type'] === 'redacted_thinking') {
    return { format: 'Messages', value: REDACTED + (asString(block['data']) ?? '') }
  }
  const text = asString(block['signature']) ?? ''
  return text === '' ? undefined : carriedSignature(text, 'Messages')
}
