// The ledger of messages requests.
import { isEmptyObject, isOne, isZero, REFUSED, type FieldRules, type SettingRules } from '../fields.ts'

export const REQUEST_FIELDS: FieldRules = {
  cache_control: 'mapped',
  container: REFUSED,
  // Of a beta: the provider edits the history. Without it, the provider gets the whole history.
  context_management: { dropped: 'the whole history is sent instead of an edited one' },
  diagnostics: { dropped: 'only asks for a report about the prompt cache' },
  inference_geo: REFUSED,
  max_tokens: 'mapped',
  mcp_servers: REFUSED,
  messages: 'mapped',
  metadata: 'mapped',
  model: 'mapped',
  output_config: 'mapped',
  service_tier: 'mapped',
  speed: { dropped: 'makes the response faster, but does not change it' },
  stop_sequences: 'mapped',
  stream: 'mapped',
  system: 'mapped',
  temperature: 'mapped',
  thinking: 'mapped',
  tool_choice: 'mapped',
  tools: 'mapped',
  top_k: 'mapped',
  top_p: 'mapped',
  user_profile_id: { dropped: 'an account of the vendor of the format' },
  workspace_id: { dropped: 'an account of the vendor of the format' },
}

/** Of all blocks that are mapped. */
export const BLOCK_FIELDS: FieldRules = {
  cache_control: 'mapped',
  caller: { dropped: 'the format has only calls by the model itself' },
  citations: 'mapped',
  content: 'mapped',
  context: 'mapped',
  data: 'mapped',
  id: 'mapped',
  input: 'mapped',
  is_error: 'mapped',
  name: 'mapped',
  signature: 'mapped',
  source: 'mapped',
  text: 'mapped',
  thinking: 'mapped',
  title: 'mapped',
  tool_use_id: 'mapped',
  toolset_name: REFUSED,
  transformations: REFUSED,
  type: 'mapped',
}

export const TOOL_FIELDS: FieldRules = {
  allowed_callers: (value) => Array.isArray(value) && value.every((one) => one === 'direct'),
  cache_control: 'mapped',
  defer_loading: { dropped: 'the definition of the tool is sent at once' },
  description: 'mapped',
  eager_input_streaming: { dropped: 'arguments stream as the provider sends them' },
  input_examples: { dropped: 'examples for the model; the schema is sent' },
  input_schema: 'mapped',
  name: 'mapped',
  strict: 'mapped',
  type: 'mapped',
}

/** Settings of other formats in this one. */
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
  user: 'mapped',
  metadata: { dropped: 'labels of stored completions; completions are not stored' },
}
