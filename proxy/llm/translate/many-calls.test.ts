// Answers and requests with thousands of tool calls: all of them arrive, in a time that grows with their number.
// @module-tag full
import { describe, expect, it } from 'vitest'
import type { SentFormatName } from '#api/llm/formats.ts'
import { sseData, SseParser } from '../../http/sse.ts'
import { CompletionsDecoder } from '../formats/completions/decode-stream.ts'
import { FRAMES } from '../frames.ts'
import { CLIENTS, jsonResponse, streamResponse } from './clients.testing.ts'
import { converseAnswer, converseStream } from './converse.testing.ts'
import { expected } from './expected.testing.ts'
import { ToolNames } from './tool-names.ts'
import { notesIn, translationOf } from './translate.testing.ts'
import { VENDORS, type Scenario, type VendorName } from './vendors.testing.ts'

const CALLS = 5000
const SCENARIO: Scenario = {
  calls: Array.from({ length: CALLS }, (_, at) => ({ id: `call_${at}`, name: 'f', input: `{"at":${at}}` })),
  stop: 'toolCalls',
  usage: { input: 3, cached: 0, output: 2 },
}
const SOURCE = { id: 'req-1', model: 'm', names: new ToolNames() }
const OPTIONS = { createdSeconds: 7, includeUsage: true, source: SOURCE }
const NAMES: readonly VendorName[] = ['Completions', 'Messages', 'Responses', 'GenerateContent']
const PROVIDERS: readonly (VendorName | 'Converse')[] = [...NAMES, 'Converse']
const PAIRS = PROVIDERS.flatMap((to) => NAMES.filter((from) => from !== to).map((from) => [from, to] as const))

function whole(to: SentFormatName & (VendorName | 'Converse')) {
  return to === 'Converse' ? converseAnswer(SCENARIO) : VENDORS[to].whole(SCENARIO)
}

function frames(to: VendorName | 'Converse') {
  if (to !== 'Converse') return new SseParser(2 ** 24).push(Buffer.from(VENDORS[to].stream(SCENARIO).join('')))
  return FRAMES.AwsEventStream.reader(2 ** 24).push(Buffer.concat(converseStream(SCENARIO)))
}

describe.each(PAIRS)('%s from %s', (from, to) => {
  const translation = translationOf(from, to)
  const client = CLIENTS[from]
  const seen = expected(SCENARIO, client.stops.toolCalls)

  it('has all calls of a whole answer', async () => {
    const answer = translation.answer(whole(to), 7, SOURCE)
    expect(await client.read(jsonResponse(answer), false)).toEqual(seen)
  })

  it('has all calls of a stream', async () => {
    const translator = translation.stream(OPTIONS)
    const text =
      frames(to)
        .map((event) => translator.event(event))
        .join('') + translator.end()
    expect(translator.isFailed).toBe(false)
    // The SDK of OpenAI rejects the index of a call over 127 in a stream.
    if (from === 'Completions') expect(text.match(/"id":"call_\d+"/g)).toHaveLength(CALLS)
    else expect(await client.read(streamResponse(text), true)).toEqual(seen)
  })
})

const call = (at: number, more: object) => ({ index: at, ...more })
const chunk = (...calls: readonly object[]): string =>
  sseData({ id: 'c', choices: [{ index: 0, delta: { tool_calls: calls } }] })

const indexes = Array.from({ length: 100_000 }, (_, at) => at)

/** A decoder that looks at all previous calls for each new one takes minutes. */
describe('100,000 calls of chat completions', () => {
  const eventsOf = (texts: readonly string[]) => {
    const decoder = new CompletionsDecoder()
    const parser = new SseParser(2 ** 24)
    return texts.flatMap((text) => parser.push(Buffer.from(text)).flatMap((event) => decoder.event(event)))
  }
  const opened = (at: number, text: string) =>
    chunk(call(at, { id: `c${at}`, function: { name: 'f', arguments: text } }))

  it('one after the other are read in seconds', { timeout: 20_000 }, () => {
    const events = eventsOf(indexes.map((at) => opened(at, '{}')))
    expect(events.filter(({ kind }) => kind === 'open')).toHaveLength(100_000)
  })

  it('side by side are read in seconds', { timeout: 20_000 }, () => {
    const texts = [
      ...indexes.map((at) => opened(at, '{')),
      ...indexes.toReversed().map((at) => chunk(call(at, { function: { arguments: '}' } }))),
    ]
    expect(eventsOf(texts).filter(({ kind }) => kind === 'arguments')).toHaveLength(200_000)
  })
})

it('results of 100,000 calls in a responses request are read in seconds', { timeout: 20_000 }, () => {
  const input = [
    ...indexes.map((at) => ({ type: 'function_call', call_id: `c${at}`, name: 'f', arguments: '{}' })),
    ...indexes.map((at) => ({ type: 'function_call_output', call_id: `c${at}`, output: 'r' })),
  ]
  const { messages } = translationOf('Responses', 'Completions').request({ model: 'm', input }, notesIn([]))
  expect(messages).toHaveLength(100_001)
})
