// Requests of all clients in the format of the Converse API.
import { describe, expect, it } from 'vitest'
import type { FormatName } from '#api/llm/formats.ts'
import type { JsonObject } from '../json.ts'
import { notesIn, translationOf } from './translate.testing.ts'
import { ToolNames } from './tool-names.ts'

const CLAUDE = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0'
const NOVA = 'amazon.nova-pro-v1:0'

function converted(client: FormatName, fields: JsonObject, model = CLAUDE) {
  const dropped: string[] = []
  const body: JsonObject = client === 'Responses' ? { model, ...fields } : { model, messages: [USER], ...fields }
  const request = translationOf(client, 'Converse').request(body, notesIn(dropped))
  return { request, dropped: dropped.map((line) => line.split(': ')[0]) }
}

const USER = { role: 'user', content: 'hi' }
const HI = { role: 'user', content: [{ text: 'hi' }] }
const mark = { type: 'ephemeral', ttl: '1h' }
const POINT = { cachePoint: { type: 'default', ttl: '1h' } }
const schema = { type: 'object', properties: { a: { type: 'string' } } }
const png = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'QUJD' } }
const PNG = { image: { format: 'png', source: { bytes: 'QUJD' } } }
const EMPTY_TOOL = { inputSchema: { json: { type: 'object', properties: {} } } }

