// Requests of Gemini clients to providers of all other formats.
import { describe, expect, it } from 'vitest'
import type { SentFormatName } from '#api/llm/formats.ts'
import { parseExactObject, type JsonObject } from '../json.ts'
import { notesIn, translationOf } from './translate.testing.ts'

const hi = { role: 'user', parts: [{ text: 'hi' }] }
const inlineData = { mimeType: 'image/jpg', data: 'QUJD' }

interface Converted {
  readonly request: JsonObject
  readonly dropped: readonly string[]
}

function converted(to: SentFormatName, fields: JsonObject): Converted {
  const dropped: string[] = []
  const request = translationOf('GenerateContent', to).request(
    { model: 'm', stream: false, contents: [hi], ...fields },
    notesIn(dropped),
  )
  return { request, dropped: dropped.map((line) => line.split(': ')[0] ?? '') }
}

const CONFIG = {
  maxOutputTokens: 99,
  temperature: 0.5,
  topP: 0.9,
  stopSequences: ['END'],
  thinkingConfig: { thinkingBudget: 2048, includeThoughts: true },
}
const GOOGLE_SCHEMA = {
  type: 'OBJECT',
  properties: {
    a: { type: 'STRING', nullable: true, enum: ['x'] },
    n: { type: 'ARRAY', minItems: '1', items: { type: 'INTEGER' } },
  },
  required: ['a', 'n'],
  propertyOrdering: ['n', 'a'],
}
const JSON_SCHEMA = {
  type: 'object',
  properties: {
    a: { type: ['string', 'null'], enum: ['x', null] },
    n: { type: 'array', minItems: 1, items: { type: 'integer' } },
  },
  required: ['a', 'n'],
}

describe('settings', () => {
  it.each<[SentFormatName, JsonObject]>([
    [
      'Completions',
      {
        messages: [{ role: 'user', content: 'hi' }],
        max_completion_tokens: 99,
        temperature: 0.5,
        top_p: 0.9,
        stop: ['END'],
        reasoning_effort: 'medium',
        service_tier: 'default',
      },
    ],
    [
      'Messages',
      {
        messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
        max_tokens: 4000,
        stop_sequences: ['END'],
        thinking: { type: 'enabled', budget_tokens: 2048 },
        service_tier: 'standard_only',
      },
    ],
    [
      'Converse',
      {
        messages: [{ role: 'user', content: [{ text: 'hi' }] }],
        inferenceConfig: { maxTokens: 99, stopSequences: ['END'], temperature: 0.5, topP: 0.9 },
      },
    ],
  ])('of a request to %s', (to, expected) => {
    const generationConfig = { ...CONFIG, ...(to === 'Messages' && { maxOutputTokens: 4000 }) }
    const { model: _, ...request } = converted(to, { generationConfig, serviceTier: 'STANDARD' }).request
    expect(request).toMatchObject(expected)
  })

  it('of a request to the responses format', () => {
    const { stopSequences: _, ...generationConfig } = CONFIG
    expect(converted('Responses', { generationConfig }).request).toEqual({
      model: 'm',
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] }],
      store: false,
      max_output_tokens: 99,
      temperature: 0.5,
      top_p: 0.9,
      reasoning: { effort: 'medium', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
    })
  })

  it.each<[JsonObject, unknown, string[]]>([
    [{ thinkingBudget: 0 }, 'none', []],
    [{ thinkingBudget: -1 }, undefined, []],
    [{ thinkingBudget: 5000 }, 'high', []],
    [{ thinkingLevel: 'MINIMAL' }, 'minimal', []],
    [{ thinkingLevel: 'high', includeThoughts: true }, 'high', []],
    [{ thinkingLevel: 'THINKING_LEVEL_UNSPECIFIED' }, undefined, []],
    [{ includeThoughts: true }, undefined, []],
  ])('thinking %j has the effort %s', (thinkingConfig, effort, dropped) => {
    const { request, dropped: notes } = converted('Completions', { generationConfig: { thinkingConfig } })
    expect([request['reasoning_effort'], notes]).toEqual([effort, dropped])
  })

  it.each<[JsonObject, unknown, string[]]>([
    [{ thinkingBudget: 0 }, undefined, []],
    [{ thinkingBudget: 2048 }, { type: 'enabled', budget_tokens: 2048 }, []],
    [{ thinkingLevel: 'LOW' }, { type: 'enabled', budget_tokens: 1024 }, []],
    [{ thinkingBudget: -1 }, undefined, ['generationConfig.thinkingConfig']],
  ])('thinking %j becomes %j of messages', (thinkingConfig, thinking, dropped) => {
    const { request, dropped: notes } = converted('Messages', { generationConfig: { thinkingConfig } })
    expect([request['thinking'], notes]).toEqual([thinking, dropped])
  })

  it('thinking that the model decides is adaptive where the model can', () => {
    const generationConfig = { thinkingConfig: { thinkingBudget: -1 } }
    const { request, dropped } = converted('Messages', { model: 'claude-opus-4-7', generationConfig })
    expect([request['thinking'], request['output_config'], dropped]).toEqual([
      { type: 'adaptive', display: 'summarized' },
      undefined,
      [],
    ])
  })

  it.each<[JsonObject, JsonObject | undefined]>([
    [{ responseMimeType: 'text/plain' }, undefined],
    [{ responseMimeType: 'application/json' }, { type: 'json_object' }],
    [
      { responseMimeType: 'application/json', responseSchema: GOOGLE_SCHEMA },
      { type: 'json_schema', json_schema: { name: 'response', schema: JSON_SCHEMA } },
    ],
    [
      { responseMimeType: 'application/json', responseJsonSchema: { ...JSON_SCHEMA, additionalProperties: false } },
      {
        type: 'json_schema',
        json_schema: { name: 'response', strict: true, schema: { ...JSON_SCHEMA, additionalProperties: false } },
      },
    ],
  ])('output %j', (generationConfig, format) => {
    expect(converted('Completions', { generationConfig }).request['response_format']).toEqual(format)
  })

  it.each([
    [{ generationConfig: { responseMimeType: 'text/x.enum' } }, 'generationConfig.responseMimeType "text/x.enum"'],
    [{ generationConfig: { topK: 5 } }, 'generationConfig.topK 5'],
    [{ toolConfig: { functionCallingConfig: { mode: 'ODD' } } }, 'toolConfig.functionCallingConfig.mode "ODD"'],
    [{ contents: [{ role: 'odd', parts: [] }] }, 'contents[0].role must be user or model'],
    [
      { contents: [{ parts: [{ inlineData: { mimeType: 'image/png' } }] }] },
      'contents[0].parts[0].inlineData.data is missing',
    ],
    [
      { contents: [{ parts: [{ inlineData: { mimeType: 'video/mp4', data: '' } }] }] },
      'inlineData of the type "video/mp4"',
    ],
    [{ contents: [{ parts: [{ fileData: { fileUri: 'gs://b/x.png' } }] }] }, 'a file of another provider'],
    [{ contents: [{ parts: [{ fileData: {} }] }] }, 'contents[0].parts[0].fileData.fileUri is missing'],
    [
      { contents: [{ parts: [{ functionResponse: { name: 'f' } }] }] },
      'contents[0].parts[0].functionResponse answers a function call that is not in front of it',
    ],
    [{ systemInstruction: { parts: [{ inlineData }] } }, 'systemInstruction.parts[0] must be text'],
  ])('%j is rejected', (fields, message) => {
    expect(() => converted('Completions', fields)).toThrow(message)
  })
})

