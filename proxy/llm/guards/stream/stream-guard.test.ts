// Guards of streams: masks wherever events cut a match, hold-back, blocks, and what every format repeats.
import { describe, expect, it } from 'vitest'
import type { FormatName } from '#api/llm/formats.ts'
import { ServiceError } from '../../../chain/service.ts'
import { HeaderList } from '../../../message/headers.ts'
import { exchangeOf } from '../../../policy/exchange.testing.ts'
import { SseParser, sseData, sseText } from '../../../http/sse.ts'
import { asString, parseObject, type JsonObject } from '../../json.ts'
import type { ChainedGuard } from '../chain.ts'
import type { Guard } from '../guard.ts'
import { regexGuard } from '../regex.ts'
import { editsBetween } from './alignment.ts'
import { isBlocked, StreamGuard } from './stream-guard.ts'

const REJECTION = { status: 403, body: 'no' }
const REGEX = regexGuard({ action: 'Mask', builtins: ['Email', 'Ssn'], patterns: ['secret-[0-9]+'] }, 'Response')

function guardOf(format: FormatName, guard: Guard = REGEX, heldBytesMax = 2 ** 20): StreamGuard {
  const guards: ChainedGuard[] = [{ guard, rejection: REJECTION }]
  const settings = { guards, exchange: exchangeOf(), upstreamHeaders: new HeaderList(), heldBytesMax }
  const made = StreamGuard.of(format, settings)
  if (made === undefined) throw new Error(`${format} has no streams`)
  return made
}

/** What the client gets for these chunks; the push of each chunk apart. */
async function sentFor(guard: StreamGuard, chunks: readonly string[]): Promise<readonly string[]> {
  const parser = new SseParser(2 ** 24)
  const sent: string[] = []
  for (const chunk of chunks) {
    const text = await guard.push(parser.push(Buffer.from(chunk)))
    if (isBlocked(text)) throw new Error(text.kind)
    sent.push(sseText(text))
  }
  const rest = await guard.end()
  if (isBlocked(rest)) throw new Error(rest.kind)
  return [...sent, sseText(rest)]
}

function eventsIn(text: string): readonly JsonObject[] {
  return new SseParser(2 ** 24).push(Buffer.from(text)).flatMap(({ data }) => {
    const json = parseObject(data)
    return json === undefined ? [] : [json]
  })
}

const completion = (content: string, more: object = {}): string =>
  sseData({ id: 'c', choices: [{ index: 0, delta: { content }, finish_reason: null, ...more }] })
const END = `${sseData({ id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}data: [DONE]\n\n`

function contentOf(text: string): string {
  return eventsIn(text)
    .flatMap(({ choices }) => choices as { delta: { content?: string } }[])
    .map(({ delta }) => delta.content ?? '')
    .join('')
}

const TEXT = 'Write to ada.lovelace@example.com, not to secret-12345; her number is 078-05-1120. Thanks, b@c.de'
const MASKED = 'Write to <EMAIL_ADDRESS>, not to <masked>; her number is <SSN>. Thanks, <EMAIL_ADDRESS>'

