// Requests of other formats to providers of GenerateContent.
import { describe, expect, it } from 'vitest'
import type { FormatName } from '#api/llm/formats.ts'
import type { JsonObject } from '../json.ts'
import { parseExactObject } from '../json.ts'
import { notesIn, translationOf } from './translate.testing.ts'

const user = { role: 'user', content: 'hi' }
const HI = { role: 'user', parts: [{ text: 'hi' }] }
const f = {
  type: 'function',
  function: { name: 'f', parameters: { type: 'object', properties: { a: { type: 'string' } } } },
}
const F = { name: 'f', parameters: { type: 'OBJECT', properties: { a: { type: 'STRING' } } } }
const call = (id: string, args = '{"a":"b"}') => ({ id, type: 'function', function: { name: 'f', arguments: args } })

function converted(fields: JsonObject, from: FormatName = 'Completions') {
  const dropped: string[] = []
  const sent = translationOf(from, 'GenerateContent').request(
    { model: 'gemini-2.5-flash', messages: [user], ...fields },
    notesIn(dropped),
  )
  return { sent: parseExactObject(JSON.stringify(sent)) ?? {}, dropped: dropped.map((line) => line.split(': ')[0]) }
}

describe('a chat-completions request for Gemini', () => {
  it.each<[string, JsonObject, JsonObject, string[]?]>([
    ['a text: no model, as the path has it', { stream: true }, { contents: [HI] }],
    [
      'system texts and roles',
      {
        messages: [
          { role: 'system', content: 'one' },
          user,
          { role: 'assistant', content: 'yes' },
          { role: 'developer', content: 'two' },
          { role: 'user', content: '' },
          { role: 'user', content: 'a' },
          { role: 'user', content: 'b' },
        ],
      },
      {
        systemInstruction: { parts: [{ text: 'one' }, { text: 'two' }] },
        contents: [
          HI,
          { role: 'model', parts: [{ text: 'yes' }] },
          { role: 'user', parts: [{ text: 'a' }, { text: 'b' }] },
        ],
      },
    ],
    [
      'settings',
      {
        max_completion_tokens: 9,
        temperature: 2,
        top_p: 0.5,
        stop: ['END'],
        seed: 7,
        frequency_penalty: 0.25,
        presence_penalty: -1,
        n: 1,
        service_tier: 'default',
        user: 'u',
        metadata: { a: 'b' },
      },
      {
        contents: [HI],
        generationConfig: {
          maxOutputTokens: 9,
          temperature: 2,
          topP: 0.5,
          stopSequences: ['END'],
          seed: 7,
          frequencyPenalty: 0.25,
          presencePenalty: -1,
        },
        serviceTier: 'standard',
      },
      ['user', 'metadata'],
    ],
    [
      'structured output',
      {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'n', schema: { type: 'object', properties: {} } },
        },
      },
      {
        contents: [HI],
        generationConfig: { responseMimeType: 'application/json', responseSchema: { type: 'OBJECT', properties: {} } },
      },
    ],
    [
      'any JSON',
      { response_format: { type: 'json_object' } },
      { contents: [HI], generationConfig: { responseMimeType: 'application/json' } },
    ],
    [
      'media',
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'image_url', image_url: { url: 'data:image/jpg;base64,QUJD' } },
              { type: 'image_url', image_url: { url: 'https://x.example/a.PNG?b=c' } },
              { type: 'image_url', image_url: { url: 'https://x.example/a' } },
              { type: 'input_audio', input_audio: { data: 'QUJD', format: 'wav' } },
              { type: 'file', file: { file_data: 'data:application/pdf;base64,QUJD' } },
            ],
          },
        ],
      },
      {
        contents: [
          {
            role: 'user',
            parts: [
              { inlineData: { mimeType: 'image/jpeg', data: 'QUJD' } },
              { fileData: { fileUri: 'https://x.example/a.PNG?b=c', mimeType: 'image/png' } },
              { fileData: { fileUri: 'https://x.example/a' } },
              { inlineData: { mimeType: 'audio/wav', data: 'QUJD' } },
              { inlineData: { mimeType: 'application/pdf', data: 'QUJD' } },
            ],
          },
        ],
      },
    ],
    [
      'tools, a choice among them, and results in one content',
      {
        tools: [
          { ...f, function: { ...f.function, strict: true } },
          { type: 'function', function: { name: 'now' } },
        ],
        tool_choice: { type: 'function', function: { name: 'now' } },
        messages: [
          user,
          { role: 'assistant', content: null, tool_calls: [call('c1', '{"a":12345678901234567890}'), call('c2', '')] },
          { role: 'tool', tool_call_id: 'c1', content: 'sunny' },
          { role: 'tool', tool_call_id: 'c2', content: '{"t":1}' },
        ],
      },
      {
        tools: [{ functionDeclarations: [F, { name: 'now' }] }],
        toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['now'] } },
        contents: [
          HI,
          {
            role: 'model',
            parts: [
              { functionCall: { id: 'c1', name: 'f', args: parseExactObject('{"a":12345678901234567890}') } },
              { functionCall: { id: 'c2', name: 'f', args: {} } },
            ],
          },
          {
            role: 'user',
            parts: [
              { functionResponse: { id: 'c1', name: 'f', response: { output: 'sunny' } } },
              { functionResponse: { id: 'c2', name: 'f', response: { t: 1 } } },
            ],
          },
        ],
      },
      ['tools[0].strict'],
    ],
    ['a required call', { tools: [f], tool_choice: 'required' }, { contents: [HI], ...toolsWith('ANY') }],
    ['no call', { tools: [f], tool_choice: 'none' }, { contents: [HI], ...toolsWith('NONE') }],
    [
      'one call at a time, which Gemini may exceed',
      { tools: [f], tool_choice: 'auto', parallel_tool_calls: false },
      { contents: [HI], ...toolsWith('AUTO') },
      ['parallel_tool_calls'],
    ],
  ])('%s', (_, fields, expected, notes = []) => {
    const { sent, dropped } = converted(fields)
    expect(sent).toEqual(expected)
    expect(new Set(dropped)).toEqual(new Set(notes))
  })

  it.each<[string, JsonObject, string]>([
    ['only system texts', { messages: [{ role: 'system', content: 'x' }] }, 'messages has only system messages'],
    [
      'the result of a call that is absent',
      { messages: [user, { role: 'tool', tool_call_id: 'c9', content: 'x' }] },
      'answers a tool call that is not in front of it',
    ],
    ['several answers', { n: 2 }, 'n 2 is not supported'],
    ['another service tier', { service_tier: 'scale' }, 'service_tier other than auto, default, flex and priority'],
  ])('with %s is refused', (_, fields, message) => expect(() => converted(fields)).toThrow(message))
})