describe('contents', () => {
  const messagesOf = (contents: unknown): unknown => converted('Completions', { contents }).request['messages']

  it.each<[string, unknown, unknown]>([
    [
      'one content in place of a list, with one part',
      { role: 'USER', parts: { text: 'hi' } },
      [{ role: 'user', content: 'hi' }],
    ],
    [
      'media, with either alphabet of base64',
      [
        {
          parts: [
            { inline_data: { mime_type: 'image/jpg', data: 'QU-_' } },
            { fileData: { fileUri: 'https://x.example/a.png' } },
          ],
        },
      ],
      [
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: 'data:image/jpeg;base64,QU+/' } },
            { type: 'image_url', image_url: { url: 'https://x.example/a.png' } },
          ],
        },
      ],
    ],
    [
      'audio and a document with its name',
      [
        {
          parts: [
            { inlineData: { mimeType: 'audio/mp3', data: 'QUJD' } },
            { inlineData: { mimeType: 'application/pdf', data: 'QUJD', displayName: 'a.pdf' } },
          ],
        },
      ],
      [
        {
          role: 'user',
          content: [
            { type: 'input_audio', input_audio: { data: 'QUJD', format: 'mp3' } },
            { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,QUJD' } },
          ],
        },
      ],
    ],
    [
      'parallel calls without ids: each result belongs to the first open call of its function',
      [
        hi,
        {
          role: 'model',
          parts: [
            { text: 'I look' },
            { text: '.' },
            { functionCall: { name: 'a', args: { n: 1 } } },
            { functionCall: { name: 'b' } },
            { functionCall: { name: 'a', args: { n: 2 } } },
          ],
        },
        {
          role: 'function',
          parts: [
            { functionResponse: { name: 'b', response: { result: 'of b' } } },
            { functionResponse: { name: 'a', response: { output: 'first' } } },
            { functionResponse: { name: 'a', response: { n: [1] } } },
          ],
        },
        { role: 'model', parts: [{ functionCall: { name: 'a' } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'a', response: {} } }, { text: 'next' }] },
      ],
      [
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          content: 'I look.',
          tool_calls: [
            { id: 'call_0', type: 'function', function: { name: 'a', arguments: '{"n":1}' } },
            { id: 'call_1', type: 'function', function: { name: 'b', arguments: '{}' } },
            { id: 'call_2', type: 'function', function: { name: 'a', arguments: '{"n":2}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'of b' },
        { role: 'tool', tool_call_id: 'call_0', content: 'first' },
        { role: 'tool', tool_call_id: 'call_2', content: '{"n":[1]}' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'call_3', type: 'function', function: { name: 'a', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'call_3', content: '' },
        { role: 'user', content: 'next' },
      ],
    ],
    [
      'calls with ids, whose results have none',
      [
        {
          role: 'model',
          parts: [{ functionCall: { id: 'x1', name: 'a' } }, { functionCall: { id: 'x2', name: 'a' } }],
        },
        {
          parts: [
            { functionResponse: { id: 'x2', name: 'a', response: { output: '2' } } },
            { functionResponse: { name: 'a', response: { output: '1' } } },
          ],
        },
      ],
      [
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'x1', type: 'function', function: { name: 'a', arguments: '{}' } },
            { id: 'x2', type: 'function', function: { name: 'a', arguments: '{}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'x2', content: '2' },
        { role: 'tool', tool_call_id: 'x1', content: '1' },
      ],
    ],
    [
      'thoughts without a signature, in pieces, and an empty answer',
      [
        { role: 'model', parts: [{ text: 'I th', thought: true }] },
        { role: 'model', parts: [{ text: 'ink.', thought: true }, { text: 'Yes' }] },
        hi,
        { role: 'model', parts: [{ text: '' }] },
      ],
      [
        { role: 'assistant', content: 'Yes', reasoning_content: 'I think.' },
        { role: 'user', content: 'hi' },
      ],
    ],
  ])('%s', (_, contents, messages) => expect(messagesOf(contents)).toEqual(messages))

  it('the system texts come first, and numbers keep their digits', () => {
    const text =
      '{"contents":[{"role":"model","parts":[{"functionCall":{"name":"f","args":{"n":12345678901234567890}}}]}]}'
    const { request } = converted('Completions', {
      systemInstruction: { parts: [{ text: 'one' }, { text: '' }, { text: 'two' }] },
      ...parseExactObject(text),
    })
    expect(JSON.stringify(request['messages'])).toContain('{\\"n\\":12345678901234567890}')
    expect(request['messages']).toMatchObject([
      { role: 'system', content: 'one' },
      { role: 'system', content: 'two' },
      { role: 'assistant' },
    ])
  })

  it('results with images and errors stay what they are in messages', () => {
    const contents = [
      { role: 'model', parts: [{ functionCall: { id: 'c', name: 'f' } }, { functionCall: { id: 'd', name: 'f' } }] },
      {
        parts: [
          { functionResponse: { id: 'c', name: 'f', response: { output: 'see' }, parts: [{ inlineData }] } },
          { functionResponse: { id: 'd', name: 'f', response: { error: 'no' } } },
        ],
      },
    ]
    expect(converted('Messages', { contents }).request['messages']).toMatchObject([
      { role: 'assistant' },
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
          { type: 'tool_result', tool_use_id: 'd', is_error: true, content: 'no' },
        ],
      },
    ])
  })

  it('a signature of Google is not sent to other vendors', () => {
    const parts = [{ functionCall: { id: 'c', name: 'f' }, thoughtSignature: 'c2ln' }]
    const contents = [hi, { role: 'model', parts }, { parts: [{ functionResponse: { name: 'f' } }] }]
    const { request, dropped } = converted('Messages', { contents })
    expect(JSON.stringify(request)).not.toContain('c2ln')
    expect(dropped).toEqual(['contents[1].parts[0]'])
  })
})

