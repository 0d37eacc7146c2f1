// Every field that the OpenAI SDK declares is mapped, dropped with a reason, or rejected with its name.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../json.ts'
import { FUNCTION_FIELDS, MESSAGE_FIELDS, PART_FIELDS, REQUEST_FIELDS } from '../formats/completions/fields.ts'
import { completionsToMessages } from './translate.testing.ts'

const SDK = join(import.meta.dirname, '../../../node_modules/openai/resources')
const COMPLETIONS = readFileSync(join(SDK, 'chat/completions/completions.d.ts'), 'utf8')
const SHARED = readFileSync(join(SDK, 'shared.d.ts'), 'utf8')

/** Names of the members of an interface, not of those inside of them. */
function declared(source: string, name: string): string[] {
  const body = new RegExp(`export interface ${name}(?: extends [^{]*)? \\{\\n([\\s\\S]*?)\\n\\}`).exec(source)?.[1]
  if (body === undefined) throw new Error(`the SDK declares no ${name}`)
  return [...body.matchAll(/^ {4}(\w+)\??:/gm)].map(([, member = '']) => member)
}

const ROLES = ['Assistant', 'User', 'System', 'Developer', 'Tool', 'Function']
const PARTS = ['Text', 'Image', 'Refusal']

describe('fields that the SDK declares', () => {
  it.each([
    ['of a request', declared(COMPLETIONS, 'ChatCompletionCreateParamsBase'), REQUEST_FIELDS],
    [
      'of messages',
      ROLES.flatMap((role) => declared(COMPLETIONS, `ChatCompletion${role}MessageParam`)),
      MESSAGE_FIELDS,
    ],
    [
      'of parts of their content',
      PARTS.flatMap((part) => declared(COMPLETIONS, `ChatCompletionContentPart${part}`)),
      PART_FIELDS,
    ],
    ['of functions', declared(SHARED, 'FunctionDefinition'), FUNCTION_FIELDS],
  ])('%s are all decided', (_, names, rules) => {
    expect(names.length).toBeGreaterThan(3)
    expect(names.filter((name) => !Object.hasOwn(rules, name))).toEqual([])
  })

  it('of streams are asked for or change nothing', () => {
    // `include_usage` is read by the translator of the stream; the other pads events against measuring their length.
    expect(declared(COMPLETIONS, 'ChatCompletionStreamOptions')).toEqual(['include_obfuscation', 'include_usage'])
  })
})

const user = { role: 'user', content: 'hi' }
const convert = (fields: JsonObject): JsonObject => completionsToMessages({ model: 'm', messages: [user], ...fields })
const tool = (name: string, more: object = {}): JsonObject => ({ type: 'function', function: { name, ...more } })
const INPUT = { type: 'object', properties: {} }
const schema = { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false }
const mark = { type: 'ephemeral' }