describe('a masked stream of completions', () => {
  it.each([1, 2, 3, 7, 50, 1000])('is the same for events of %d characters', async (size) => {
    const parts = TEXT.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []
    const sent = (await sentFor(guardOf('Completions'), [...parts.map((part) => completion(part)), END])).join('')
    expect(contentOf(sent)).toBe(MASKED)
    expect(sent.endsWith(END)).toBe(true)
  })

  it('masks a match at every place of a long stream', async () => {
    const mail = 'ada@example.com'
    // The first check reads 1027 characters.
    for (let before = 1005; before < 1035; before++) {
      const text = `${'x'.repeat(before)} ${mail} ${'y '.repeat(1500)}`
      const parts = text.match(/[^]{1,13}/g) ?? []
      const sent = (await sentFor(guardOf('Completions'), [...parts.map((part) => completion(part)), END])).join('')
      expect(contentOf(sent)).toBe(text.replace(mail, '<EMAIL_ADDRESS>'))
    }
  })

  it('sends cleared events before the end, and holds the last characters back', async () => {
    const parts = Array.from({ length: 120 }, () => completion('0123456789 '.repeat(2)))
    const sent = await sentFor(guardOf('Completions'), [...parts, END])
    const first = sent.findIndex((text) => text !== '')
    // 1024 new characters start a check.
    expect(first).toBe(46)
    expect(contentOf(sent.slice(0, 47).join('')).length).toBeLessThanOrEqual(47 * 22 - 256)
    expect(sent.join('')).toBe([...parts, END].join(''))
  })

  it('sends unchanged events byte for byte', async () => {
    const chunk = 'data: {"choices" : [{"index":0,"delta":{"content":"a"},"n":1.0}]}\n\n'
    expect((await sentFor(guardOf('Completions'), [chunk, END])).join('')).toBe(chunk + END)
  })

  it('checks each choice and the arguments of tools apart', async () => {
    const call = (text: string) => ({
      index: 0,
      delta: { tool_calls: [{ index: 1, function: { arguments: text } }] },
      finish_reason: null,
    })
    const chunks = [
      sseData({
        choices: [
          { index: 0, delta: { content: 'a@' } },
          { index: 1, delta: { content: 'x@' } },
        ],
      }),
      sseData({
        choices: [
          { index: 1, delta: { content: 'y.zz' } },
          { index: 0, delta: { content: 'b.cc' } },
        ],
      }),
      sseData({ choices: [call('{"n": 078')] }).replace('078', '12345'),
      sseData({ choices: [call('6789, "who":"\\u0061@b.co"}')] }),
      END,
    ]
    const events = eventsIn((await sentFor(guardOf('Completions'), chunks)).join(''))
    const deltas = events.flatMap(({ choices }) => choices as { index: number; delta: JsonObject }[])
    const textOf = (index: number): string =>
      deltas.flatMap((one) => (one.index === index ? [asString(one.delta['content']) ?? ''] : [])).join('')
    expect([textOf(0), textOf(1)]).toEqual(['<EMAIL_ADDRESS>', '<EMAIL_ADDRESS>'])
    const calls = deltas.flatMap(({ delta }) => (delta['tool_calls'] ?? []) as { function: { arguments: string } }[])
    expect(JSON.parse(calls.map((one) => one.function.arguments).join(''))).toEqual({
      n: '<SSN>',
      who: '<EMAIL_ADDRESS>',
    })
  })

  it.each<[name: string, deltaOf: (text: string) => object]>([
    ['a list of parts', (text) => ({ content: [{ type: 'text', text }] })],
    ['a function call', (text) => ({ function_call: { arguments: text } })],
    ['a transcript', (text) => ({ audio: { id: 'a', transcript: text } })],
    ['details of reasoning', (text) => ({ reasoning_details: [{ type: 'reasoning.text', text }] })],
  ])('masks a match that is cut in %s', async (_, deltaOf) => {
    const cut = ['{"a":"sec', 'ret-1"}'].map((text) => sseData({ choices: [{ index: 0, delta: deltaOf(text) }] }))
    const sent = (await sentFor(guardOf('Completions'), [...cut, END])).join('')
    expect(sent).toContain('<masked>')
    expect(sent).not.toMatch(/sec|ret-1/)
  })

  it('has no logprobs where a text was masked', async () => {
    const logprobs = { content: [{ token: 'a@b.co' }] }
    const sent = await sentFor(guardOf('Completions'), [
      completion('a@b.co', { logprobs }),
      completion(' x', { logprobs }),
      END,
    ])
    expect(eventsIn(sent.join(''))).toMatchObject([{ choices: [{ logprobs: null }] }, { choices: [{ logprobs }] }, {}])
  })
})

describe('a stream of completions', () => {
  it('has masked blocks of reasoning and masked arguments of functions', async () => {
    const chunk = (delta: object): string => sseData({ choices: [{ index: 0, delta }] })
    const chunks = [
      chunk({ reasoning_content: 'secret' }),
      chunk({ reasoning_content: '-1' }),
      chunk({ thinking_blocks: [{ type: 'thinking', thinking: 'secret-1', signature: 's' }] }),
      chunk({ function_call: { name: 'f', arguments: '{"a":"a@b' } }),
      chunk({ function_call: { arguments: '.co"}' } }),
      END,
    ]
    const sent = (await sentFor(guardOf('Completions'), chunks)).join('')
    expect(sent).not.toMatch(/secret|-1|a@b|\.co/)
    expect(sent).toContain('"thinking":"<masked>"')
  })

  it.each(['a@b.co', '["a@b.co"]', ''])('fails for an event with the data %j', async (data) => {
    const result = await guardOf('Completions').push([{ event: '', data }])
    expect(result).toEqual({ kind: 'failed', detail: 'an event of the stream is not a JSON object' })
  })
})

