// Responses requests to providers of other formats, and messages requests to providers of responses.
import { describe, expect, it } from 'vitest'
import type { FormatName } from '#api/llm/formats.ts'
import { asArray, type JsonObject } from '../json.ts'
import { SseParser } from '../../http/sse.ts'
import { ToolNames } from './tool-names.ts'
import { notesIn, translationOf } from './translate.testing.ts'
import { VENDORS } from './vendors.testing.ts'

interface Converted {
  readonly request: JsonObject
  /** Names of the fields, sorted. */
  readonly dropped: readonly string[]
}

function converted(from: FormatName, to: FormatName, body: JsonObject): Converted {
  const dropped: string[] = []
  const request = translationOf(from, to).request({ model: 'm', ...body }, notesIn(dropped))
  return { request, dropped: dropped.map((line) => line.split(': ')[0] ?? '').toSorted() }
}

const schema = { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false }
const png = 'data:image/png;base64,QUJD'

/** A turn with all that a client such as Codex sends. */
const CONVERSATION: JsonObject = {
  instructions: 'be brief',
  input: [
    { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'be kind' }] },
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'look' },
        { type: 'input_image', image_url: png, detail: 'low' },
        { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,QUJD' },
      ],
    },
    {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 'hm' }],
      encrypted_content: 'gw:Messages:sig',
    },
    {
      type: 'message',
      id: 'msg_1',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'I look.', annotations: [] }],
    },
    { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'f', arguments: '{"a":1}' },
    { type: 'function_call', call_id: 'c2', name: 'g', arguments: '' },
    { type: 'function_call_output', call_id: 'c1', output: 'one' },
    {
      type: 'function_call_output',
      call_id: 'c2',
      output: [
        { type: 'input_text', text: 'two' },
        { type: 'input_image', image_url: png },
      ],
    },
  ],
  tools: [
    { type: 'function', name: 'f', description: 'd', parameters: schema, strict: true },
    { type: 'function', name: 'g', parameters: null, strict: null },
  ],
  tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'f' }] },
  parallel_tool_calls: false,
  max_output_tokens: 5000,
  reasoning: { effort: 'medium', summary: 'auto' },
  text: { format: { type: 'json_schema', name: 'n', schema, strict: true } },
  include: ['reasoning.encrypted_content'],
  store: false,
  stream: true,
  prompt_cache_key: 'k',
}

const DROPPED = ['input[3].id', 'input[3].status', 'input[4].id', 'prompt_cache_key', 'store']

describe('a responses request', () => {
  it('as chat completions', () => {
    const { request, dropped } = converted('Responses', 'Completions', CONVERSATION)
    expect(request).toEqual({
      model: 'm',
      messages: [
        { role: 'system', content: 'be brief' },
        { role: 'system', content: 'be kind' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'look' },
            { type: 'image_url', image_url: { url: png, detail: 'low' } },
            { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,QUJD' } },
          ],
        },
        {
          role: 'assistant',
          content: 'I look.',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
            { id: 'c2', type: 'function', function: { name: 'g', arguments: '{}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'one' },
        { role: 'tool', tool_call_id: 'c2', content: 'two' },
        { role: 'user', content: [{ type: 'image_url', image_url: { url: png } }] },
      ],
      tools: [{ type: 'function', function: { name: 'f', description: 'd', parameters: schema, strict: true } }],
      tool_choice: 'auto',
      parallel_tool_calls: false,
      max_completion_tokens: 5000,
      reasoning_effort: 'medium',
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema, strict: true } },
      stream: true,
      stream_options: { include_usage: true },
    })
    expect(dropped).toEqual([...DROPPED, 'input[2]', 'input[2].id', 'input[3].content[0].annotations'].toSorted())
  })

  it('as messages, with the signature of its reasoning', () => {
    const { request, dropped } = converted('Responses', 'Messages', CONVERSATION)
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'QUJD' } }
    expect(request).toEqual({
      model: 'm',
      max_tokens: 5000,
      system: 'be brief\nbe kind',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'look' },
            image,
            {
              type: 'document',
              title: 'a.pdf',
              source: { type: 'base64', media_type: 'application/pdf', data: 'QUJD' },
            },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 'sig' },
            { type: 'text', text: 'I look.' },
            { type: 'tool_use', id: 'c1', name: 'f', input: { a: 1 } },
            { type: 'tool_use', id: 'c2', name: 'g', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'c1', content: 'one' },
            { type: 'tool_result', tool_use_id: 'c2', content: [{ type: 'text', text: 'two' }, image] },
          ],
        },
      ],
      tools: [{ name: 'f', description: 'd', input_schema: schema, strict: true }],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      thinking: { type: 'enabled', budget_tokens: 2048 },
      output_config: { format: { type: 'json_schema', schema } },
      stream: true,
    })
    expect(dropped).toEqual([...DROPPED, 'input[2].id', 'input[3].content[0].annotations'].toSorted())
  })

  it.each<[string, JsonObject]>([
    ['previous_response_id', { previous_response_id: 'r' }],
    ['conversation', { conversation: 'c' }],
    ['background true', { background: true }],
    ['"odd"', { odd: 1 }],
    ['reasoning.mode', { reasoning: { mode: 'pro' } }],
    ['tools[0].type "web_search"', { tools: [{ type: 'web_search' }] }],
    ['tool_choice "web_search"', { tool_choice: { type: 'web_search' } }],
    ['tool_choice names a tool', allowed('auto', 'g')],
    ['tool_choice of allowed_tools requires mode', allowed('never', 'f')],
    ['text.format.type "grammar"', { text: { format: { type: 'grammar' } } }],
    ['text.format.schema is missing', { text: { format: { type: 'json_schema' } } }],
    ['input[0].type "computer_call"', { input: [{ type: 'computer_call' }] }],
    ['input[0].role must be', { input: [{ role: 'tool', content: 'x' }] }],
    ['input[0].call_id is missing', { input: [{ type: 'function_call_output', output: 'x' }] }],
    ['tools[0].tools[1].type "custom"', { tools: [groupOf({ type: 'function', name: 'f' }, { type: 'custom' })] }],
    ['input[0].content must be', { input: [{ role: 'user', content: 5 }] }],
    ['input[0].content[0].type "input_audio"', { input: [{ role: 'user', content: [{ type: 'input_audio' }] }] }],
    ['input[0].content[0] has neither', { input: [{ role: 'user', content: [{ type: 'input_image' }] }] }],
  ])('is refused with the name of %s', (text, fields) => {
    expect(() => converted('Responses', 'Completions', { input: 'hi', ...fields })).toThrow(text)
  })

  it('without a message of the user is refused by the name of its field', () => {
    expect(() => converted('Responses', 'Messages', { instructions: 'x', input: '' })).toThrow(
      'input has only system messages',
    )
  })
})

