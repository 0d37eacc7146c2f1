import { describe, expect, it } from 'vitest'
import { parseExactObject, type JsonObject } from '../json.ts'
import { SseParser } from '../../http/sse.ts'
import {
  completionsToMessages,
  messagesErrorToCompletions,
  messagesStreamToCompletions,
  messagesToCompletions,
  notesIn,
  translationOf,
} from './translate.testing.ts'
import { Untranslatable } from './untranslatable.ts'

const user = { role: 'user', content: 'hi' }

describe('completionsToMessages', () => {
  it('moves system texts out, merges tool results and keeps sampling', () => {
    const out = completionsToMessages({
      model: 'm',
      max_completion_tokens: 9,
      max_tokens: 5,
      temperature: 0.5,
      stop: 'END',
      user: 'u1',
      stream: true,
      messages: [
        { role: 'system', content: 'be brief' },
        { role: 'developer', content: [{ type: 'text', text: 'be kind' }] },
        user,
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
            { id: 'c2', type: 'function', function: { name: 'g', arguments: '' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'one' },
        { role: 'tool', tool_call_id: 'c2', content: [{ type: 'text', text: 'two' }] },
        { role: 'user', content: 'continue' },
      ],
    })
    expect(out).toEqual({
      model: 'm',
      max_tokens: 9,
      system: 'be brief\nbe kind',
      temperature: 0.5,
      stop_sequences: ['END'],
      stream: true,
      metadata: { user_id: 'u1' },
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'hi' }] },
        {
          role: 'assistant',
          content: [
            { type: 'tool_use', id: 'c1', name: 'f', input: { a: 1 } },
            { type: 'tool_use', id: 'c2', name: 'g', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'c1', content: 'one' },
            { type: 'tool_result', tool_use_id: 'c2', content: 'two' },
            { type: 'text', text: 'continue' },
          ],
        },
      ],
    })
  })

  it('keeps numbers of tool calls that a double does not hold, both ways', () => {
    const text = '{"id":12345678901234567890}'
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: text } }
    const out = completionsToMessages({ model: 'm', messages: [user, { role: 'assistant', tool_calls: [call] }] })
    expect(JSON.stringify(out)).toContain(`"input":${text}`)
    const answer = parseExactObject(`{"content":[{"type":"tool_use","id":"c","name":"f","input":${text}}]}`)
    expect(messagesToCompletions(answer ?? {}, 0)).toMatchObject({ choices: [{ message: { tool_calls: [call] } }] })
  })

  it('sends arguments that are not JSON, and a history that has them, both ways', () => {
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{"city": "Par' } }
    const history = { role: 'assistant', content: null, tool_calls: [call] }
    const sent = completionsToMessages({ model: 'm', messages: [user, history] })
    const toolUse = { type: 'tool_use', id: 'c', name: 'f', input: { invalid_json: '{"city": "Par' } }
    expect(sent['messages']).toMatchObject([{}, { role: 'assistant', content: [toolUse] }])
    const body = { model: 'm', max_tokens: 1, messages: sent['messages'] }
    const back = translationOf('Messages', 'Completions').request(body, notesIn([]))
    expect(back['messages']).toMatchObject([{}, { tool_calls: [call] }])
  })

  it('defaults max_tokens to 4096', () => {
    expect(completionsToMessages({ model: 'm', messages: [user] })['max_tokens']).toBe(4096)
  })

  it.each([
    ['minimal', 4096, 1024],
    ['medium', 4096, 2048],
    ['high', 4096, undefined],
    ['high', 8192, 4096],
    ['none', 8192, undefined],
  ])('reasoning_effort %s with %d tokens gives a budget of %s', (effort, maxTokens, budget) => {
    const out = completionsToMessages({
      model: 'm',
      reasoning_effort: effort,
      max_tokens: maxTokens,
      temperature: 1,
      messages: [user],
    })
    expect(out['thinking']).toEqual(budget === undefined ? undefined : { type: 'enabled', budget_tokens: budget })
    expect(out['temperature']).toBe(budget === undefined ? 1 : undefined)
  })

  it.each([
    ['auto', undefined, { type: 'auto' }],
    ['none', false, { type: 'none' }],
    ['required', false, { type: 'any', disable_parallel_tool_use: true }],
    [{ type: 'function', function: { name: 'f' } }, undefined, { type: 'tool', name: 'f' }],
    [undefined, false, { type: 'auto', disable_parallel_tool_use: true }],
    [undefined, undefined, undefined],
  ])('tool_choice %j, parallel %s becomes %j', (choice, parallel, expected) => {
    const out = completionsToMessages({
      model: 'm',
      messages: [user],
      tools: [{ type: 'function', function: { name: 'f', description: 'd', parameters: { type: 'object' } } }],
      tool_choice: choice,
      parallel_tool_calls: parallel,
    })
    expect(out['tool_choice']).toEqual(expected)
    expect(out['tools']).toEqual([{ name: 'f', description: 'd', input_schema: { type: 'object' } }])
  })

  it('translates inline and remote images', () => {
    const part = (url: string) => ({ type: 'image_url', image_url: { url } })
    const out = completionsToMessages({
      model: 'm',
      messages: [{ role: 'user', content: [part('data:image/png;base64,QUJD'), part('https://x/y.png')] }],
    })
    expect(out['messages']).toEqual([
      {
        role: 'user',
        content: [
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'QUJD' } },
          { type: 'image', source: { type: 'url', url: 'https://x/y.png' } },
        ],
      },
    ])
  })

  it.each<[string, JsonObject]>([
    ['n 2 is not supported', { messages: [user], n: 2 }],
    ['messages[0].role', { messages: [{ role: 'robot', content: 'x' }] }],
    ['messages[0].content must be', { messages: [{ role: 'user', content: 5 }] }],
    ['messages[0].content[0].type "audio"', { messages: [{ role: 'user', content: [{ type: 'audio' }] }] }],
    ['messages[0].tool_call_id', { messages: [{ role: 'tool', content: 'x' }] }],
  ])('refuses: %s', (message, body) => {
    expect(() => completionsToMessages({ model: 'm', ...body })).toThrow(Untranslatable)
    expect(() => completionsToMessages({ model: 'm', ...body })).toThrow(message)
  })
})