describe('a masked stream of messages', () => {
  it('has masked texts, thoughts and arguments', async () => {
    const event = (type: string, more: object): string => `event: ${type}\n${sseData({ type, ...more })}`
    const block = (index: number, start: object, deltas: readonly object[]): readonly string[] => [
      event('content_block_start', { index, content_block: start }),
      ...deltas.map((delta) => event('content_block_delta', { index, delta })),
      event('content_block_stop', { index }),
    ]
    const chunks = [
      event('message_start', { message: { content: [] } }),
      ...block(0, { type: 'thinking', thinking: '' }, [
        { type: 'thinking_delta', thinking: 'secr' },
        { type: 'thinking_delta', thinking: 'et-1' },
        { type: 'signature_delta', signature: 'a@b.co' },
      ]),
      ...block(1, { type: 'text', text: '' }, [
        { type: 'text_delta', text: 'a@b' },
        { type: 'text_delta', text: '.co' },
      ]),
      ...block(2, { type: 'tool_use', id: 't', name: 'f', input: {} }, [
        { type: 'input_json_delta', partial_json: '{"x":"078-05' },
        { type: 'input_json_delta', partial_json: '-1120"}' },
      ]),
      event('message_stop', {}),
    ]
    const sent = (await sentFor(guardOf('Messages'), chunks)).join('')
    const deltas = eventsIn(sent).flatMap(({ delta }) => (delta === undefined ? [] : [delta as JsonObject]))
    const joined = (name: string): string => deltas.map((delta) => asString(delta[name]) ?? '').join('')
    expect(joined('thinking')).toBe('<masked>')
    expect(joined('text')).toBe('<EMAIL_ADDRESS>')
    expect(joined('partial_json')).toBe('{"x":"<SSN>"}')
    expect(joined('signature')).toBe('a@b.co')
    expect(sent.match(/^event: /gm)).toHaveLength(chunks.length)
  })
})

describe('a masked stream of responses', () => {
  it('repeats masked texts in all its events', async () => {
    const at = { output_index: 0, content_index: 0 }
    const part = { type: 'output_text', text: TEXT, annotations: [] }
    const message = { type: 'message', role: 'assistant', content: [part] }
    const call = { type: 'function_call', name: 'f', arguments: '{"a":"secret-1"}' }
    const chunks = [
      { type: 'response.created', response: { output: [], instructions: 'a@b.co of the client' } },
      ...(TEXT.match(/[^]{1,9}/g) ?? []).map((delta) => ({ type: 'response.output_text.delta', ...at, delta })),
      { type: 'response.output_text.done', ...at, text: TEXT },
      { type: 'response.content_part.done', ...at, part },
      { type: 'response.output_item.done', output_index: 0, item: message },
      { type: 'response.function_call_arguments.delta', output_index: 1, delta: '{"a":"secret' },
      { type: 'response.function_call_arguments.delta', output_index: 1, delta: '-1"}' },
      { type: 'response.function_call_arguments.done', output_index: 1, arguments: '{"a":"secret-1"}' },
      { type: 'response.completed', response: { output: [message, call] } },
    ].map(sseData)
    const sent = (await sentFor(guardOf('Responses'), chunks)).join('')
    const events = eventsIn(sent)
    const deltas = (type: string): string =>
      events.map((event) => (event['type'] === type ? event['delta'] : '')).join('')
    expect(deltas('response.output_text.delta')).toBe(MASKED)
    expect(deltas('response.function_call_arguments.delta')).toBe('{"a":"<masked>"}')
    expect(events.slice(-4)).toMatchObject([
      {},
      {},
      { arguments: expect.stringContaining('<masked>') },
      { response: { output: [{ content: [{ text: MASKED }] }, { arguments: '{"a":"<masked>"}' }] } },
    ])
    expect(sent).not.toMatch(/lovelace|secret-1|078-05/)
    expect(sent).toContain('a@b.co of the client')
  })
})

describe('a masked stream of Gemini', () => {
  it('has masked texts and arguments', async () => {
    const chunk = (parts: readonly object[], finishReason?: string): string =>
      sseData({ candidates: [{ content: { role: 'model', parts }, ...(finishReason && { finishReason }) }] })
    const chunks = [
      chunk([{ text: 'secret', thought: true }, { text: 'a@b' }]),
      chunk([{ text: '-7', thought: true }, { text: '.co' }]),
      chunk([{ functionCall: { name: 'f', args: { x: 'secret-1' } } }], 'STOP'),
    ]
    const sent = (await sentFor(guardOf('GenerateContent'), chunks)).join('')
    expect(sent).not.toMatch(/a@b|\.co|secret|-7/)
    expect(sent).toContain('{"x":"<masked>"}')
    expect(sent).toContain('<EMAIL_ADDRESS>')
  })
})

