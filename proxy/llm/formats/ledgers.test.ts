// Every field that the SDKs declare is in a ledger, and each ledger is right: a mapped field has an effect, a dropped
// field has none, and the error names a rejected field.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ChatFormat } from '../canonical/format.ts'
import type { JsonObject } from '../json.ts'
import { notesIn } from '../translate/translate.testing.ts'
import { completionsChat } from './completions/chat.ts'
import { REQUEST_FIELDS as COMPLETIONS_FIELDS } from './completions/fields.ts'
import { declaredMembers } from './declared.testing.ts'
import type { FieldRules } from './fields.ts'
import { COMPLETIONS_ANSWER, MESSAGES_ANSWER, RESPONSES_ANSWER } from './ledgers.testing.ts'
import { messagesChat } from './messages/chat.ts'
import { BLOCK_FIELDS, REQUEST_FIELDS as MESSAGES_FIELDS, TOOL_FIELDS as MESSAGES_TOOL } from './messages/fields.ts'
import { responsesChat } from './responses/chat.ts'
import {
  ITEM_FIELDS,
  NAMESPACE_FIELDS,
  PART_FIELDS,
  REASONING_FIELDS,
  REQUEST_FIELDS as RESPONSES_FIELDS,
  TEXT_FIELDS,
  TOOL_FIELDS,
} from './responses/fields.ts'

const MODULES = join(import.meta.dirname, '../../../node_modules')
const sdk = (path: string): string => readFileSync(join(MODULES, path), 'utf8')
const COMPLETIONS = sdk('openai/resources/chat/completions/completions.d.ts') + sdk('openai/resources/completions.d.ts')
const RESPONSES = sdk('openai/resources/responses/responses.d.ts')
const SHARED = sdk('openai/resources/shared.d.ts')
const MESSAGES = sdk('@anthropic-ai/sdk/resources/messages/messages.d.ts')

describe('requests: all fields that the SDK declares are in the ledger', () => {
  it.each<[string, string, FieldRules]>([
    ['MessageCreateParamsBase', MESSAGES, MESSAGES_FIELDS],
    ['TextBlockParam', MESSAGES, BLOCK_FIELDS],
    ['ImageBlockParam', MESSAGES, BLOCK_FIELDS],
    ['DocumentBlockParam', MESSAGES, BLOCK_FIELDS],
    ['ThinkingBlockParam', MESSAGES, BLOCK_FIELDS],
    ['RedactedThinkingBlockParam', MESSAGES, BLOCK_FIELDS],
    ['ToolUseBlockParam', MESSAGES, BLOCK_FIELDS],
    ['ToolResultBlockParam', MESSAGES, BLOCK_FIELDS],
    ['Tool', MESSAGES, MESSAGES_TOOL],
    ['ResponseCreateParamsBase', RESPONSES, RESPONSES_FIELDS],
    ['EasyInputMessage', RESPONSES, ITEM_FIELDS],
    ['ResponseInputItem.Message', RESPONSES, ITEM_FIELDS],
    ['ResponseOutputMessage', RESPONSES, ITEM_FIELDS],
    ['ResponseFunctionToolCall', RESPONSES, ITEM_FIELDS],
    ['ResponseInputItem.FunctionCallOutput', RESPONSES, ITEM_FIELDS],
    ['ResponseReasoningItem', RESPONSES, ITEM_FIELDS],
    ['ResponseInputItem.ImageGenerationCall', RESPONSES, ITEM_FIELDS],
    ['ResponseInputText', RESPONSES, PART_FIELDS],
    ['ResponseInputImage', RESPONSES, PART_FIELDS],
    ['ResponseInputFile', RESPONSES, PART_FIELDS],
    ['ResponseOutputText', RESPONSES, PART_FIELDS],
    ['ResponseOutputRefusal', RESPONSES, PART_FIELDS],
    ['FunctionTool', RESPONSES, TOOL_FIELDS],
    ['NamespaceTool', RESPONSES, NAMESPACE_FIELDS],
    ['NamespaceTool.Function', RESPONSES, TOOL_FIELDS],
    ['ResponseTextConfig', RESPONSES, TEXT_FIELDS],
    ['Reasoning', SHARED, REASONING_FIELDS],
  ])('%s', (name, source, rules) => {
    const names = declaredMembers(source, name)
    expect(names.length).toBeGreaterThan(1)
    expect(names.filter((one) => !Object.hasOwn(rules, one))).toEqual([])
  })
})

const schema = { type: 'object' }
const func = { type: 'function', function: { name: 'f' } }

