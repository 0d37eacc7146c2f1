// Laws of requests: a format restores its own requests through the canonical form, and what two formats share survives
// the way to the other one and back.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '#test/run/runs.ts'
import { completionsChat } from '../formats/completions/chat.ts'
import { messagesChat } from '../formats/messages/chat.ts'
import { responsesChat } from '../formats/responses/chat.ts'
import { parseExactObject, type JsonObject } from '../json.ts'
import { notesIn } from './translate.testing.ts'

const RUNS = { numRuns: runs(500) }

/** Not white space alone, which vendors reject. */
const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).map((value) => `.${value}`)
const word = fc.stringMatching(/^[a-z_]{1,10}$/)
const json = fc.dictionary(word, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })
const base64 = fc.base64String({ minLength: 4, maxLength: 12 })
const share = fc.double({ min: 0, max: 1, noNaN: true })
const schema = json.map((properties) => ({ type: 'object', properties }))

/** A record of which any members may be missing. */
const some = (members: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<JsonObject> =>
  fc.record(members, { requiredKeys: [] })

const messagesSettings = some({
  temperature: share,
  top_p: share,
  top_k: fc.nat({ max: 50 }),
  stop_sequences: fc.array(text, { minLength: 1, maxLength: 3 }),
  stream: fc.constant(true),
  system: text,
  metadata: fc.record({ user_id: word }),
  service_tier: fc.constantFrom('auto', 'standard_only'),
  cache_control: fc.constant({ type: 'ephemeral', ttl: '1h' }),
  output_config: fc.record({
    effort: fc.constantFrom('low', 'max'),
    format: schema.map((value) => ({ type: 'json_schema', schema: value })),
  }),
})

const cached = fc.constantFrom({}, { cache_control: { type: 'ephemeral' } })
const textBlock = fc.tuple(text, cached).map(([value, mark]) => ({ type: 'text', text: value, ...mark }))
const imageBlock = fc
  .tuple(base64, cached)
  .map(([data, mark]) => ({ type: 'image', source: { type: 'base64', media_type: 'image/png', data }, ...mark }))
const resultBlock = fc
  .tuple(word, fc.array(fc.oneof(textBlock, imageBlock), { minLength: 1, maxLength: 2 }))
  .map(([id, content]) => ({ type: 'tool_result', tool_use_id: id, content: [...content, PIXEL] }))
const PIXEL = { type: 'image', source: { type: 'url', url: 'https://x/y.png' } }
const useBlock = fc.tuple(word, word, json).map(([id, name, input]) => ({ type: 'tool_use', id, name, input }))
const thinkingBlock = fc.oneof(
  fc.tuple(text, word).map(([thinking, signature]) => ({ type: 'thinking', thinking, signature })),
  word.map((data) => ({ type: 'redacted_thinking', data })),
)

/** Results first, and roles in turn: vendors demand both. */
const messagesTurns = fc
  .array(
    fc.tuple(
      fc.array(resultBlock, { maxLength: 2 }),
      fc.array(fc.oneof(textBlock, imageBlock), { minLength: 1, maxLength: 3 }),
      fc.array(thinkingBlock, { maxLength: 2 }),
      fc.array(fc.oneof(textBlock, useBlock), { minLength: 1, maxLength: 3 }),
    ),
    { minLength: 1, maxLength: 3 },
  )
  .map((turns) =>
    turns.flatMap(([results, user, thinking, assistant]) => [
      { role: 'user', content: [...results, ...user] },
      { role: 'assistant', content: [...thinking, ...assistant] },
    ]),
  )

const messagesTools = some({
  tools: fc.array(
    fc.tuple(word, text, schema, cached).map(([name, description, input_schema, mark]) => ({
      name,
      description,
      input_schema,
      strict: true,
      ...mark,
    })),
    { minLength: 1, maxLength: 2 },
  ),
})

const completionsUser = fc.oneof(
  text,
  fc.tuple(text, base64, base64).map(([value, png, pdf]) => [
    { type: 'text', text: value },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${png}`, detail: 'low' } },
    { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` } },
  ]),
)
const completionsAssistant = fc.oneof(
  text.map((content) => ({ role: 'assistant', content })),
  fc.tuple(text, fc.array(fc.tuple(word, word, json), { minLength: 1, maxLength: 2 })).map(([reasoning, calls]) => ({
    role: 'assistant',
    content: null,
    reasoning_content: reasoning,
    tool_calls: calls.map(([id, name, input]) => ({
      id,
      type: 'function',
      function: { name, arguments: JSON.stringify(input) },
    })),
  })),
)
const completionsMessage = fc.oneof(
  text.map((content) => ({ role: 'system', content })),
  completionsUser.map((content) => ({ role: 'user', content })),
  completionsAssistant,
  fc.tuple(word, text).map(([id, content]) => ({ role: 'tool', tool_call_id: id, content })),
)
const completionsSettings = some({
  max_completion_tokens: fc.nat(),
  temperature: share,
  top_p: share,
  stop: fc.array(text, { minLength: 1, maxLength: 3 }),
  seed: fc.integer(),
  frequency_penalty: share,
  presence_penalty: share,
  reasoning_effort: fc.constantFrom('none', 'low', 'xhigh'),
  verbosity: fc.constantFrom('low', 'high'),
  service_tier: fc.constantFrom('auto', 'flex'),
  user: word,
  response_format: fc.oneof(
    fc.constantFrom({ type: 'text' }, { type: 'json_object' }),
    schema.map((value) => ({ type: 'json_schema', json_schema: { name: 'n', strict: true, schema: value } })),
  ),
  tools: fc.array(
    fc
      .tuple(word, text, schema)
      .map(([name, description, parameters]) => ({ type: 'function', function: { name, description, parameters } })),
    { minLength: 1, maxLength: 2 },
  ),
})