describe('a messages request in the Converse format', () => {
  it.each<[string, JsonObject, JsonObject, string[]?]>([
    [
      'a text with limits and sampling, model and stream left to the path',
      { stream: true, max_tokens: 9, temperature: 0.5, top_p: 0.9, top_k: 7, stop_sequences: ['END'] },
      {
        inferenceConfig: { maxTokens: 9, temperature: 0.5, topP: 0.9, stopSequences: ['END'] },
        additionalModelRequestFields: { top_k: 7 },
      },
    ],
    [
      'system texts, marks as cache points, neighbours of one role as one message, empty texts dropped',
      {
        system: [
          { type: 'text', text: 'one', cache_control: mark },
          { type: 'text', text: 'two' },
        ],
        messages: [USER, { role: 'user', content: [{ type: 'text', text: ' ', cache_control: mark }, png] }],
        cache_control: mark,
      },
      {
        system: [{ text: 'one' }, POINT, { text: 'two' }],
        messages: [{ role: 'user', content: [{ text: 'hi' }, PNG, POINT] }],
      },
    ],
    [
      'at most four cache points, counted over tools, system and messages',
      {
        tools: [{ name: 'f', cache_control: mark }],
        system: [{ type: 'text', text: 's', cache_control: mark }],
        messages: [
          {
            role: 'user',
            content: ['a', 'b', 'c'].map((text) => ({ type: 'text', text, cache_control: mark })),
          },
        ],
      },
      {
        toolConfig: { tools: [{ toolSpec: { name: 'f', ...EMPTY_TOOL } }, POINT] },
        system: [{ text: 's' }, POINT],
        messages: [{ role: 'user', content: [{ text: 'a' }, POINT, { text: 'b' }, POINT, { text: 'c' }] }],
      },
      ['messages[0].content[2].cache_control'],
    ],
    [
      'parallel calls with results in one message, an image and an error in a result, a forced tool',
      {
        tools: [{ name: 'f', description: 'd', input_schema: schema, strict: true }],
        tool_choice: { type: 'tool', name: 'f', disable_parallel_tool_use: true },
        messages: [
          USER,
          {
            role: 'assistant',
            content: [
              { type: 'tool_use', id: 'c1', name: 'f', input: { a: 'x' } },
              { type: 'tool_use', id: 'c2', name: 'f' },
            ],
          },
          {
            role: 'user',
            content: [{ type: 'tool_result', tool_use_id: 'c1', content: ['no'].map(textOf), is_error: true }],
          },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c2', content: [png] }] },
        ],
      },
      {
        toolConfig: {
          tools: [{ toolSpec: { name: 'f', description: 'd', inputSchema: { json: schema }, strict: true } }],
          toolChoice: { tool: { name: 'f' } },
        },
        additionalModelRequestFields: { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
        messages: [
          HI,
          {
            role: 'assistant',
            content: [
              { toolUse: { toolUseId: 'c1', name: 'f', input: { a: 'x' } } },
              { toolUse: { toolUseId: 'c2', name: 'f', input: {} } },
            ],
          },
          {
            role: 'user',
            content: [
              { toolResult: { toolUseId: 'c1', content: [{ text: 'no' }], status: 'error' } },
              { toolResult: { toolUseId: 'c2', content: [PNG] } },
            ],
          },
        ],
      },
    ],
    [
      'documents, with names that the vendor accepts',
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'document', source: { type: 'text', data: 'A' }, title: 'a_b.txt' },
              { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'QUJD' } },
            ],
          },
        ],
      },
      {
        messages: [
          {
            role: 'user',
            content: [
              { document: { format: 'txt', name: 'a b txt 1', source: { bytes: 'QQ==' } } },
              { document: { format: 'pdf', name: 'document 2', source: { bytes: 'QUJD' } } },
            ],
          },
        ],
      },
    ],
    [
      'thinking of the client, without sampling; reasoning of the provider comes back, other reasoning is dropped',
      {
        thinking: { type: 'enabled', budget_tokens: 2048 },
        temperature: 1,
        messages: [
          USER,
          {
            role: 'assistant',
            content: [
              { type: 'thinking', thinking: 'hm', signature: 'gw:Converse:sig' },
              { type: 'thinking', thinking: '', signature: 'gw:Converse:redacted:QUJD' },
              { type: 'thinking', thinking: 'no', signature: 'other' },
            ],
          },
          USER,
        ],
      },
      {
        additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 2048 } },
        messages: [
          HI,
          {
            role: 'assistant',
            content: [
              { reasoningContent: { reasoningText: { text: 'hm', signature: 'sig' } } },
              { reasoningContent: { redactedContent: 'QUJD' } },
            ],
          },
          HI,
        ],
      },
      ['messages[1].content[2]', 'temperature'],
    ],
    [
      'a schema for the output, and the service tier',
      { output_config: { format: { type: 'json_schema', schema } }, service_tier: 'standard_only' },
      {
        outputConfig: {
          textFormat: { type: 'json_schema', structure: { jsonSchema: { schema: JSON.stringify(schema) } } },
        },
        serviceTier: { type: 'default' },
      },
    ],
  ])('%s', (_, fields, expected, dropped = []) => {
    expect(converted('Messages', fields)).toEqual({ request: { messages: [HI], ...expected }, dropped })
  })

  it('puts results of calls first, each with its cache point', () => {
    const call = { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'f', input: {} }] }
    const result = { type: 'tool_result', tool_use_id: 'c1', cache_control: mark }
    const { request } = converted('Messages', {
      messages: [USER, call, { role: 'user', content: [textOf('and'), result, textOf('then')] }],
    })
    expect(request['messages']).toMatchObject([
      HI,
      { role: 'assistant' },
      { content: [{ toolResult: { toolUseId: 'c1', content: [] } }, POINT, { text: 'and' }, { text: 'then' }] },
    ])
  })

  it('has a placeholder tool where only the history has calls', () => {
    const history = [
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'f', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1' }] },
    ]
    const { toolConfig } = converted('Messages', { messages: [USER, ...history] }).request
    expect(toolConfig).toEqual({ tools: [expect.objectContaining({ toolSpec: expect.anything() })] })
    expect(converted('Messages', {}).request['toolConfig']).toBe(undefined)
  })
})

