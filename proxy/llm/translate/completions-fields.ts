// The handling of each field of a chat-completions request in the translation to the messages format: it is mapped, or
// dropped for the reason given here, or rejected with its name. Every case is explicit; a test compares the
// tables with the declarations of the OpenAI SDK.
import type { JsonObject } from '../json.ts'
import { Untranslatable } from './untranslatable.ts'

/**
 * `mapped`: by another file. A text: why it is dropped. A function: whether the value has no effect, so that it may
 * be dropped; any other value is rejected. Null never has an effect.
 */
export type FieldRule = 'mapped' | { readonly dropped: string } | ((value: unknown) => boolean)

type Rules = Readonly<Record<string, FieldRule>>

const REFUSED: FieldRule = () => false
const CACHE_HINT: FieldRule = { dropped: 'a hint for the prompt cache; the response is the same without it' }

export const REQUEST_FIELDS: Rules = {
  audio: REFUSED,
  // Of the messages format; clients send it to providers of that format by way of this one.
  cache_control: 'mapped',
  frequency_penalty: isZero,
  function_call: (value) => value === 'none' || value === 'auto',
  functions: isEmptyList,
  logit_bias: (value) => typeof value === 'object' && value !== null && Object.keys(value).length === 0,
  logprobs: isFalse,
  max_completion_tokens: 'mapped',
  max_tokens: 'mapped',
  messages: 'mapped',
  metadata: { dropped: 'labels of stored completions; completions are not stored' },
  modalities: (value) => Array.isArray(value) && value.every((one) => one === 'text'),
  model: 'mapped',
  moderation: REFUSED,
  n: (value) => value === 1,
  parallel_tool_calls: 'mapped',
  prediction: { dropped: 'makes the response faster, but does not change it' },
  presence_penalty: isZero,
  prompt_cache_key: CACHE_HINT,
  prompt_cache_options: CACHE_HINT,
  prompt_cache_retention: CACHE_HINT,
  reasoning_effort: 'mapped',
  response_format: 'mapped',
  safety_identifier: 'mapped',
  seed: { dropped: 'best effort also at its own provider: responses may differ with the same seed' },
  service_tier: 'mapped',
  stop: 'mapped',
  store: isFalse,
  stream: 'mapped',
  stream_options: 'mapped',
  temperature: 'mapped',
  // Of the messages format.
  thinking: 'mapped',
  thinking_budget_tokens: 'mapped',
  tool_choice: 'mapped',
  tools: 'mapped',
  // Of the messages format.
  top_k: 'mapped',
  top_logprobs: isZero,
  top_p: 'mapped',
  user: 'mapped',
  verbosity: (value) => value === 'medium',
  web_search_options: REFUSED,
}

export const MESSAGE_FIELDS: Rules = {
  audio: REFUSED,
  cache_control: 'mapped',
  content: 'mapped',
  function_call: REFUSED,
  name: { dropped: 'the format has no participant names' },
  refusal: 'mapped',
  role: 'mapped',
  tool_call_id: 'mapped',
  tool_calls: 'mapped',
}

export const PART_FIELDS: Rules = {
  cache_control: 'mapped',
  // `detail` of an image is left out: the size alone decides how it is read.
  image_url: 'mapped',
  prompt_cache_breakpoint: CACHE_HINT,
  refusal: 'mapped',
  text: 'mapped',
  type: 'mapped',
}

export const FUNCTION_FIELDS: Rules = {
  cache_control: 'mapped',
  description: 'mapped',
  name: 'mapped',
  parameters: 'mapped',
  strict: 'mapped',
}

/** @throws {Untranslatable} with the name of the first unknown field, or field that cannot be dropped. */
export function checkRequestFields(body: JsonObject): void {
  checkFields(body, REQUEST_FIELDS, '')
  const unknown = Object.keys(body).find((name) => !Object.hasOwn(REQUEST_FIELDS, name) && isSet(body[name]))
  if (unknown !== undefined) throw new Untranslatable(`${shown(unknown)} is not supported by this provider`)
}

/**
 * For objects inside a request. Members outside of their format are ignored: clients send responses back with
 * whatever their library added. @throws {Untranslatable}
 */
export function checkFields(object: JsonObject, rules: Rules, path: string): void {
  for (const name of Object.keys(object)) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined
    const value = object[name]
    if (typeof rule !== 'function' || !isSet(value) || rule(value)) continue
    throw new Untranslatable(`${path}${name} ${excerpt(value)}is not supported by this provider`)
  }
}

function isSet(value: unknown): boolean {
  return value !== null && value !== undefined
}

function isZero(value: unknown): boolean {
  return value === 0
}

function isFalse(value: unknown): boolean {
  return value === false
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

/** For short values, which are more specific than the name alone. */
function excerpt(value: unknown): string {
  return typeof value === 'number' || typeof value === 'boolean' ? `${value} ` : ''
}

const NAME_CHARS_MAX = 64

/** Names come from the client. */
function shown(name: string): string {
  return JSON.stringify(name.slice(0, NAME_CHARS_MAX))
}
