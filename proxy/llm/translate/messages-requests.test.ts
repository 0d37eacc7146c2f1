// Messages requests to providers of chat completions.
import { describe, expect, it } from 'vitest'
import { asArray, asObject, parseExactObject, type JsonObject } from '../json.ts'
import { completionsToMessages, notesIn, translationOf } from './translate.testing.ts'

const TRANSLATION = translationOf('Messages', 'Completions')

const user = { role: 'user', content: 'hi' }
const mark = { type: 'ephemeral', ttl: '1h' }
const schema = { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false }
const closed = { ...schema, required: ['a'] }
const png = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'QUJD' } }
const PNG = { type: 'image_url', image_url: { url: 'data:image/png;base64,QUJD' } }

function converted(fields: JsonObject): { readonly request: JsonObject; readonly dropped: readonly string[] } {
  const dropped: string[] = []
  const request = TRANSLATION.request({ model: 'm', max_tokens: 9, messages: [user], ...fields }, notesIn(dropped))
  return { request, dropped: dropped.map((line) => line.split(': ')[0] ?? '') }
}

describe('a messages request as chat completions', () => {
  it.each<[string, JsonObject, JsonObject, string[]?]>([
    ['a text', {}, {}],
    [
      'a stream with its usage, and sampling',
      { stream: true, temperature: 0.5, top_p: 0.9, stop_sequences: ['END'], service_tier: 'standard_only' },
      {
        stream: true,
        stream_options: { include_usage: true },
        temperature: 0.5,
        top_p: 0.9,
        stop: ['END'],
        service_tier: 'default',
      },
    ],
    [
      'system blocks and messages of the system in order, marks for the cache dropped',
      {
        cache_control: mark,
        system: [
          { type: 'text', text: 'one' },
          { type: 'text', text: 'two', cache_control: mark },
        ],
        messages: [user, { role: 'system', content: 'three' }, user],
      },
      {
        messages: [
          { role: 'system', content: 'one' },
          { role: 'system', content: 'two' },
          user,
          { role: 'system', content: 'three' },
          user,
        ],
      },
      ['cache_control', 'system[1].cache_control'],
    ],
    [
      'tools, a forced one, one at a time',
      {
        tools: [
          { name: 'f', description: 'd', input_schema: schema, strict: true, cache_control: mark },
          { type: 'custom', name: 'g', input_schema: { type: 'object' }, defer_loading: true },
        ],
        tool_choice: { type: 'tool', name: 'g', disable_parallel_tool_use: true },
      },
      {
        tools: [
          { type: 'function', function: { name: 'f', description: 'd', parameters: schema, strict: true } },
          { type: 'function', function: { name: 'g', parameters: { type: 'object' } } },
        ],
        tool_choice: { type: 'function', function: { name: 'g' } },
        parallel_tool_calls: false,
      },
      ['tools[1].defer_loading', 'tools[0].cache_control'],
    ],
    [
      'any tool',
      { tools: [{ name: 'f' }], tool_choice: { type: 'any' } },
      { tools: [fn('f')], tool_choice: 'required' },
    ],
    ['no tool', { tools: [{ name: 'f' }], tool_choice: { type: 'none' } }, { tools: [fn('f')], tool_choice: 'none' }],
    [
      'calls and results of parallel tools, with an image and an error',
      {
        messages: [
          user,
          {
            role: 'assistant',
            content: [
              { type: 'text', text: 'I look.' },
              { type: 'tool_use', id: 'c1', name: 'f', input: { a: 1 } },
              { type: 'tool_use', id: 'c2', name: 'g', input: {} },
            ],
          },
          {
            role: 'user',
            content: [
              { type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'see' }, png] },
              { type: 'tool_result', tool_use_id: 'c2', is_error: true },
              { type: 'text', text: 'continue' },
            ],
          },
        ],
      },
      {
        messages: [
          user,
          {
            role: 'assistant',
            content: 'I look.',
            tool_calls: [
              { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
              { id: 'c2', type: 'function', function: { name: 'g', arguments: '{}' } },
            ],
          },
          { role: 'tool', tool_call_id: 'c1', content: 'see' },
          { role: 'tool', tool_call_id: 'c2', content: '' },
          { role: 'user', content: [PNG, { type: 'text', text: 'continue' }] },
        ],
      },
      ['messages[2].content[1].is_error'],
    ],
    [
      'a tool that only returns an image',
      { messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: [png] }] }] },
      {
        messages: [
          { role: 'tool', tool_call_id: 'c', content: 'The result follows in the next message.' },
          { role: 'user', content: [PNG] },
        ],
      },
    ],
    [
      'images by URL, PDF files and texts of documents',
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'image', source: { type: 'url', url: 'https://x/y.png' } },
              {
                type: 'document',
                title: 't.pdf',
                source: { type: 'base64', media_type: 'application/pdf', data: 'QUJD' },
              },
              { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'plain' } },
            ],
          },
        ],
      },
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'image_url', image_url: { url: 'https://x/y.png' } },
              { type: 'file', file: { filename: 't.pdf', file_data: 'data:application/pdf;base64,QUJD' } },
              { type: 'text', text: 'plain' },
            ],
          },
        ],
      },
    ],
    [
      'reasoning of this provider comes back, that of others is dropped',
      {
        messages: [
          user,
          {
            role: 'assistant',
            content: [
              { type: 'thinking', thinking: 'own', signature: '' },
              { type: 'thinking', thinking: 'other', signature: 'sig' },
              { type: 'redacted_thinking', data: 'x' },
              { type: 'tool_use', id: 'c', name: 'f', input: {} },
            ],
          },
        ],
      },
      {
        messages: [
          user,
          {
            role: 'assistant',
            content: null,
            reasoning_content: 'own',
            tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
          },
        ],
      },
      ['messages[1].content[1]', 'messages[1].content[2]'],
    ],
    [
      'adaptive thinking with an effort',
      { thinking: { type: 'adaptive' }, output_config: { effort: 'xhigh' } },
      { reasoning_effort: 'xhigh' },
    ],
    ['adaptive thinking alone', { thinking: { type: 'adaptive' } }, {}],
    ['a small budget', { thinking: { type: 'enabled', budget_tokens: 1024 } }, { reasoning_effort: 'low' }],
    ['a middle budget', { thinking: { type: 'enabled', budget_tokens: 2048 } }, { reasoning_effort: 'medium' }],
    ['a large budget', { thinking: { type: 'enabled', budget_tokens: 31_999 } }, { reasoning_effort: 'high' }],
    ['no thinking', { thinking: { type: 'disabled' } }, {}, ['thinking']],
    [
      'a schema for the answer',
      { output_config: { format: { type: 'json_schema', schema } } },
      { response_format: { type: 'json_schema', json_schema: { name: 'response', schema } } },
      ['output_config.format'],
    ],
    [
      'a closed schema for the answer, which the provider can guarantee',
      { output_config: { format: { type: 'json_schema', schema: closed } } },
      { response_format: { type: 'json_schema', json_schema: { name: 'response', strict: true, schema: closed } } },
    ],
    [
      'a schema with an open object inside',
      { output_config: { format: { type: 'json_schema', schema: { ...closed, $defs: { open: schema } } } } },
      {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'response', schema: { ...closed, $defs: { open: schema } } },
        },
      },
      ['output_config.format'],
    ],
    ['who the user is', { metadata: { user_id: 'u' } }, { user: 'u' }],
    ['no long user', { metadata: { user_id: 'u'.repeat(65) } }, {}, ['metadata.user_id']],
    [
      'betas that change nothing for the client',
      { context_management: { edits: [] }, speed: 'fast', diagnostics: {} },
      {},
      ['context_management', 'speed', 'diagnostics'],
    ],
  ])('translates %s', (_, fields, expected, drops = []) => {
    const { request, dropped } = converted(fields)
    expect(request).toEqual({ model: 'm', max_completion_tokens: 9, messages: [user], ...expected })
    expect([...dropped].toSorted()).toEqual([...drops].toSorted())
  })

  it.each<[string, JsonObject]>([
    ['top_k 5', { top_k: 5 }],
    ['container', { container: 'c' }],
    ['mcp_servers', { mcp_servers: [{}] }],
    ['inference_geo', { inference_geo: 'eu' }],
    ['"odd"', { odd: 1 }],
    ['tools[0].type "web_search_20250305"', { tools: [{ type: 'web_search_20250305', name: 'w' }] }],
    ['tool_choice "sometimes"', { tools: [{ name: 'f' }], tool_choice: { type: 'sometimes' } }],
    ['tool_choice requires a tool', { tool_choice: { type: 'any' } }],
    ['messages[0].role must be', { messages: [{ role: 'tool', content: 'x' }] }],
    ['messages[0].content must be', { messages: [{ role: 'user', content: 5 }] }],
    ['messages[0].content[0].type "search_result"', blocks({ type: 'search_result' })],
    ['messages[0].content[0].context', blocks({ type: 'document', context: 'c', source: { type: 'text', data: '' } })],
    ['messages[0].content[0]: a document by URL', blocks({ type: 'document', source: { type: 'url', url: 'u' } })],
    ['messages[0].content[0]: a file of another', blocks({ type: 'image', source: { type: 'file', file_id: 'f' } })],
    ['messages[0].content[0].source.type "content"', blocks({ type: 'document', source: { type: 'content' } })],
    ['messages[0].content[0].tool_use_id is missing', blocks({ type: 'tool_result' })],
    ['output_config.format.type "xml"', { output_config: { format: { type: 'xml' } } }],
  ])('refuses %s', (text, fields) => expect(() => converted(fields)).toThrow(text))

  it('keeps numbers that a double does not hold', () => {
    const text = '{"id":12345678901234567890}'
    const body = parseExactObject(
      `{"model":"m","messages":[{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":${text}}]}]}`,
    )
    expect(JSON.stringify(TRANSLATION.request(body ?? {}, notesIn([])))).toContain(JSON.stringify(text))
  })
})