describe('tools', () => {
  const tools = [
    {
      functionDeclarations: [
        { name: 'a', description: 'd', parameters: GOOGLE_SCHEMA },
        { name: 'b', parametersJsonSchema: { type: 'object', $defs: {} } },
      ],
    },
    { function_declarations: { name: 'c' } },
  ]
  const a = { type: 'function', function: { name: 'a', description: 'd', parameters: JSON_SCHEMA } }
  const b = { type: 'function', function: { name: 'b', parameters: { type: 'object', $defs: {} } } }
  const c = { type: 'function', function: { name: 'c' } }

  it.each<[JsonObject | undefined, unknown, unknown]>([
    [undefined, undefined, [a, b, c]],
    [{}, 'auto', [a, b, c]],
    [{ mode: 'VALIDATED' }, 'auto', [a, b, c]],
    [{ mode: 'NONE', allowedFunctionNames: ['a'] }, 'none', [a, b, c]],
    [{ mode: 'ANY' }, 'required', [a, b, c]],
    [{ mode: 'ANY', allowedFunctionNames: ['a', 'c'] }, 'required', [a, c]],
    [{ mode: 'ANY', allowed_function_names: ['b'] }, { type: 'function', function: { name: 'b' } }, [a, b, c]],
  ])('with the mode %j', (functionCallingConfig, choice, sent) => {
    const { request } = converted('Completions', { tools, toolConfig: { functionCallingConfig } })
    expect([request['tool_choice'], request['tools']]).toEqual([choice, sent])
  })
})
