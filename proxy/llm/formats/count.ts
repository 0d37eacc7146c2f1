// Answers to requests that count tokens.
import { asCount } from '../json.ts'
import type { SentFormat } from './format.ts'

/** Reads CEL `llm.countTokens`; the count is not the usage of the call. */
export function observeCount(member: string): SentFormat['observe'] {
  return (facts, answer) => {
    facts.countTokens = asCount(answer[member]) ?? facts.countTokens
  }
}
