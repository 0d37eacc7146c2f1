// Facts of forwarded streams at every chunk boundary, and the work for events that have none.
import { describe, expect, it } from 'vitest'
import type { FormatName } from '#api/llm/formats.ts'
import { DerivedByKey } from '../message/derived-headers.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { LlmFacts } from '../exchange/facts.ts'
import { HeaderList } from '../message/headers.ts'
import { exchangeOf } from '../policy/exchange.testing.ts'
import { FORMATS } from './formats/table.ts'
import { StreamObserver } from './stream-observer.ts'
import { DroppedFields } from './translate/dropped-fields.ts'
import { ToolNames } from './translate/tool-names.ts'
import { emptyFacts } from './usage.ts'

interface Observed {
  readonly facts: LlmFacts
  readonly exchange: Exchange
  /** Events that the format has read. */
  readonly readEvents: number
}

function observed(name: FormatName, chunks: readonly Buffer[]): Observed {
  const exchange = exchangeOf({ method: 'POST' })
  const facts = emptyFacts('p')
  let readEvents = 0
  const sent: (typeof FORMATS)[FormatName] = {
    ...FORMATS[name],
    observe: (to, event) => {
      readEvents++
      FORMATS[name].observe(to, event)
    },
  }
  const observer = new StreamObserver({
    exchange,
    facts,
    texts: undefined,
    guards: undefined,
    answerHeaders: new DerivedByKey<string | undefined>(),
    bodyBytesMax: 10_000,
    translationBytesMax: 10_000,
    call: {
      conversion: { client: sent, sent, translation: undefined },
      model: 'm',
      isStreaming: true,
      params: undefined,
      framing: 'Sse',
      includeUsage: false,
      toolNames: new ToolNames(),
      pathAndQuery: '/',
      headers: new HeaderList(),
      body: Buffer.alloc(0),
      dropped: new DroppedFields(),
    },
  })
  for (const chunk of chunks) observer.push(chunk)
  observer.end()
  return { facts, exchange, readEvents }
}

const word = (text: string, more = '"usage":null'): string =>
  `data: {"model":"m1","choices":[{"delta":{"content":${JSON.stringify(text)}}}],${more}}\n\n`
const WORDS = word('one') + word('two "usage": {') + word('dré')
const USAGE = '"usage": {"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}'
const DONE = 'data: [DONE]\n\n'
const TRUNCATED = 'the stream of the provider ended without its final event'

const STREAMS: readonly (readonly [string, string, { readonly total?: number; readonly detail?: string }])[] = [
  ['usage in the last event', `${WORDS}data: {"choices":[],${USAGE}}\n\n${DONE}`, { total: 12 }],
  ['usage between other events', `${WORDS}${word('x', USAGE)}${WORDS}${DONE}`, { total: 12 }],
  ['usage over two data lines', `${WORDS}data: {"usage"\ndata: :{"total_tokens":12}}\n\n${DONE}`, { total: 12 }],
  ['lines that end with CR and LF', `${WORDS}data: {${USAGE}}\n\n${DONE}`.replaceAll('\n', '\r\n'), { total: 12 }],
  ['comments and event names', `${WORDS}: "usage"\n\nevent: x\ndata: {${USAGE}}\n\n${DONE}: ping\n\n`, { total: 12 }],
  ['a byte order mark', `\u{FEFF}${WORDS}data: {${USAGE}}\n\n${DONE}`, { total: 12 }],
  ['no final event', `${WORDS}: data [DONE]\n\n`, { detail: TRUNCATED }],
  ['an unfinished event after the final one', `${WORDS}${DONE}data: {`, {}],
  ['an unfinished final event', `${WORDS}data: [DONE]\n`, { detail: TRUNCATED }],
  [
    'an error',
    `${WORDS}data: {"error":{"type":"overloaded"}}\n\n${DONE}`,
    { detail: 'the provider reported an error in its stream: overloaded' },
  ],
]

describe('StreamObserver', () => {
  it.each(STREAMS)('reads %s the same at every chunk boundary', (_, text, { total, detail }) => {
    const bytes = Buffer.from(text)
    const cuts = [[bytes], [...bytes].map((byte) => Buffer.from([byte]))]
    for (let cut = 1; cut < bytes.length; cut++) cuts.push([bytes.subarray(0, cut), bytes.subarray(cut)])
    for (const chunks of cuts) {
      const { facts, exchange } = observed('Completions', chunks)
      const { totalTokens, responseModel, timeToFirstTokenMs = -1 } = facts
      const read = { totalTokens, responseModel, hasFirstToken: timeToFirstTokenMs >= 0, detail: exchange.errorDetail }
      const expected = { totalTokens: total, responseModel: 'm1', hasFirstToken: true, detail }
      expect(read, `first chunk of ${chunks[0]?.length ?? 0} bytes`).toEqual(expected)
    }
  })

  it('recognises the final event of a format with named events', () => {
    const text = 'event: content_block_delta\ndata: {"type":"content_block_delta"}\n\n'
    const stop = 'event: message_stop\ndata: {"type":"message_stop"}\n\nevent: ping\n\n'
    expect(observed('Messages', [Buffer.from(text + stop)]).exchange.errorDetail).toBeUndefined()
    expect(observed('Messages', [Buffer.from(text)]).exchange.errorDetail).toBe(TRUNCATED)
  })

  it('reads only the events until the first token, and those with usage', () => {
    const text = `${word('one')}${word('two').repeat(50)}data: {${USAGE}}\n\n${DONE}`
    expect(observed('Completions', [Buffer.from(text)]).readEvents).toBe(2)
  })
})
