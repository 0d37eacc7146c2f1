// The ledger of settings of other formats in GenerateContent.
import { isEmptyObject, isOne, type SettingRules } from '../fields.ts'

export const SETTINGS: SettingRules = {
  maxOutputTokens: 'mapped',
  temperature: 'mapped',
  topP: 'mapped',
  topK: 'mapped',
  stopSequences: 'mapped',
  seed: 'mapped',
  frequencyPenalty: 'mapped',
  presencePenalty: 'mapped',
  logitBias: isEmptyObject,
  logprobs: 'mapped',
  candidates: isOne,
  images: 'mapped',
  reasoning: 'mapped',
  output: 'mapped',
  verbosity: (value) => value === 'medium',
  parallelToolCalls: 'mapped',
  serviceTier: 'mapped',
  user: { dropped: 'the format has no field for it' },
  metadata: { dropped: 'labels of stored completions; completions are not stored' },
}