/** A value of each field that has an effect where it is mapped, and is refused where it can be. */
const REQUESTS: readonly (readonly [string, ChatFormat, FieldRules, JsonObject, JsonObject])[] = [
  [
    'chat completions',
    completionsChat,
    COMPLETIONS_FIELDS,
    { tools: [func] },
    {
      audio: {},
      cache_control: { type: 'ephemeral' },
      frequency_penalty: 1,
      function_call: { name: 'f' },
      functions: [{ name: 'f' }],
      logit_bias: { 5: 1 },
      logprobs: true,
      max_completion_tokens: 9,
      max_tokens: 9,
      messages: [{ role: 'user', content: 'x' }],
      metadata: { a: 'b' },
      modalities: ['audio'],
      model: 'other',
      moderation: {},
      n: 2,
      parallel_tool_calls: false,
      prediction: {},
      presence_penalty: 1,
      prompt_cache_key: 'k',
      prompt_cache_options: {},
      prompt_cache_retention: '24h',
      reasoning_effort: 'low',
      response_format: { type: 'json_object' },
      safety_identifier: 'u',
      seed: 7,
      service_tier: 'flex',
      stop: 'END',
      store: true,
      stream: true,
      temperature: 0.5,
      thinking: { type: 'adaptive' },
      thinking_budget_tokens: 2048,
      tool_choice: 'required',
      tools: [func, func],
      top_k: 5,
      top_logprobs: 2,
      top_p: 0.5,
      user: 'u',
      verbosity: 'low',
      web_search_options: {},
    },
  ],
  [
    'messages',
    messagesChat,
    MESSAGES_FIELDS,
    {},
    {
      cache_control: { type: 'ephemeral' },
      container: 'c',
      context_management: {},
      diagnostics: {},
      inference_geo: 'eu',
      max_tokens: 9,
      mcp_servers: [{}],
      messages: [{ role: 'user', content: 'x' }],
      metadata: { user_id: 'u' },
      model: 'other',
      output_config: { format: { type: 'json_schema', schema } },
      service_tier: 'standard_only',
      speed: 'fast',
      stop_sequences: ['END'],
      stream: true,
      system: 'x',
      temperature: 0.5,
      thinking: { type: 'adaptive' },
      tool_choice: { type: 'auto' },
      tools: [{ name: 'f', input_schema: schema }],
      top_k: 5,
      top_p: 0.5,
      user_profile_id: 'u',
      workspace_id: 'w',
    },
  ],
  [
    'responses',
    responsesChat,
    RESPONSES_FIELDS,
    {},
    {
      access_programs: {},
      background: true,
      client_metadata: {},
      context_management: [],
      conversation: 'c',
      image: {},
      include: ['message.output_text.logprobs'],
      input: 'x',
      instructions: 'x',
      max_output_tokens: 9,
      max_tool_calls: 9,
      metadata: { a: 'b' },
      model: 'other',
      moderation: {},
      parallel_tool_calls: false,
      previous_response_id: 'r',
      prompt: {},
      prompt_cache_key: 'k',
      prompt_cache_options: {},
      prompt_cache_retention: '24h',
      reasoning: { effort: 'low' },
      safety_identifier: 'u',
      service_tier: 'flex',
      store: false,
      stream: true,
      stream_options: {},
      temperature: 0.5,
      text: { verbosity: 'low' },
      tool_choice: 'required',
      tools: [{ type: 'function', name: 'f' }],
      top_logprobs: 2,
      top_p: 0.5,
      truncation: 'auto',
      user: 'u',
    },
  ],
]

/** `include_usage` is read where the answer is encoded. */
const READ_ELSEWHERE: ReadonlySet<string> = new Set(['stream_options'])

describe.each(REQUESTS)('the ledger of %s requests', (_, format, rules, more, samples) => {
  const base = { model: 'm', messages: [], input: [], ...more }
  const fields = Object.fromEntries(Object.entries(base).filter(([name]) => Object.hasOwn(rules, name)))
  const decode = (sample: JsonObject) => {
    const dropped: string[] = []
    return { request: format.decodeRequest({ ...fields, ...sample }, notesIn(dropped)), dropped }
  }

  it.each(Object.entries(rules).filter(([name, rule]) => !(rule === 'mapped' && READ_ELSEWHERE.has(name))))(
    '%s',
    (name, rule) => {
      expect(Object.hasOwn(samples, name)).toBe(true)
      const sample = { [name]: samples[name] }
      if (typeof rule === 'function') {
        expect(() => decode(sample)).toThrow(`${name} `)
        return
      }
      const { request, dropped } = decode(sample)
      if (rule === 'mapped') {
        expect(dropped).toEqual([])
        expect(request).not.toEqual(decode({}).request)
      } else {
        expect(dropped).toEqual([`${name}: ${rule.dropped}`])
        expect(request).toEqual(decode({}).request)
      }
      // Null asks for nothing.
      if (!Object.hasOwn(fields, name)) expect(decode({ [name]: null })).toEqual(decode({}))
    },
  )
})

const ANSWERS = [
  ['messages', messagesChat, MESSAGES, MESSAGES_ANSWER],
  ['chat completions', completionsChat, COMPLETIONS, COMPLETIONS_ANSWER],
  ['responses', responsesChat, RESPONSES, RESPONSES_ANSWER],
] as const

describe.each(ANSWERS)('the ledger of %s answers', (_, format, source, { samples, objects }) => {
  it.each(objects)('$name', ({ name, at, fields }) => {
    const names = declaredMembers(source, name)
    expect(names.filter((one) => !Object.hasOwn(fields, one) && !OTHER_SAMPLE.has(`${name}.${one}`))).toEqual([])
    const effects = Object.entries(fields).map(([field]) => {
      const hasEffect = samples.some(
        (sample) =>
          JSON.stringify(format.decodeAnswer(without(sample, at, field))) !==
          JSON.stringify(format.decodeAnswer(sample)),
      )
      return [field, hasEffect]
    })
    expect(Object.fromEntries(effects)).toEqual(
      Object.fromEntries(Object.entries(fields).map(([field, rule]) => [field, rule === 'mapped'])),
    )
  })
})

/** `content` has precedence over `summary`: the sample with content is another item. */
const OTHER_SAMPLE: ReadonlySet<string> = new Set(['ResponseReasoningItem.content'])

function without(sample: JsonObject, at: readonly (string | number)[], field: string): JsonObject {
  const copy = structuredClone(sample)
  let object: JsonObject = copy
  // The places are those of the sample.
  for (const step of at) object = object[step] as JsonObject
  delete object[field]
  return copy
}