describe('completionsToMessages', () => {
  it.each<[string, JsonObject, JsonObject]>([
    [
      'a schema for the answer',
      { response_format: { type: 'json_schema', json_schema: { name: 'n', strict: true, schema } } },
      { output_config: { format: { type: 'json_schema', schema } } },
    ],
    ['text as the form of the answer', { response_format: { type: 'text' } }, {}],
    [
      'strict functions',
      { tools: [tool('f', { strict: true })] },
      { tools: [{ name: 'f', input_schema: INPUT, strict: true }] },
    ],
    [
      'functions of which some are allowed',
      {
        tools: [tool('f'), tool('g')],
        tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [tool('g')] } },
      },
      { tools: [{ name: 'g', input_schema: INPUT }], tool_choice: { type: 'any' } },
    ],
    [
      'thinking as the other format has it',
      { thinking: { type: 'adaptive' }, temperature: 1 },
      { thinking: { type: 'adaptive' } },
    ],
    [
      'thinking that is off',
      { thinking: { type: 'disabled' }, top_k: 5 },
      { thinking: { type: 'disabled' }, top_k: 5 },
    ],
    ['who the user is', { safety_identifier: 'u' }, { metadata: { user_id: 'u' } }],
    ['the tier of the service', { service_tier: 'default' }, { service_tier: 'standard_only' }],
    ['a mark for the cache', { cache_control: mark }, { cache_control: mark }],
    [
      'marks on tools and messages',
      {
        tools: [{ ...tool('f'), cache_control: mark }],
        messages: [
          { role: 'system', content: [{ type: 'text', text: 'long', cache_control: mark }] },
          { ...user, cache_control: mark },
        ],
      },
      {
        tools: [{ name: 'f', input_schema: INPUT, cache_control: mark }],
        system: [{ type: 'text', text: 'long', cache_control: mark }],
        messages: [{ role: 'user', content: [{ type: 'text', text: 'hi', cache_control: mark }] }],
      },
    ],
    [
      'no thinking beside a forced call',
      { tools: [tool('f')], tool_choice: 'required', reasoning_effort: 'low' },
      { tools: [{ name: 'f', input_schema: INPUT }], tool_choice: { type: 'any' } },
    ],
    [
      'no thinking behind a call without thoughts',
      {
        reasoning_effort: 'low',
        messages: [
          user,
          { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] },
          { role: 'tool', tool_call_id: 'c', content: '' },
        ],
      },
      {
        messages: [
          { role: 'user', content: [{ type: 'text', text: 'hi' }] },
          { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'f', input: {} }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c' }] },
        ],
      },
    ],
    [
      'values that ask for nothing',
      {
        n: 1,
        seed: 7,
        store: false,
        logprobs: false,
        top_logprobs: 0,
        logit_bias: {},
        frequency_penalty: 0,
        verbosity: 'medium',
        presence_penalty: 0,
        modalities: ['text'],
        audio: null,
        functions: [],
        metadata: { a: 'b' },
        prediction: null,
        odd: null,
      },
      {},
    ],
    [
      'messages and parts that are empty left out',
      {
        messages: [
          { role: 'system', content: '' },
          {
            role: 'user',
            content: [
              { type: 'text', text: '' },
              { type: 'text', text: 'hi' },
            ],
          },
          { role: 'assistant', content: null, refusal: null, audio: null, annotations: [] },
          { role: 'assistant', content: '' },
          { role: 'user', content: ' \n' },
          { role: 'assistant', content: null, refusal: 'no' },
        ],
      },
      {
        messages: [
          { role: 'user', content: [{ type: 'text', text: 'hi' }] },
          { role: 'assistant', content: [{ type: 'text', text: 'no' }] },
        ],
      },
    ],
    [
      'an image in the result of a tool',
      {
        messages: [
          {
            role: 'tool',
            tool_call_id: 'c',
            content: [
              { type: 'text', text: 'see' },
              { type: 'image_url', image_url: { url: 'data:image/JPG;base64,QUJD' } },
            ],
          },
        ],
      },
      {
        messages: [
          {
            role: 'user',
            content: [
              {
                type: 'tool_result',
                tool_use_id: 'c',
                content: [
                  { type: 'text', text: 'see' },
                  { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: 'QUJD' } },
                ],
              },
            ],
          },
        ],
      },
    ],
  ])('translates %s', (_, fields, expected) => {
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }]
    expect(convert(fields)).toEqual({ model: 'm', max_tokens: 4096, messages, ...expected })
  })

  it.each<[string, JsonObject]>([
    ['response_format other than text and json_schema', { response_format: { type: 'json_object' } }],
    ['response_format.json_schema.schema is missing', { response_format: { type: 'json_schema', json_schema: {} } }],
    ['logprobs true', { logprobs: true }],
    ['top_logprobs 3', { top_logprobs: 3 }],
    ['logit_bias', { logit_bias: { 5: 1 } }],
    ['functions', { functions: [{ name: 'f' }] }],
    ['function_call', { function_call: { name: 'f' } }],
    ['modalities', { modalities: ['text', 'audio'] }],
    ['audio', { audio: { voice: 'x', format: 'mp3' } }],
    ['frequency_penalty 0.5', { frequency_penalty: 0.5 }],
    ['presence_penalty -1', { presence_penalty: -1 }],
    ['verbosity', { verbosity: 'low' }],
    ['store true', { store: true }],
    ['web_search_options', { web_search_options: {} }],
    ['moderation', { moderation: {} }],
    ['service_tier other than', { service_tier: 'flex' }],
    ['"odd" is not supported', { odd: 1 }],
    ['tools[0].type "custom"', { tools: [{ type: 'custom', custom: { name: 'c' } }] }],
    ['tool_choice "custom"', { tools: [tool('f')], tool_choice: { type: 'custom', custom: { name: 'c' } } }],
    ['tool_choice "sometimes"', { tools: [tool('f')], tool_choice: 'sometimes' }],
    ['tool_choice requires a tool, but tools is empty', { tool_choice: 'required' }],
    [
      'tool_choice.allowed_tools names a tool',
      {
        tools: [tool('f')],
        tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [tool('g')] } },
      },
    ],
    ['tool_choice.allowed_tools requires mode', { tool_choice: { type: 'allowed_tools', allowed_tools: {} } }],
    ['messages[0].function_call', { messages: [{ role: 'assistant', content: 'x', function_call: { name: 'f' } }] }],
    ['messages[0].audio', { messages: [{ role: 'assistant', audio: { id: 'a' } }] }],
    [
      'messages[0].tool_calls[0].type "custom"',
      { messages: [{ role: 'assistant', tool_calls: [{ type: 'custom', id: 'c' }] }] },
    ],
    [
      'messages[0].content of a system message must be text',
      { messages: [{ role: 'system', content: [{ type: 'image_url', image_url: { url: 'https://x/y' } }] }] },
    ],
    [
      'messages has only system messages',
      {
        messages: [
          { role: 'system', content: 'a' },
          { role: 'user', content: '' },
        ],
      },
    ],
  ])('refuses %s', (text, fields) => expect(() => convert(fields)).toThrow(text))
})
