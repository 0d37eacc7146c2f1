// The ledger of chat-completions requests.
import { CACHE_HINT, isEmptyList, isFalse, isOne, REFUSED, type FieldRules, type SettingRules } from '../fields.ts'

export const REQUEST_FIELDS: FieldRules = {
  audio: REFUSED,
  // Of the messages format; clients send it to providers of that format by way of this one.
  cache_control: 'mapped',
  frequency_penalty: 'mapped',
  function_call: (value) => value === 'none' || value === 'auto',
  functions: isEmptyList,
  logit_bias: 'mapped',
  logprobs: 'mapped',
  max_completion_tokens: 'mapped',
  max_tokens: 'mapped',
  messages: 'mapped',
  metadata: 'mapped',
  // Images are a setting; see `decode-request.ts`.
  modalities: (value) => Array.isArray(value) && value.every((one) => one === 'text' || one === 'image'),
  model: 'mapped',
  moderation: REFUSED,
  n: 'mapped',
  parallel_tool_calls: 'mapped',
  prediction: { dropped: 'makes the response faster, but does not change it' },
  presence_penalty: 'mapped',
  prompt_cache_key: CACHE_HINT,
  prompt_cache_options: CACHE_HINT,
  prompt_cache_retention: CACHE_HINT,
  reasoning_effort: 'mapped',
  response_format: 'mapped',
  safety_identifier: 'mapped',
  seed: 'mapped',
  service_tier: 'mapped',
  stop: 'mapped',
  store: isFalse,
  stream: 'mapped',
  // `include_usage` is read where the answer is encoded; the other option hides the length of events.
  stream_options: 'mapped',
  temperature: 'mapped',
  // Of the messages format.
  thinking: 'mapped',
  thinking_budget_tokens: 'mapped',
  tool_choice: 'mapped',
  tools: 'mapped',
  // Of the messages format.
  top_k: 'mapped',
  top_logprobs: 'mapped',
  top_p: 'mapped',
  user: 'mapped',
  verbosity: 'mapped',
  web_search_options: REFUSED,
}

export const MESSAGE_FIELDS: FieldRules = {
  audio: REFUSED,
  cache_control: 'mapped',
  content: 'mapped',
  function_call: REFUSED,
  // Of providers of other models.
  images: 'mapped',
  name: { dropped: 'the format has no participant names' },
  // Of providers of open models.
  reasoning_content: 'mapped',
  refusal: 'mapped',
  role: 'mapped',
  // Reasoning with its signature; see thinking.ts.
  thinking_blocks: 'mapped',
  tool_call_id: 'mapped',
  tool_calls: 'mapped',
}

export const PART_FIELDS: FieldRules = {
  cache_control: 'mapped',
  file: 'mapped',
  image_url: 'mapped',
  input_audio: 'mapped',
  prompt_cache_breakpoint: CACHE_HINT,
  refusal: 'mapped',
  text: 'mapped',
  type: 'mapped',
}

export const FUNCTION_FIELDS: FieldRules = {
  cache_control: 'mapped',
  description: 'mapped',
  name: 'mapped',
  parameters: 'mapped',
  strict: 'mapped',
}

/** Settings of other formats in this one. */
export const SETTINGS: SettingRules = {
  maxOutputTokens: 'mapped',
  temperature: 'mapped',
  topP: 'mapped',
  topK: REFUSED,
  stopSequences: 'mapped',
  seed: 'mapped',
  frequencyPenalty: 'mapped',
  presencePenalty: 'mapped',
  logitBias: 'mapped',
  logprobs: 'mapped',
  // The canonical answer has one.
  candidates: isOne,
  images: REFUSED,
  reasoning: 'mapped',
  output: 'mapped',
  verbosity: 'mapped',
  parallelToolCalls: 'mapped',
  serviceTier: 'mapped',
  user: 'mapped',
  metadata: { dropped: 'labels of stored completions; completions are not stored' },
}