describe('a request of OpenAI in the Converse format', () => {
  const tool = { type: 'function', function: { name: 'f', parameters: schema } }

  it('maps the effort to a budget for Claude, and drops it with a note for other models', () => {
    const thinking = { additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 2048 } } }
    expect(converted('Completions', { reasoning_effort: 'medium' }).request).toEqual({ messages: [HI], ...thinking })
    expect(converted('Completions', { reasoning_effort: 'medium' }, NOVA)).toEqual({
      request: { messages: [HI] },
      dropped: ['reasoning_effort'],
    })
  })

  it('maps a responses request', () => {
    expect(
      converted('Responses', {
        input: 'hi',
        instructions: 'be short',
        tools: [{ type: 'function', name: 'f', parameters: schema }],
        tool_choice: 'required',
        max_output_tokens: 5,
      }).request,
    ).toEqual({
      messages: [HI],
      system: [{ text: 'be short' }],
      inferenceConfig: { maxTokens: 5 },
      toolConfig: {
        tools: [{ toolSpec: { name: 'f', inputSchema: { json: schema } } }],
        toolChoice: { any: {} },
      },
    })
  })

  it('sends no tools with the choice none', () => {
    expect(converted('Completions', { tools: [tool], tool_choice: 'none' }).request).toEqual({ messages: [HI] })
  })

  it.each<[string, FormatName, JsonObject]>([
    [
      'messages[0].content[0]: a URL in place of data',
      'Completions',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://x.test/i.png' } }] }] },
    ],
    [
      'media type "image/bmp"',
      'Completions',
      {
        messages: [
          { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/bmp;base64,QUJD' } }] },
        ],
      },
    ],
    ['n 2', 'Completions', { n: 2 }],
    ['response_format', 'Completions', { response_format: { type: 'json_object' } }],
    ['parallel_tool_calls false', 'Completions', { model: NOVA, tools: [tool], parallel_tool_calls: false }],
    ['top_k 5', 'Messages', { model: 'meta.llama3-70b-instruct-v1:0', top_k: 5 }],
    ['with white space alone', 'Messages', { stop_sequences: ['\n'] }],
    ['has only system messages', 'Completions', { messages: [{ role: 'system', content: 'x' }] }],
  ])('rejects %s', (message, client, fields) => {
    expect(() => converted(client, fields)).toThrow(message)
  })
})

describe('names of tools', () => {
  const long = 'a'.repeat(70)
  const names = ['get_weather', 'mcp.server/get weather', `${long}1`, `${long}2`, '']

  it('are rewritten where the vendor rejects them, each to another name, and restored in the answer', () => {
    const translation = translationOf('Completions', 'Converse')
    const renamed = new ToolNames()
    const calls = names.map((name, i) => ({ id: `c${i}`, type: 'function', function: { name, arguments: '{}' } }))
    const request = translation.request(
      {
        model: CLAUDE,
        messages: [USER, { role: 'assistant', tool_calls: calls }, USER],
        tools: names.map((name) => ({ type: 'function', function: { name } })),
        tool_choice: { type: 'function', function: { name: names[1] } },
      },
      notesIn([]),
      renamed,
    )
    // The shape is what the test is about.
    const { tools, toolChoice } = request['toolConfig'] as {
      readonly tools: readonly { readonly toolSpec: { readonly name: string } }[]
      readonly toolChoice: JsonObject
    }
    const sent = tools.map(({ toolSpec }) => toolSpec.name)
    expect(sent.every((name) => /^[a-zA-Z0-9_-]{1,64}$/.test(name))).toBe(true)
    expect([sent[0], new Set(sent).size]).toEqual(['get_weather', names.length])
    expect(toolChoice).toEqual({ tool: { name: sent[1] } })
    const [, history] = request['messages'] as readonly { readonly content: readonly JsonObject[] }[]
    expect(history?.content.map(({ toolUse }) => (toolUse as JsonObject)['name'])).toEqual(sent)
    const answer = translation.answer(
      {
        output: { message: { content: sent.map((name) => ({ toolUse: { toolUseId: 'c', name, input: {} } })) } },
        stopReason: 'tool_use',
      },
      7,
      { id: 'req-1', model: CLAUDE, names: renamed },
    )
    expect(answer).toMatchObject({
      id: 'req-1',
      model: CLAUDE,
      choices: [{ message: { tool_calls: names.map((name) => ({ function: { name } })) } }],
    })
  })
})

function textOf(text: string): JsonObject {
  return { type: 'text', text }
}