describe('a stream that is blocked', () => {
  const guard = (check: Guard['check']): Guard => ({ name: 'webhook', failureMode: 'FailClosed', check })

  it('sends nothing of the events that were held', async () => {
    const reject = guard(({ spans }) =>
      spans.some(({ text }) => text.includes('bad')) ? { kind: 'reject', matched: ['bad'] } : { kind: 'pass' },
    )
    const stream = guardOf('Completions', reject)
    const parser = new SseParser(2 ** 20)
    const push = async (text: string) => {
      const sent = await stream.push(parser.push(Buffer.from(text)))
      return isBlocked(sent) ? sent : sseText(sent)
    }
    expect(await push(completion('ok '.repeat(500)) + completion('x'.repeat(300)))).toBe(completion('ok '.repeat(500)))
    expect(await push(completion('ba'))).toBe('')
    expect(await push(completion('d'))).toBe('')
    expect(await stream.end()).toMatchObject({ kind: 'rejected', rejection: REJECTION })
  })

  it('fails with its guard, and if too much is held', async () => {
    const fails = guardOf(
      'Completions',
      guard(() => Promise.reject(new ServiceError('gone'))),
    )
    await fails.push(new SseParser(2 ** 20).push(Buffer.from(completion('a'))))
    expect(await fails.end()).toMatchObject({ kind: 'failed' })
    const full = guardOf('Completions', REGEX, 500)
    const call = sseData({
      choices: [{ index: 0, delta: { tool_calls: [{ function: { arguments: `{"a":"${'x'.repeat(600)}` } }] } }],
    })
    expect(await full.push(new SseParser(2 ** 20).push(Buffer.from(call)))).toMatchObject({ kind: 'failed' })
  })

  it('fails behind 1024 texts of one answer', async () => {
    const stream = guardOf('Completions')
    const call = (index: number) => ({
      choices: [{ delta: { tool_calls: [{ index, function: { arguments: '{}' } }] } }],
    })
    const push = (index: number) => stream.push([{ event: '', data: JSON.stringify(call(index)) }])
    for (let index = 0; index < 1024; index++) expect(isBlocked(await push(index))).toBe(false)
    expect(await push(1024)).toEqual({ kind: 'failed', detail: 'a stream has more than 1024 texts' })
  })

  it('fails if the texts that later events repeat are too many to keep', async () => {
    const stream = guardOf('Responses', REGEX, 5000)
    const delta = { type: 'response.output_text.delta', output_index: 0, delta: 'x'.repeat(1100) }
    const results = []
    for (let at = 0; at < 5; at++) results.push(await stream.push([{ event: '', data: JSON.stringify(delta) }]))
    expect(results.map(isBlocked)).toEqual([false, false, false, false, true])
    expect(results[4]).toEqual({ kind: 'failed', detail: 'the texts of a stream are larger than 5000 characters' })
  })
})

describe('a long stream', () => {
  it('of masks side by side is read a few times, not once for each part', async () => {
    let chars = 0
    const counting: Guard = {
      ...REGEX,
      check(texts) {
        for (const { text } of texts.spans) chars += text.length
        return REGEX.check(texts)
      },
    }
    const mails = Array.from({ length: 4000 }, (_, at) => `a${at}@b.example `)
    const sent = (
      await sentFor(guardOf('Completions', counting), [...mails.map((mail) => completion(mail)), END])
    ).join('')
    expect(contentOf(sent)).toBe('<EMAIL_ADDRESS> '.repeat(4000))
    expect(chars).toBeLessThan(4 * mails.join('').length)
  })

  it('of arguments in 100,000 events is held in seconds', { timeout: 15_000 }, async () => {
    const guard = guardOf('Completions', REGEX, 2 ** 24)
    const delta = (text: string) => ({
      choices: [{ index: 0, delta: { tool_calls: [{ function: { arguments: text } }] } }],
    })
    const event = { event: '', data: JSON.stringify(delta('abcd')) }
    await guard.push([{ event: '', data: JSON.stringify(delta('{"a":"')) }])
    for (let count = 0; count < 100_000; count++) await guard.push([event])
    const rest = await guard.end()
    expect(isBlocked(rest) ? rest : rest.length).toBe(100_001)
  })
})

describe('the edits between two texts', () => {
  it.each([
    ['', '', []],
    ['abc', 'abc', []],
    ['mail a@b.co to me, please do', 'mail <E> to me, please do', [{ start: 5, end: 11, text: '<E>' }]],
    ['abc', 'abc!', [{ start: 3, end: 3, text: '!' }]],
    ['abc', '', [{ start: 0, end: 3, text: '' }]],
  ])('of %j and %j', (before, after, edits) => {
    expect(editsBetween(before, after)).toEqual(edits)
  })
})

it.each<[FormatName, readonly object[]]>([
  [
    'Messages',
    [
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'sec' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'ret-1' } },
      { type: 'content_block_stop', index: 0 },
    ],
  ],
  [
    'Responses',
    [
      { type: 'response.audio.transcript.delta', response_id: 'r', delta: 'sec' },
      { type: 'response.audio.transcript.delta', response_id: 'r', delta: 'ret-1' },
      { type: 'response.audio.transcript.done', response_id: 'r' },
    ],
  ],
])('masks a match that is cut in rare events of %s', async (format, events) => {
  const sent = (
    await sentFor(
      guardOf(format),
      events.map((event) => sseData(event)),
    )
  ).join('')
  expect(sent).toContain('<masked>')
  expect(sent).not.toMatch(/"(?:sec|ret-1)"/)
})
