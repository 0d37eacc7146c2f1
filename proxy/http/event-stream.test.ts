// The reader of event streams against the codec of the vendor.
import { EventStreamCodec } from '@smithy/core/event-streams'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EventStreamError, EventStreamReader, type StreamMessage } from './event-stream.ts'

const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8')),
  (text) => Buffer.from(text, 'utf8'),
)
const LIMIT = 1 << 20

type Headers = Parameters<typeof codec.encode>[0]['headers']

function encoded(headers: Headers, body: string): Buffer {
  return Buffer.from(codec.encode({ headers, body: Buffer.from(body) }))
}

function event(type: string, body: string): Buffer {
  return encoded(
    {
      ':message-type': { type: 'string', value: 'event' },
      ':event-type': { type: 'string', value: type },
      ':content-type': { type: 'string', value: 'application/json' },
    },
    body,
  )
}

function read(chunks: readonly Buffer[], limit = LIMIT): StreamMessage[] {
  const reader = new EventStreamReader(limit)
  const messages = chunks.flatMap((chunk) => reader.push(chunk))
  reader.end()
  return messages
}

function shown(messages: readonly StreamMessage[]): unknown {
  return messages.map(({ headers, payload }) => [headers.get(':event-type'), payload.toString('utf8')])
}

const STREAM = Buffer.concat([
  event('messageStart', '{"role":"assistant"}'),
  event('contentBlockDelta', '{"delta":{"text":"Grüße 👋"}}'),
  event('messageStop', ''),
])
const EXPECTED = [
  ['messageStart', '{"role":"assistant"}'],
  ['contentBlockDelta', '{"delta":{"text":"Grüße 👋"}}'],
  ['messageStop', ''],
]

describe('event streams', () => {
  it('reads messages of the vendor', () => {
    expect(shown(read([STREAM]))).toEqual(EXPECTED)
  })

  it('reads the same messages with every cut', () => {
    for (let cut = 0; cut <= STREAM.length; cut++) {
      expect(shown(read([STREAM.subarray(0, cut), STREAM.subarray(cut)]))).toEqual(EXPECTED)
    }
    expect(shown(read([...STREAM].map((byte) => Buffer.from([byte]))))).toEqual(EXPECTED)
  })

  it('keeps no chunk that its owner may reuse', () => {
    const reader = new EventStreamReader(LIMIT)
    const chunk = Buffer.from(STREAM.subarray(0, 40))
    const messages = reader.push(chunk)
    chunk.fill(0)
    expect(shown([...messages, ...reader.push(STREAM.subarray(40))])).toEqual(EXPECTED)
  })

  it('skips headers of all other types', () => {
    const message = encoded(
      {
        flag: { type: 'boolean', value: true },
        off: { type: 'boolean', value: false },
        byte: { type: 'byte', value: 1 },
        short: { type: 'short', value: 2 },
        integer: { type: 'integer', value: 3 },
        binary: { type: 'binary', value: Buffer.from('xyz') },
        time: { type: 'timestamp', value: new Date(0) },
        id: { type: 'uuid', value: '6ba7b810-9dad-11d1-80b4-00c04fd430c8' },
        ':event-type': { type: 'string', value: 'metadata' },
      },
      '{}',
    )
    expect(read([message]).map(({ headers }) => [...headers])).toEqual([[[':event-type', 'metadata']]])
  })

  it.each(Array.from({ length: 12 + 30 }, (_, at) => at))('rejects a message with byte %i changed', (at) => {
    const changed = Buffer.from(STREAM)
    changed[at] = (changed[at] ?? 0) ^ 0x01
    expect(() => read([changed])).toThrow(EventStreamError)
  })

  it('rejects messages over the limit before they are read', () => {
    const reader = new EventStreamReader(64)
    expect(() => reader.push(event('contentBlockDelta', 'x'.repeat(100)).subarray(0, 12))).toThrow(
      'larger than 64 bytes',
    )
  })

  it('reports a stream that ends within a message', () => {
    expect(() => read([STREAM.subarray(0, STREAM.length - 1)])).toThrow('ended within a message')
  })

  it('throws nothing but its own error for any bytes', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 64 }), { maxLength: 8 }), (chunks) => {
        try {
          read(chunks.map((chunk) => Buffer.from(chunk)))
        } catch (error) {
          expect(error).toBeInstanceOf(EventStreamError)
        }
      }),
    )
  })
})
