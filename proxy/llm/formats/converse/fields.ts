// The ledger of settings of other formats in Converse requests. No client uses the format: ledger.test.ts lists the
// fields of its requests and answers.
import { isEmptyObject, isOne, isZero, REFUSED, type SettingRules } from '../fields.ts'

export const SETTINGS: SettingRules = {
  maxOutputTokens: 'mapped',
  temperature: 'mapped',
  topP: 'mapped',
  topK: 'mapped',
  stopSequences: 'mapped',
  seed: { dropped: 'best effort also at its own provider: responses may differ with the same seed' },
  frequencyPenalty: isZero,
  presencePenalty: isZero,
  logitBias: isEmptyObject,
  logprobs: REFUSED,
  candidates: isOne,
  images: REFUSED,
  reasoning: 'mapped',
  output: 'mapped',
  verbosity: (value) => value === 'medium',
  parallelToolCalls: 'mapped',
  serviceTier: 'mapped',
  user: { dropped: 'the provider has no field for the end user' },
  metadata: { dropped: 'labels of stored completions; completions are not stored' },
}