function toolsWith(mode: string): JsonObject {
  return { tools: [{ functionDeclarations: [F] }], toolConfig: { functionCallingConfig: { mode } } }
}

describe('thinking', () => {
  const configOf = (fields: JsonObject, from?: FormatName): unknown =>
    (converted(fields, from).sent['generationConfig'] as JsonObject | undefined)?.['thinkingConfig']

  it.each<[string, string, JsonObject]>([
    ['gemini-2.5-flash', 'none', { thinkingBudget: 0, includeThoughts: false }],
    ['gemini-2.5-pro', 'none', { thinkingBudget: 128, includeThoughts: false }],
    ['gemini-2.5-flash', 'minimal', { thinkingBudget: 1024, includeThoughts: true }],
    ['gemini-2.5-flash', 'medium', { thinkingBudget: 2048, includeThoughts: true }],
    ['gemini-2.5-flash', 'high', { thinkingBudget: 4096, includeThoughts: true }],
    ['gemini-3-flash', 'none', { thinkingLevel: 'MINIMAL', includeThoughts: false }],
    ['gemini-3-pro-preview', 'minimal', { thinkingLevel: 'LOW', includeThoughts: true }],
    ['gemini-3-pro-preview', 'medium', { thinkingLevel: 'HIGH', includeThoughts: true }],
    ['models/gemini-3.1-pro', 'medium', { thinkingLevel: 'MEDIUM', includeThoughts: true }],
    ['gemini-3-flash', 'low', { thinkingLevel: 'LOW', includeThoughts: true }],
    ['gemini-3-flash', 'high', { thinkingLevel: 'HIGH', includeThoughts: true }],
  ])('of %s with effort %s', (model, effort, expected) => {
    expect(configOf({ model, reasoning_effort: effort })).toEqual(expected)
  })

  it('of a messages client', () => {
    const thinking = (value: object) => ({ max_tokens: 9, thinking: value })
    expect(configOf(thinking({ type: 'enabled', budget_tokens: 99_999 }), 'Messages')).toEqual({
      thinkingBudget: 24_576,
      includeThoughts: true,
    })
    expect(configOf(thinking({ type: 'adaptive', display: 'omitted' }), 'Messages')).toEqual({
      thinkingBudget: -1,
      includeThoughts: false,
    })
    expect(configOf(thinking({ type: 'disabled' }), 'Messages')).toEqual({ thinkingBudget: 0, includeThoughts: false })
  })

  it('is dropped for models that do not think', () => {
    const { sent, dropped } = converted({ model: 'gemini-2.0-flash', reasoning_effort: 'high' })
    expect([sent, dropped]).toEqual([{ contents: [HI] }, ['reasoning_effort']])
  })
})

