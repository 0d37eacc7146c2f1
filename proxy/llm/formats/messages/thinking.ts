// Thinking of the messages format: effort to budget, and blocks with their signatures.
import { carriedSignature, carriedText } from '../../canonical/carrier.ts'
import type { Reasoning, Signature } from '../../canonical/request.ts'
import { askedBudget } from '../../canonical/thinking-budget.ts'
import { asString, type JsonObject } from '../../json.ts'

const BUDGET_MIN = 1024

/** undefined: no thinking; a budget that the vendor rejects is dropped. */
export function budgetOf(
  reasoning: Pick<Reasoning, 'effort' | 'budgetTokens'>,
  /** Of output tokens. */
  limit: number,
): number | undefined {
  const budget = askedBudget(reasoning)
  return budget === undefined || budget < BUDGET_MIN || budget >= limit ? undefined : budget
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
