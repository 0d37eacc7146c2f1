// Answers, streams and errors of the Converse API: a whole answer and its stream have the same events.
import { describe, expect, it } from 'vitest'
import type { AnswerEvent } from '../../canonical/answer.ts'
import { fold } from '../../canonical/fold.ts'
import { grammatical } from '../../canonical/grammar.testing.ts'
import type { JsonObject } from '../../json.ts'
import { converseChat } from './chat.ts'

type Frame = readonly [event: string, data: JsonObject]

function read(frames: readonly Frame[]): readonly AnswerEvent[] {
  const decoder = converseChat.decodeStream()
  return grammatical([
    ...frames.flatMap(([event, data]) => decoder.event({ event, data: JSON.stringify(data) })),
    ...decoder.end(),
  ])
}

const delta = (contentBlockIndex: number, one: JsonObject): Frame => [
  'contentBlockDelta',
  { contentBlockIndex, delta: one, p: 'abcd' },
]
const stop = (contentBlockIndex: number): Frame => ['contentBlockStop', { contentBlockIndex }]
const START: Frame = ['messageStart', { role: 'assistant' }]
const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 18, cacheReadInputTokens: 2, cacheWriteInputTokens: 1 }

const WHOLE: JsonObject = {
  output: {
    message: {
      role: 'assistant',
      content: [
        { reasoningContent: { reasoningText: { text: 'hm', signature: 'sig' } } },
        { reasoningContent: { redactedContent: 'QUJD' } },
        { text: 'Grüße' },
        { toolUse: { toolUseId: 'c1', name: 'f', input: { a: 1 } } },
        { toolUse: { toolUseId: 'c2', name: 'now', input: {} } },
      ],
    },
  },
  stopReason: 'tool_use',
  usage,
}

const STREAM: readonly Frame[] = [
  START,
  delta(0, { reasoningContent: { text: 'h' } }),
  delta(0, { reasoningContent: { text: 'm' } }),
  delta(0, { reasoningContent: { signature: 'sig' } }),
  stop(0),
  delta(1, { reasoningContent: { redactedContent: 'QUJD' } }),
  stop(1),
  delta(2, { text: 'Grü' }),
  delta(2, { text: 'ße' }),
  stop(2),
  ['contentBlockStart', { contentBlockIndex: 3, start: { toolUse: { toolUseId: 'c1', name: 'f' } } }],
  delta(3, { toolUse: { input: '{"a"' } }),
  delta(3, { toolUse: { input: ':1}' } }),
  stop(3),
  ['contentBlockStart', { contentBlockIndex: 4, start: { toolUse: { toolUseId: 'c2', name: 'now' } } }],
  stop(4),
  ['messageStop', { stopReason: 'tool_use' }],
  ['metadata', { usage, metrics: { latencyMs: 7 } }],
]

describe('an answer of the Converse API', () => {
  it('has the same content as its stream', () => {
    const whole = converseChat.decodeAnswer(WHOLE) ?? []
    expect({ ...fold(read(STREAM)) }).toEqual({ ...fold(grammatical(whole)) })
    expect({ ...fold(whole) }).toMatchObject({
      parts: [
        { kind: 'reasoning', text: 'hm', signature: { format: 'Converse', value: 'sig' } },
        { kind: 'reasoning', text: '', signature: { format: 'Converse', value: 'redacted:QUJD' } },
        { kind: 'text', text: 'Grüße' },
        { kind: 'toolCall', id: 'c1', name: 'f', text: '{"a":1}' },
        { kind: 'toolCall', id: 'c2', name: 'now', text: '{}' },
      ],
      usage: { inputTokens: 13, cacheReadTokens: 2, cacheWriteTokens: 1, outputTokens: 5 },
      reason: 'toolCalls',
    })
  })

  it('keeps citations, and blocks that only the vendor has', () => {
    const citation = { title: 't', sourceContent: [{ text: 'q' }], location: { web: { url: 'u' } } }
    const video = { video: { format: 'mp4' } }
    const content = [{ citationsContent: { content: [{ text: 'x' }], citations: [citation] } }, video]
    const original = { format: 'Converse', value: citation }
    expect({ ...fold(converseChat.decodeAnswer({ output: { message: { content } } }) ?? []) }).toMatchObject({
      parts: [
        { kind: 'text', text: 'x', citations: [{ url: 'u', title: 't', quote: 'q', original }] },
        { kind: 'opaque', value: video },
      ],
    })
    expect(converseChat.decodeAnswer({ message: 'no' })).toBe(undefined)
  })

  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stopSequence'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'contextLength'],
    ['content_filtered', 'contentFilter'],
    ['guardrail_intervened', 'contentFilter'],
    ['new_reason', 'stop'],
  ])('ends with %s as %s', (stopReason, reason) => {
    expect(fold(read([START, ['messageStop', { stopReason }]])).reason).toBe(reason)
  })
})