describe('the signatures of thoughts', () => {
  /** What Google sent, as a client with the format gives it back. */
  const back = (model: string, parts: JsonObject[]): unknown => {
    const translation = translationOf('Completions', 'GenerateContent')
    const answer = { candidates: [{ content: { parts }, finishReason: 'STOP' }], responseId: 'r:1' }
    const { choices } = translation.answer(answer, 0) as {
      readonly choices: readonly { readonly message: JsonObject }[]
    }
    const { sent } = converted({ model, messages: [user, choices[0]?.message] })
    return (sent['contents'] as readonly { readonly parts: unknown }[])[1]?.parts
  }
  const fc = { name: 'f', args: {} }

  it('go back to the parts that had them', () => {
    const parts = [
      { text: 'I think', thought: true },
      { text: 'I look.' },
      { functionCall: { ...fc, id: 'x:%1' }, thoughtSignature: 'a:b+/=' },
      { functionCall: { ...fc, id: 'y' } },
    ]
    const [, ...rest] = parts
    // Thoughts without a signature of their own are not needed.
    expect(back('gemini-3-pro', parts)).toEqual(rest)
  })

  it('also those of texts, of thoughts, and behind the last text', () => {
    const parts = [
      { text: 'I think', thought: true, thoughtSignature: 'x' },
      { text: 'Yes.', thoughtSignature: 'y' },
    ]
    expect(back('gemini-3-pro', parts)).toEqual(parts)
    expect(back('gemini-3-pro', [{ text: '', thoughtSignature: 'y' }])).toEqual([{ text: '', thoughtSignature: 'y' }])
  })

  it('of calls without an id stay with their calls', () => {
    expect(back('gemini-3-pro', [{ functionCall: fc, thoughtSignature: 's' }, { functionCall: fc }])).toEqual([
      { functionCall: { ...fc, id: 'call_r:1_0' }, thoughtSignature: 's' },
      { functionCall: { ...fc, id: 'call_r:1_1' } },
    ])
  })

  it('of calls by other models are replaced where the model demands them', () => {
    const parts = [{ functionCall: { ...fc, id: 'x' } }, { functionCall: { ...fc, id: 'y' } }]
    expect(back('gemini-2.5-flash', parts)).toEqual(parts)
    expect(back('gemini-3-pro', parts)).toEqual([
      { ...parts[0], thoughtSignature: 'skip_thought_signature_validator' },
      parts[1],
    ])
  })
})

it('marks for the cache and citations are dropped', () => {
  const cache_control = { type: 'ephemeral' }
  const text = { type: 'text', text: 'hi', cache_control }
  const { sent, dropped } = converted({ messages: [{ role: 'user', content: [text] }], max_tokens: 9 }, 'Messages')
  expect([sent['contents'], dropped]).toEqual([[HI], ['messages[0].content[0].cache_control']])
})

describe('media in the result of a tool', () => {
  const messages = [
    user,
    { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'f', input: {} }] },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 't1',
          is_error: true,
          content: [
            { type: 'text', text: 'broken' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'QUJD' } },
          ],
        },
      ],
    },
  ]
  const image = { inlineData: { mimeType: 'image/png', data: 'QUJD' } }
  const result = { id: 't1', name: 'f', response: { error: 'broken' } }
  const partsFor = (model: string) => {
    const { sent } = converted({ model, messages, max_tokens: 9 }, 'Messages')
    return (sent['contents'] as readonly { readonly parts: unknown }[])[2]?.parts
  }

  it('are within it since version 3, and behind it before', () => {
    expect(partsFor('gemini-3-pro')).toEqual([{ functionResponse: { ...result, parts: [image] } }])
    expect(partsFor('gemini-2.5-pro')).toEqual([{ functionResponse: result }, image])
  })
})
