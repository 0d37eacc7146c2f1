// Facts of forwarded streams at every chunk boundary, and the work for events that have none.
import { describe, expect, it } from 'vitest'
import { observed } from './stream-observer.testing.ts'

const word = (text: string, more = '"usage":null'): string =>
  `data: {"model":"m1","choices":[{"delta":{"content":${JSON.stringify(text)}}}],${more}}\n\n`
const WORDS = word('one') + word('two "usage": {') + word('dré')
const USAGE = '"usage": {"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}'
const DONE = 'data: [DONE]\n\n'
const TRUNCATED = 'the stream of the provider ended without its final event'

const STREAMS: readonly (readonly [string, string, { readonly total?: number; readonly detail?: string }])[] = [
  ['usage in the last event', `${WORDS}data: {"choices":[],${USAGE}}\n\n${DONE}`, { total: 12 }],
  ['usage between other events', `${WORDS}${word('x', USAGE)}${WORDS}${DONE}`, { total: 12 }],
  ['usage before events with null', `${word('x', USAGE)}${word('y', '"usage" : null')}${WORDS}${DONE}`, { total: 12 }],
  ['usage under another name', `${WORDS}data: {"usage_x":null,"choices":[],${USAGE}}\n\n${DONE}`, { total: 12 }],
  ['no usage', `${word('x', '"a":1')}${DONE}`, {}],
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
    const cuts: (Buffer[] | { whole: Buffer })[] = [
      { whole: bytes },
      [bytes],
      [...bytes].map((byte) => Buffer.of(byte)),
    ]
    for (let cut = 1; cut < bytes.length; cut++) cuts.push([bytes.subarray(0, cut), bytes.subarray(cut)])
    for (const chunks of cuts) {
      const { facts, exchange } = observed('Completions', chunks)
      const { totalTokens, responseModel, timeToFirstTokenMs = -1 } = facts
      const read = { totalTokens, responseModel, hasFirstToken: timeToFirstTokenMs >= 0, detail: exchange.errorDetail }
      const expected = { totalTokens: total, responseModel: 'm1', hasFirstToken: true, detail }
      const place = 'whole' in chunks ? 'the whole' : `${chunks[0]?.length ?? 0} bytes`
      expect(read, `first chunk: ${place}`).toEqual(expected)
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
