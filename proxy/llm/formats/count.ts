// Answers to requests that count tokens.
import { asNumber } from '../json.ts'
import type { SentFormat } from './format.ts'

/** Reads CEL `llm.countTokens`; the count is not the usage of the call. */
export function observeCount(member: string): SentFormat['observe'] {
  return (facts, answer) => {
    facts.countTokens = asNumber(answer[member]) ?? facts.countTokens
  }
}