describe('messagesToCompletions', () => {
  it('joins texts, keeps tool calls and counts cache tokens as prompt tokens', () => {
    const out = messagesToCompletions(
      {
        id: 'msg_1',
        model: 'claude',
        stop_reason: 'tool_use',
        content: [
          { type: 'thinking', thinking: 'hm' },
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
          { type: 'tool_use', id: 't1', name: 'f', input: { x: 1 } },
        ],
        usage: { input_tokens: 10, cache_read_input_tokens: 4, cache_creation_input_tokens: 2, output_tokens: 3 },
      },
      1700,
    )
    expect(out).toEqual({
      id: 'msg_1',
      object: 'chat.completion',
      created: 1700,
      model: 'claude',
      choices: [
        {
          index: 0,
          logprobs: null,
          finish_reason: 'tool_calls',
          message: {
            role: 'assistant',
            content: 'ab',
            refusal: null,
            reasoning_content: 'hm',
            tool_calls: [{ id: 't1', type: 'function', function: { name: 'f', arguments: '{"x":1}' } }],
          },
        },
      ],
      usage: { prompt_tokens: 16, completion_tokens: 3, total_tokens: 19, prompt_tokens_details: { cached_tokens: 4 } },
    })
  })

  it.each([
    ['end_turn', 'stop'],
    ['pause_turn', 'stop'],
    ['max_tokens', 'length'],
    ['refusal', 'content_filter'],
  ])('stop_reason %s is finish_reason %s', (reason, expected) => {
    expect(messagesToCompletions({ content: [], stop_reason: reason }, 0)).toMatchObject({
      choices: [{ finish_reason: expected }],
    })
  })

  it('translates errors and ignores other bodies', () => {
    expect(messagesErrorToCompletions({ type: 'error', error: { type: 'overloaded_error', message: 'busy' } })).toEqual(
      { error: { message: 'busy', type: 'overloaded_error', param: null, code: null } },
    )
    expect(messagesErrorToCompletions({ oops: true })).toBeUndefined()
  })
})

const event = (json: JsonObject): string => `event: ${String(json['type'])}\ndata: ${JSON.stringify(json)}\n\n`
const MESSAGE_STREAM = [
  event({
    type: 'message_start',
    message: { id: 'msg_1', model: 'claude', usage: { input_tokens: 7, output_tokens: 1 } },
  }),
  event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
  event({ type: 'ping' }),
  event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Grüße' } }),
  event({ type: 'content_block_stop', index: 0 }),
  event({ type: 'content_block_start', index: 1, content_block: { type: 'tool_use', id: 't1', name: 'f', input: {} } }),
  event({ type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"a":' } }),
  event({ type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '1}' } }),
  event({ type: 'content_block_delta', index: 9, delta: { type: 'text_delta', text: 'never opened' } }),
  event({ type: 'content_block_stop', index: 1 }),
  event({ type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 12 } }),
  event({ type: 'message_stop' }),
].join('')

