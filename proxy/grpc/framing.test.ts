import { array, assert, integer, property, uint8Array } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { frameOf, MessageReader } from './framing.ts'
import { GrpcError } from './status.ts'

function readAll(reader: MessageReader, chunks: readonly Buffer[]): Buffer[] {
  const messages: Buffer[] = []
  for (const chunk of chunks) reader.push(chunk, (message) => messages.push(Buffer.from(message)))
  return messages
}

describe('MessageReader', () => {
  it('finds the same messages wherever the bytes are cut', () => {
    const messages = array(uint8Array({ maxLength: 40 }), { maxLength: 6 })
    const everyCut = property(messages, array(integer({ min: 1, max: 9 })), (sent, sizes) => {
      const wire = Buffer.concat(sent.map(frameOf))
      const chunks: Buffer[] = []
      for (let at = 0, i = 0; at < wire.length; i++) {
        const size = sizes[i % Math.max(1, sizes.length)] ?? 1
        chunks.push(wire.subarray(at, at + size))
        at += size
      }
      const reader = new MessageReader(40)
      expect(readAll(reader, chunks)).toEqual(sent.map((message) => Buffer.from(message)))
      expect(reader.isAtBoundary).toBe(true)
    })
    assert(everyCut)
  })

  it.each([
    [4, true],
    [5, false],
  ])('with a limit of 4 bytes takes %i: %s', (length, isTaken) => {
    const reader = new MessageReader(4)
    const push = (): Buffer[] => readAll(reader, [frameOf(Buffer.alloc(length))])
    if (isTaken) expect(push()).toHaveLength(1)
    else expect(push).toThrow(GrpcError)
  })

  it('rejects compressed messages, which no client requested', () => {
    const frame = frameOf(Buffer.from('x'))
    frame[0] = 1
    expect(() => readAll(new MessageReader(9), [frame])).toThrow('compressed')
  })

  it('says when a message is cut off', () => {
    for (const cut of [1, 4, 5, 6]) {
      const reader = new MessageReader(9)
      readAll(reader, [frameOf(Buffer.from('ab')).subarray(0, cut)])
      expect(reader.isAtBoundary).toBe(false)
    }
  })
})