const responsesItem = fc.oneof(
  fc.tuple(text, base64).map(([value, png]) => ({
    type: 'message',
    role: 'user',
    content: [
      { type: 'input_text', text: value },
      { type: 'input_image', image_url: `data:image/png;base64,${png}`, detail: 'high' },
    ],
  })),
  text.map((value) => ({
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text: value, annotations: [] }],
  })),
  fc.tuple(word, word, json).map(([call_id, name, input]) => ({
    type: 'function_call',
    call_id,
    name,
    arguments: JSON.stringify(input),
  })),
  fc.tuple(word, text).map(([call_id, output]) => ({ type: 'function_call_output', call_id, output })),
  fc.tuple(word, word, text).map(([id, encrypted_content, value]) => ({
    type: 'reasoning',
    id,
    encrypted_content,
    summary: [{ type: 'summary_text', text: value }],
  })),
)
const responsesSettings = some({
  instructions: text,
  max_output_tokens: fc.nat(),
  temperature: share,
  top_p: share,
  metadata: fc.record({ a: word }),
  user: word,
  service_tier: fc.constantFrom('auto', 'flex'),
  stream: fc.constant(true),
  text: fc.record({
    format: schema.map((value) => ({ type: 'json_schema', name: 'n', strict: true, schema: value })),
    verbosity: fc.constant('low'),
  }),
})

const REQUESTS = [
  [
    'chat completions',
    completionsChat,
    fc
      .tuple(completionsSettings, fc.array(completionsMessage, { minLength: 1, maxLength: 5 }))
      .map(([settings, messages]) => ({ model: 'm', ...settings, messages })),
  ],
  [
    'messages',
    messagesChat,
    fc
      .tuple(messagesSettings, messagesTools, messagesTurns)
      .map(([settings, tools, messages]) => ({ model: 'm', max_tokens: 9, ...settings, ...tools, messages })),
  ],
  [
    'responses',
    responsesChat,
    fc
      .tuple(responsesSettings, fc.array(responsesItem, { minLength: 1, maxLength: 5 }))
      .map(([settings, input]) => ({ model: 'm', store: false, ...settings, input: apart(input) })),
  ],
] as const

/** Messages of the model that follow each other are one turn, and would become one item. */
function apart(items: readonly JsonObject[]): readonly JsonObject[] {
  const user = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'x' }] }
  return items.flatMap((item) => (item['role'] === 'assistant' ? [user, item, user] : [item]))
}

/** As it is sent. */
const sent = (body: unknown): JsonObject => parseExactObject(JSON.stringify(body)) ?? {}

describe.each(REQUESTS)('%s', (_, format, requests) => {
  it('restores its own requests', () => {
    fc.assert(
      fc.property<[JsonObject]>(requests, (request) => {
        const notes = notesIn([])
        const body = sent(request)
        expect(sent(format.encodeRequest(format.decodeRequest(body, notes), notes))).toEqual(body)
      }),
      RUNS,
    )
  })
})
