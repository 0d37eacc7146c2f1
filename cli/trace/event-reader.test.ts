import { array, assert, nat, property } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EventReader } from './event-reader.ts'

const EVENTS = ['{"message":{"type":"a"}}', '{"message":{"type":"b"},"x":"ü"}']

function read(chunks: readonly string[]): { events: string[]; ready: number } {
  const events: string[] = []
  let ready = 0
  const reader = new EventReader(
    ({ json }) => events.push(json),
    () => ready++,
  )
  for (const chunk of chunks) reader.push(chunk)
  reader.end()
  return { events, ready }
}

describe('EventReader', () => {
  it('reads lines of JSON, the last one with or without a newline', () => {
    expect(read([EVENTS.join('\n')]).events).toEqual(EVENTS)
    expect(read([`${EVENTS.join('\r\n')}\r\n\r\n`]).events).toEqual(EVENTS)
  })

  it('reads server-sent events split at any position', () => {
    const text = `: ready\n\n: keepalive\n\ndata: ${EVENTS[0]}\n\ndata:${EVENTS[1]}\n\n`
    assert(
      property(array(nat({ max: text.length })), (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), text.length]
        expect(read(at.slice(1).map((end, i) => text.slice(at[i], end)))).toEqual({ events: EVENTS, ready: 1 })
      }),
    )
  })

  it.each([
    ['\nnot json', 'line 2 is not JSON'],
    ['{"message":{}}', 'line 1 is not an event of a trace'],
    ['{"message":null}', 'line 1 is not an event of a trace'],
    ['[]', 'line 1 is not an event of a trace'],
    ['x'.repeat(64 * 1024 * 1024 + 1), 'line 1 is too long for an event'],
  ])('rejects %.20s', (text, problem) => {
    expect(() => read([text])).toThrow(problem)
  })
})
