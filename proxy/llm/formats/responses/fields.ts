// The ledger of responses requests.
import {
  CACHE_HINT,
  isEmptyObject,
  isFalse,
  isOne,
  isZero,
  REFUSED,
  type FieldRules,
  type SettingRules,
} from '../fields.ts'

export const REQUEST_FIELDS: FieldRules = {
  access_programs: REFUSED,
  background: isFalse,
  // Of Codex: for the telemetry of the vendor.
  client_metadata: { dropped: 'labels for the vendor of the format' },
  context_management: { dropped: 'the whole history is sent instead of an edited one' },
  conversation: REFUSED,
  image: REFUSED,
  // Encrypted reasoning always comes back; the rest is about tools of the vendor, which are rejected.
  include: 'mapped',
  input: 'mapped',
  instructions: 'mapped',
  max_output_tokens: 'mapped',
  max_tool_calls: { dropped: 'limits only tools of the vendor, which are rejected' },
  metadata: 'mapped',
  model: 'mapped',
  moderation: REFUSED,
  parallel_tool_calls: 'mapped',
  previous_response_id: REFUSED,
  prompt: REFUSED,
  prompt_cache_key: CACHE_HINT,
  prompt_cache_options: CACHE_HINT,
  prompt_cache_retention: CACHE_HINT,
  reasoning: 'mapped',
  safety_identifier: 'mapped',
  service_tier: 'mapped',
  store: { dropped: 'responses are not stored; requests that refer to one are rejected' },
  stream: 'mapped',
  stream_options: { dropped: 'hides the length of events; the response is the same without it' },
  temperature: 'mapped',
  text: 'mapped',
  tool_choice: 'mapped',
  tools: 'mapped',
  top_logprobs: 'mapped',
  top_p: 'mapped',
  truncation: { dropped: 'the provider rejects an input that is too long' },
  user: 'mapped',
}

/** In `include`, where a client asks for the probabilities of tokens. */
export const LOGPROBS = 'message.output_text.logprobs'

export const REASONING_FIELDS: FieldRules = {
  context: { dropped: 'all reasoning that the client sends is in the request' },
  effort: 'mapped',
  generate_summary: 'mapped',
  mode: (value) => value === 'standard',
  summary: 'mapped',
}

export const TEXT_FIELDS: FieldRules = { format: 'mapped', verbosity: 'mapped' }

export const TOOL_FIELDS: FieldRules = {
  allowed_callers: (value) => Array.isArray(value) && value.every((one) => one === 'direct'),
  async: isFalse,
  defer_loading: { dropped: 'the definition of the tool is sent at once' },
  description: 'mapped',
  name: 'mapped',
  output_schema: { dropped: 'describes results for programs; the model gets the results' },
  parameters: 'mapped',
  strict: 'mapped',
  type: 'mapped',
}

/** Of a group of tools. */
export const NAMESPACE_FIELDS: FieldRules = {
  description: { dropped: 'other formats have no groups of tools; each tool keeps its own description' },
  name: 'mapped',
  tools: 'mapped',
  type: 'mapped',
}

const OF_IMAGE = { dropped: 'describes how an image was made; the image is sent' }

/** Of all items of the input that are mapped. */
export const ITEM_FIELDS: FieldRules = {
  action: OF_IMAGE,
  arguments: 'mapped',
  async: isFalse,
  background: OF_IMAGE,
  call_id: 'mapped',
  caller: { dropped: 'the format has only calls by the model itself' },
  content: 'mapped',
  encrypted_content: 'mapped',
  error: { dropped: 'an image that was not made' },
  id: { dropped: 'items are not stored' },
  name: 'mapped',
  namespace: 'mapped',
  output: 'mapped',
  output_format: 'mapped',
  phase: { dropped: 'the format has no phases of an answer' },
  quality: OF_IMAGE,
  result: 'mapped',
  revised_prompt: OF_IMAGE,
  role: 'mapped',
  size: OF_IMAGE,
  status: { dropped: 'items of a request are complete' },
  summary: 'mapped',
  svg_usage: OF_IMAGE,
  type: 'mapped',
}

export const PART_FIELDS: FieldRules = {
  annotations: { dropped: 'the format has none in requests' },
  detail: 'mapped',
  file_data: 'mapped',
  file_id: 'mapped',
  file_url: 'mapped',
  filename: 'mapped',
  image_url: 'mapped',
  logprobs: { dropped: 'the format has none in requests' },
  prompt_cache_breakpoint: CACHE_HINT,
  refusal: 'mapped',
  text: 'mapped',
  type: 'mapped',
}

/** Settings of other formats in this one. */
export const SETTINGS: SettingRules = {
  maxOutputTokens: 'mapped',
  temperature: 'mapped',
  topP: 'mapped',
  topK: REFUSED,
  stopSequences: REFUSED,
  seed: { dropped: 'best effort also at its own provider: responses may differ with the same seed' },
  frequencyPenalty: isZero,
  presencePenalty: isZero,
  logitBias: isEmptyObject,
  logprobs: 'mapped',
  candidates: isOne,
  images: REFUSED,
  reasoning: 'mapped',
  output: 'mapped',
  verbosity: 'mapped',
  parallelToolCalls: 'mapped',
  serviceTier: 'mapped',
  user: 'mapped',
  metadata: 'mapped',
}