function translate(text: string, splits: readonly number[], includeUsage = true): string {
  const bytes = Buffer.from(text)
  const parser = new SseParser(100_000)
  const translator = messagesStreamToCompletions({ createdSeconds: 5, includeUsage })
  let out = ''
  let from = 0
  for (const to of [...splits, bytes.length]) {
    for (const item of parser.push(bytes.subarray(from, to))) out += translator.event(item)
    from = to
  }
  return out + translator.end()
}

const chunksOf = (text: string): unknown[] =>
  text
    .split('\n\n')
    .filter((line) => line !== '' && line !== 'data: [DONE]')
    .map((line): unknown => JSON.parse(line.slice('data: '.length)))

describe('messagesStreamToCompletions', () => {
  it('returns role, text, tool call, finish reason, usage and [DONE]', () => {
    const out = translate(MESSAGE_STREAM, [])
    expect(out.endsWith('data: [DONE]\n\n')).toBe(true)
    const head = { id: 'msg_1', object: 'chat.completion.chunk', created: 5, model: 'claude' }
    const chunk = (delta: JsonObject, reason: string | null = null) => ({
      ...head,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
    })
    expect(chunksOf(out)).toEqual([
      chunk({ role: 'assistant', content: '', refusal: null }),
      chunk({ content: 'Grüße' }),
      chunk({ tool_calls: [{ index: 0, id: 't1', type: 'function', function: { name: 'f', arguments: '' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{"a":' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '1}' } }] }),
      chunk({}, 'tool_calls'),
      {
        ...head,
        choices: [],
        usage: {
          prompt_tokens: 7,
          completion_tokens: 12,
          total_tokens: 19,
          prompt_tokens_details: { cached_tokens: 0 },
        },
      },
    ])
  })

  it('gives the same text for every split of the provider stream', () => {
    const whole = translate(MESSAGE_STREAM, [])
    for (let at = 1; at < Buffer.byteLength(MESSAGE_STREAM); at++) {
      expect(translate(MESSAGE_STREAM, [at]) === whole, `split at ${at}`).toBe(true)
    }
  })

  it.each([
    ['no input', [{}], '{}'],
    ['empty deltas', [{}, ''], '{}'],
    ['its whole input at the beginning', [{ city: 'Paris' }], '{"city":"Paris"}'],
    ['its input in deltas', [{}, '{"a"', ':1}'], '{"a":1}'],
  ])('gives a tool call with %s', (_, [input, ...deltas], expected) => {
    const block = { type: 'tool_use', id: 't1', name: 'f', input }
    const stream = (hasStop: boolean): string =>
      [
        event({ type: 'message_start', message: {} }),
        event({ type: 'content_block_start', index: 0, content_block: block }),
        ...deltas.map((text) =>
          event({ type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: text } }),
        ),
        ...(hasStop ? [event({ type: 'content_block_stop', index: 0 })] : []),
        event({ type: 'message_stop' }),
      ].join('')
    for (const hasStop of [true, false]) {
      const parts = translate(stream(hasStop), []).matchAll(/"arguments":("(?:[^"\\]|\\.)*")/g)
      expect([...parts].map(([, part = '']): unknown => JSON.parse(part)).join('')).toBe(expected)
    }
  })

  it('keeps counts that the end of the stream repeats as null', () => {
    const end = { output_tokens: 12, input_tokens: null, cache_read_input_tokens: null }
    const stream = [
      event({ type: 'message_start', message: { usage: { input_tokens: 7, cache_read_input_tokens: 4 } } }),
      event({ type: 'message_delta', delta: {}, usage: end }),
      event({ type: 'message_stop' }),
    ]
    const usage = { prompt_tokens: 11, completion_tokens: 12, total_tokens: 23 }
    expect(chunksOf(translate(stream.join(''), [])).at(-1)).toMatchObject({ usage })
  })

  it('drops the usage chunk if the client did not request it', () => {
    expect(translate(MESSAGE_STREAM, [], false)).not.toContain('"usage"')
  })

  it('ends with an error chunk and no [DONE] if the stream ends early or reports an error', () => {
    const broken = translate(MESSAGE_STREAM.slice(0, MESSAGE_STREAM.indexOf('event: message_stop')), [])
    expect(broken).toContain('"error"')
    expect(broken).not.toContain('[DONE]')
    const failed = translate(
      event({ type: 'error', error: { type: 'overloaded_error', message: 'busy' } }) + MESSAGE_STREAM,
      [],
    )
    expect(chunksOf(failed)).toEqual([
      { error: { message: 'busy', type: 'overloaded_error', param: null, code: null } },
    ])
  })
})