function allowed(mode: string, name: string): JsonObject {
  return {
    tools: [{ type: 'function', name: 'f' }],
    tool_choice: { type: 'allowed_tools', mode, tools: [{ type: 'function', name }] },
  }
}

describe('a messages request as responses', () => {
  const user = { role: 'user', content: 'hi' }
  const convert = (fields: JsonObject): Converted =>
    converted('Messages', 'Responses', { max_tokens: 9, messages: [user], ...fields })

  it.each<[string, JsonObject, JsonObject, string[]?]>([
    ['a text', {}, {}],
    [
      'settings',
      {
        system: [
          { type: 'text', text: 'one' },
          { type: 'text', text: 'two' },
        ],
        stream: true,
        temperature: 0.5,
        top_p: 0.9,
        service_tier: 'auto',
        metadata: { user_id: 'u' },
        thinking: { type: 'adaptive', display: 'summarized' },
        output_config: { effort: 'high', format: { type: 'json_schema', schema } },
      },
      {
        instructions: 'one\ntwo',
        stream: true,
        temperature: 0.5,
        top_p: 0.9,
        service_tier: 'auto',
        user: 'u',
        reasoning: { effort: 'high', summary: 'auto' },
        include: ['reasoning.encrypted_content'],
        text: { format: { type: 'json_schema', name: 'response', schema } },
      },
      ['output_config.format'],
    ],
    [
      'tools and the choice among them',
      { tools: [{ name: 'f', description: 'd', input_schema: schema }], tool_choice: { type: 'tool', name: 'f' } },
      {
        tools: [{ type: 'function', name: 'f', description: 'd', parameters: schema, strict: false }],
        tool_choice: { type: 'function', name: 'f' },
      },
    ],
    [
      'calls, results and reasoning of this and of another provider',
      {
        messages: [
          user,
          {
            role: 'assistant',
            content: [
              { type: 'thinking', thinking: 'own', signature: 'gw:Responses:rs_1:gAAA' },
              { type: 'thinking', thinking: 'other', signature: 'sig' },
              { type: 'text', text: 'I look.' },
              { type: 'tool_use', id: 'c', name: 'f', input: {} },
            ],
          },
          {
            role: 'user',
            content: [
              {
                type: 'tool_result',
                tool_use_id: 'c',
                content: [{ type: 'image', source: { type: 'url', url: 'u' } }],
              },
              { type: 'text', text: 'and?' },
            ],
          },
          { role: 'system', content: 'later' },
        ],
      },
      {
        input: [
          { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
          {
            type: 'reasoning',
            id: 'rs_1',
            encrypted_content: 'gAAA',
            summary: [{ type: 'summary_text', text: 'own' }],
          },
          {
            type: 'message',
            role: 'assistant',
            content: [{ type: 'output_text', text: 'I look.', annotations: [] }],
          },
          { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
          {
            type: 'function_call_output',
            call_id: 'c',
            output: [{ type: 'input_image', image_url: 'u', detail: 'auto' }],
          },
          { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'and?' }] },
          { type: 'message', role: 'system', content: [{ type: 'input_text', text: 'later' }] },
        ],
      },
      ['messages[1].content[1]'],
    ],
  ])('translates %s', (_, fields, expected, drops = []) => {
    const { request, dropped } = convert(fields)
    const input = [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] }]
    expect(request).toEqual({ model: 'm', max_output_tokens: 9, store: false, input, ...expected })
    expect(dropped).toEqual(drops)
  })

  it.each<[string, JsonObject]>([
    ['stop_sequences', { stop_sequences: ['x'] }],
    ['top_k 5', { top_k: 5 }],
  ])('is refused with the name of %s', (text, fields) => expect(() => convert(fields)).toThrow(text))

  it('gets its encrypted reasoning back through the client', () => {
    const item = {
      id: 'rs_1',
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 'hm' }],
      encrypted_content: 'gAAA',
    }
    const answer = { object: 'response', id: 'r', model: 'g', status: 'completed', output: [item] }
    const content = asArray(translationOf('Messages', 'Responses').answer(answer, 0)?.['content'])
    expect(content).toEqual([{ type: 'thinking', thinking: 'hm', signature: 'gw:Responses:rs_1:gAAA' }])
    const { request } = convert({ messages: [user, { role: 'assistant', content }] })
    expect(asArray(request['input'])[1]).toEqual(item)
  })
})

