// Streams of providers that follow the format of chat completions in their own way.
import { describe, expect, it } from 'vitest'
import { fold, type FoldedAnswer } from '../../canonical/fold.ts'
import { grammatical } from '../../canonical/grammar.testing.ts'
import type { AnswerEvent } from '../../canonical/answer.ts'
import { decodeAnswer } from './answer.ts'
import { CompletionsDecoder } from './decode-stream.ts'
import { JsonEnd } from './json-end.ts'

interface Read {
  readonly answer: FoldedAnswer
  readonly events: readonly AnswerEvent[]
}

function read(...data: readonly (object | string)[]): Read {
  const decoder = new CompletionsDecoder()
  const events = data.flatMap((one) =>
    decoder.event({ event: '', data: typeof one === 'string' ? one : JSON.stringify(one) }),
  )
  const all = grammatical([...events, ...decoder.end()])
  return { answer: fold(all), events: all }
}

const delta = (fields: object, reason: string | null = null) => ({
  id: 'c',
  model: 'm',
  choices: [{ index: 0, delta: fields, finish_reason: reason }],
})
const call = (fields: object) => delta({ tool_calls: [fields] })
const begin = (id: string, name: string, text = '', more: object = {}) =>
  call({ id, type: 'function', function: { name, arguments: text }, ...more })
const rest = (text: string, more: object = {}) => call({ function: { arguments: text }, ...more })
const END = delta({}, 'tool_calls')

const calls = ({ answer }: Read): readonly string[] =>
  answer.parts.flatMap((part) => (part.kind === 'toolCall' ? [`${part.id} ${part.name} ${part.text}`] : []))

describe('tool calls of a stream', () => {
  it('whose arguments are an object, also of a whole answer', () => {
    const fields = { id: 'a', function: { name: 'f', arguments: { city: 'Paris', days: 2 } } }
    expect(calls(read(call({ ...fields, index: 0 }), END))).toEqual(['a f {"city":"Paris","days":2}'])
    const message = { role: 'assistant', content: null, tool_calls: [fields] }
    const whole = decodeAnswer({ id: 'c', model: 'm', choices: [{ message, finish_reason: 'tool_calls' }] })
    const answer = fold(grammatical(whole ?? []))
    expect(calls({ answer, events: [] })).toEqual(['a f {"city":"Paris","days":2}'])
  })

  it('whose deltas come in any order', () => {
    const out = read(
      begin('a', 'f', '', { index: 0 }),
      begin('b', 'g', '{"y"', { index: 1 }),
      rest('{"x":', { index: 0 }),
      rest(':2}', { index: 1 }),
      rest('1}', { index: 0 }),
      END,
    )
    expect(calls(out)).toEqual(['a f {"x":1}', 'b g {"y":2}'])
  })

  it('that all have the index 0', () => {
    const out = read(begin('a', 'f', '{"x":1}', { index: 0 }), begin('b', 'g', '{}', { index: 0 }), END)
    expect(calls(out)).toEqual(['a f {"x":1}', 'b g {}'])
  })

  it('that have no index', () => {
    const out = read(begin('a', 'f'), rest('{"x":'), rest('1}'), begin('b', 'g'), rest('{}'), END)
    expect(calls(out)).toEqual(['a f {"x":1}', 'b g {}'])
  })

  it('that repeat their id in each delta', () => {
    const out = read(begin('a', 'f', '{"x"', { index: 0 }), begin('a', 'f', ':1}', { index: 0 }), END)
    expect(calls(out)).toEqual(['a f {"x":1}'])
  })

  it('are closed when they are complete and another begins', () => {
    const { events } = read(begin('a', 'f', '{"x":"}"}', { index: 0 }), begin('b', 'g', '{', { index: 1 }), END)
    const kinds = events.map((event) => ('index' in event ? `${event.kind} ${event.index}` : event.kind))
    expect(kinds.indexOf('close 0')).toBeLessThan(kinds.indexOf('open 1'))
  })

  it('are the reason of the end, also where the provider reports another', () => {
    expect(read(begin('a', 'f', '{}', { index: 0 }), delta({}, 'stop')).answer.reason).toBe('toolCalls')
  })
})

describe('a stream', () => {
  it('takes id and model from the first event with a choice', () => {
    const { answer } = read(
      { id: '', model: '', choices: [], prompt_filter_results: [] },
      delta({ content: 'x' }, 'stop'),
    )
    expect(answer).toMatchObject({ id: 'c', model: 'm', parts: [{ text: 'x' }] })
  })

  it.each(['reasoning_content', 'reasoning'])('has reasoning in %s, before and between texts', (name) => {
    const out = read(
      delta({ [name]: 'a' }),
      delta({ content: 'b' }),
      delta({ [name]: 'c' }),
      delta({}, 'stop'),
      '[DONE]',
    )
    expect(out.answer.parts.map((part) => ('text' in part ? `${part.kind} ${part.text}` : ''))).toEqual([
      'reasoning a',
      'text b',
      'reasoning c',
    ])
  })

  it('has its refusal and its citations', () => {
    const url_citation = { url: 'u', title: 't', start_index: 0, end_index: 1 }
    const out = read(
      delta({ content: 'x' }),
      delta({ annotations: [{ type: 'url_citation', url_citation }] }),
      delta({ refusal: 'no' }, 'content_filter'),
    )
    expect(out.answer).toMatchObject({
      reason: 'contentFilter',
      parts: [
        { text: 'x', citations: [{ url: 'u', title: 't', start: 0, end: 1 }] },
        { kind: 'refusal', text: 'no' },
      ],
    })
  })

  it('reads the usage behind the end, and never erases a count', () => {
    const usage = { prompt_tokens: 7, completion_tokens: 2, completion_tokens_details: { reasoning_tokens: 1 } }
    const out = read(
      delta({}, 'stop'),
      { choices: [], usage },
      { choices: [], usage: { prompt_tokens: null } },
      '[DONE]',
    )
    expect(out.answer.usage).toEqual({ inputTokens: 7, outputTokens: 2, reasoningTokens: 1 })
  })

  it.each<[string, (object | string)[], string]>([
    ['is not valid JSON', ['{'], 'not valid JSON'],
    ['reports an error', [{ error: { message: 'busy' } }], 'busy'],
    ['reports an error without a message', [{ error: {} }], 'reported an error'],
    ['reports an error as a text', [{ error: 'busy' }], 'busy'],
    ['ends without a reason', [delta({ content: 'x' }), '[DONE]'], 'before the response was complete'],
  ])('that %s is an error', (_, data, message) => {
    expect(read(...data).answer.error?.message).toContain(message)
  })
})

describe('the end of a JSON object', () => {
  it.each([
    ['{}', true],
    ['{"a":{"b":[1,"}"]}}', true],
    ['{"a":"\\"}"', false],
    ['{"a":{}', false],
    ['', false],
  ])('%s: %s, in pieces of any size', (text, isComplete) => {
    for (let size = 1; size <= text.length + 1; size++) {
      const end = new JsonEnd()
      for (let at = 0; at < text.length; at += size) end.push(text.slice(at, at + size))
      expect(end.isComplete).toBe(isComplete)
    }
  })
})
