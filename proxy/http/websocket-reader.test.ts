import { describe, expect, it } from 'vitest'
import { WebSocketReader } from './websocket-reader.ts'

/** A frame of a server: not masked. */
function frame(first: number, payload: string | Buffer): Buffer {
  const bytes = Buffer.from(payload)
  if (bytes.length < 126) return Buffer.concat([Buffer.from([first, bytes.length]), bytes])
  const head = Buffer.alloc(bytes.length < 65_536 ? 4 : 10)
  head[0] = first
  head[1] = bytes.length < 65_536 ? 126 : 127
  if (bytes.length < 65_536) head.writeUInt16BE(bytes.length, 2)
  else head.writeBigUInt64BE(BigInt(bytes.length), 2)
  return Buffer.concat([head, bytes])
}

const TEXT = 0x81
const MIDDLE = 'é'.repeat(200)
const LONG = 'x'.repeat(70_000)
const STREAM = Buffer.concat([
  frame(TEXT, 'first'),
  frame(0x82, 'binary'),
  frame(TEXT, MIDDLE),
  frame(0x01, 'in '),
  frame(0x89, 'ping'),
  frame(0x00, 'three '),
  frame(0x80, 'parts'),
  frame(0x02, 'binary '),
  frame(0x80, 'parts'),
  frame(TEXT, ''),
  frame(TEXT, LONG),
  frame(0x88, ''),
])
const MESSAGES = ['first', MIDDLE, 'in three parts', '', LONG]

function read(bytes: Buffer, size: number, bytesMax = 100_000): string[] {
  const reader = new WebSocketReader(bytesMax)
  const messages: string[] = []
  for (let at = 0; at < bytes.length; at += size) {
    const chunk = Buffer.from(bytes.subarray(at, at + size))
    messages.push(...reader.push(chunk))
    // The owner of a chunk may reuse it.
    chunk.fill(0)
  }
  return messages
}

describe('the text messages of a server', () => {
  it.each([1, 2, 3, 7, 1024, STREAM.length])('are the same in chunks of %d bytes', (size) => {
    expect(read(STREAM, size)).toEqual(MESSAGES)
  })

  it.each([
    ['masked', Buffer.from([TEXT, 0x81, 0, 0, 0, 0, 65]), 'masked'],
    ['compressed', Buffer.from([0xc1, 1, 65]), 'compressed'],
    ['of an unknown kind', Buffer.from([0x83, 1, 65]), 'unknown opcode'],
    ['of an impossible length', Buffer.from([TEXT, 127, 255, 255, 255, 255, 255, 255, 255, 255]), 'invalid length'],
    ['over the limit', frame(TEXT, 'x'.repeat(11)), 'larger than 10 bytes'],
    ['over the limit together', Buffer.concat([frame(1, 'x'.repeat(6)), frame(0x80, 'x'.repeat(5))]), 'larger than 10'],
  ])('cannot be read if a frame is %s', (_, bytes, message) => {
    expect(() => read(bytes, 3, 10)).toThrow(message)
  })

  it('do not end at a large binary message', () => {
    expect(read(Buffer.concat([frame(0x82, LONG), frame(TEXT, 'next')]), 500, 10)).toEqual(['next'])
  })
})