function groupOf(...tools: JsonObject[]): JsonObject {
  return { type: 'namespace', name: 'crm', description: 'customers', tools }
}

describe('tools of a group, as Codex has them', () => {
  const FIND = { type: 'function', name: 'find', description: 'd', parameters: schema, strict: false }
  const BODY: JsonObject = {
    input: [
      { role: 'user', content: 'hi' },
      { type: 'function_call', call_id: 'c1', namespace: 'crm', name: 'find', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: 'none' },
    ],
    tools: [{ ...FIND, description: 'of files' }, groupOf(FIND)],
  }
  const names = new ToolNames()
  const toMessages = translationOf('Responses', 'Messages')
  const sent = toMessages.request({ model: 'm', ...BODY }, notesIn([]), names)
  const SOURCE = { id: undefined, model: 'm', names }
  const scenario = {
    calls: [
      { id: 'c2', name: 'crm__find', input: '{"a":"x"}' },
      { id: 'c3', name: 'find', input: '' },
    ],
    stop: 'toolCalls',
    usage: { input: 3, cached: 0, output: 2 },
  } as const
  const CALLS = [
    { type: 'function_call', call_id: 'c2', namespace: 'crm', name: 'find', arguments: '{"a":"x"}' },
    { type: 'function_call', call_id: 'c3', name: 'find' },
  ]

  it('have the name of the group in their own, in the history as well', () => {
    expect(asArray(sent['tools'])).toMatchObject([
      { name: 'find', description: 'of files' },
      { name: 'crm__find', description: 'd', input_schema: schema },
    ])
    expect(asArray(sent['messages'])[1]).toMatchObject({ content: [{ type: 'tool_use', id: 'c1', name: 'crm__find' }] })
    expect(converted('Responses', 'Completions', BODY).dropped).toEqual(['tools[1].description'])
  })

  it('have both names again in an answer', () => {
    const answer = toMessages.answer(VENDORS.Messages.whole(scenario), 7, SOURCE)
    expect(answer?.['output']).toMatchObject(CALLS)
    expect(asArray(answer?.['output'])[1]).not.toHaveProperty('namespace')
  })

  it('have both names in the events of a stream', () => {
    const stream = toMessages.stream({ createdSeconds: 7, includeUsage: true, source: SOURCE })
    const text = new SseParser(2 ** 16)
      .push(Buffer.from(VENDORS.Messages.stream(scenario).join('')))
      .map((event) => stream.event(event))
      .join('')
    const items = new SseParser(2 ** 16).push(Buffer.from(text)).flatMap(({ data }) => {
      const { type, item } = JSON.parse(data) as JsonObject
      return type === 'response.output_item.added' || type === 'response.output_item.done' ? [item] : []
    })
    const [first, second] = CALLS
    expect(items).toMatchObject([{ ...first, arguments: '' }, first, second, second])
  })
})