describe('the limit of output tokens for a provider of messages', () => {
  it.each([
    ['medium', 4096, 2048],
    ['high', 8192, 4096],
    ['max', 20_480, 16_384],
  ])('leaves room for thinking with the effort %s if the client sets none', (effort, limit, budget) => {
    const request = completionsToMessages({ messages: [user], reasoning_effort: effort })
    expect(request).toMatchObject({ max_tokens: limit, thinking: { type: 'enabled', budget_tokens: budget } })
  })
})

function fn(name: string): JsonObject {
  return { type: 'function', function: { name } }
}

function blocks(block: JsonObject): JsonObject {
  return { messages: [{ role: 'user', content: [block] }] }
}

describe('thoughts with a signature', () => {
  const thinking = { type: 'thinking', thinking: 'So I call.', signature: 'sig' }
  const redacted = { type: 'redacted_thinking', data: 'secret' }
  const call = { type: 'tool_use', id: 'c', name: 'f', input: {} }
  const answer = { type: 'message', id: 'm', model: 'c', content: [thinking, redacted, call], stop_reason: 'tool_use' }
  const toMessages = translationOf('Completions', 'Messages')

  it('come back to the provider through a client of chat completions, which may keep thinking', () => {
    const message = asObject(asObject(asArray(toMessages.answer(answer, 0)?.['choices'])[0])['message'])
    expect(message['reasoning_content']).toBe('So I call.')
    const result = { role: 'tool', tool_call_id: 'c', content: 'x' }
    const next = completionsToMessages({ messages: [user, message, result], reasoning_effort: 'low' })
    expect(next['messages']).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'hi' }] },
      { role: 'assistant', content: [thinking, redacted, call] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'x' }] },
    ])
    expect(next['thinking']).toEqual({ type: 'enabled', budget_tokens: 1024 })
  })

  it('are complete in the deltas of a stream', () => {
    const text = toMessages.answerAsStream(answer, { createdSeconds: 0, includeUsage: false })
    const deltas = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json = '']) => parseExactObject(json) ?? {})
    const found = deltas.flatMap((chunk) => {
      const delta = asObject(asObject(asArray(chunk['choices'])[0])['delta'])
      return asArray(delta['thinking_blocks'])
    })
    const whole = asObject(asObject(asArray(toMessages.answer(answer, 0)?.['choices'])[0])['message'])
    expect(found).toEqual(whole['thinking_blocks'])
    expect(found).toHaveLength(2)
  })
})