describe('a stream of the Converse API', () => {
  it('fails when it ends before its reason', () => {
    for (let frames = 0; frames < STREAM.length - 2; frames++) {
      expect(read(STREAM.slice(0, frames)).at(-1)).toMatchObject({ kind: 'error', error: { kind: 'api' } })
    }
    expect(read(STREAM.slice(0, -1)).at(-1)).toMatchObject({ kind: 'finish', reason: 'toolCalls' })
  })

  it.each([
    ['throttlingException', 'rateLimit'],
    ['validationException', 'invalidRequest'],
    ['serviceUnavailableException', 'overloaded'],
    ['modelStreamErrorException', 'api'],
    ['error', 'api'],
  ])('fails with %s as %s', (event, kind) => {
    const error = { kind, message: 'busy', vendorType: undefined, vendorCode: event }
    expect(read([START, delta(0, { text: 'a' }), [event, { message: 'busy' }]]).at(-1)).toEqual({
      kind: 'error',
      error,
    })
  })

  it('fails with an event that is not JSON, and ignores events that it does not have', () => {
    const decoder = converseChat.decodeStream()
    expect(decoder.event({ event: 'later', data: '{}' })).toEqual([])
    expect(decoder.event({ event: 'messageStart', data: '{' })).toMatchObject([{ kind: 'error' }])
    expect(decoder.event({ event: 'messageStart', data: '{}' })).toEqual([])
  })
})

describe('an error of Bedrock', () => {
  it.each([
    [{ message: 'm' }, 400, 'invalidRequest'],
    [{ Message: 'm' }, 403, 'permission'],
    [{ message: 'm' }, 424, 'api'],
    [{ message: 'm' }, 429, 'rateLimit'],
    [{ message: 'm' }, 503, 'overloaded'],
    [{ __type: 'com.amazon.coral.service#AccessDeniedException', message: 'm' }, 400, 'permission'],
  ])('%j with status %i is %s', (body, status, kind) => {
    expect(converseChat.decodeError(body, status)).toMatchObject({ kind, message: 'm' })
  })

  it('is nothing without a message', () => {
    expect(converseChat.decodeError({ error: { message: 'm' } }, 400)).toBe(undefined)
  })
})

it('a call that the vendor has answered itself does not reach the client, in a whole answer and in a stream', () => {
  const toolUse = { toolUseId: 's1', name: 'nova_grounding', type: 'server_tool_use', input: { q: 'x' } }
  const toolResult = { toolUseId: 's1', content: [{ text: 'found' }] }
  const content = [{ toolUse }, { toolResult }, { text: 'Found.' }]
  const whole = converseChat.decodeAnswer({ output: { message: { content } }, stopReason: 'end_turn', usage }) ?? []
  const { input: _, ...started } = toolUse
  const stream = read([
    START,
    ['contentBlockStart', { contentBlockIndex: 0, start: { toolUse: started } }],
    delta(0, { toolUse: { input: '{"q":"x"}' } }),
    stop(0),
    ['contentBlockStart', { contentBlockIndex: 1, start: { toolResult } }],
    stop(1),
    delta(2, { text: 'Found.' }),
    stop(2),
    ['messageStop', { stopReason: 'end_turn' }],
    ['metadata', { usage }],
  ])
  for (const events of [whole, stream]) {
    const { parts } = fold(events)
    expect(parts.filter(({ kind }) => kind !== 'opaque')).toMatchObject([{ kind: 'text', text: 'Found.' }])
  }
})
