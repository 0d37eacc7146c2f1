// Messages of both directions in any chunks, with their bytes.
import { describe, expect, it } from 'vitest'
import { closeMessage, textMessage, WebSocketMessages } from './websocket-messages.ts'

const key = Buffer.from([1, 2, 3, 4])

/** A frame; `mask`: of a client. */
function frame(first: number, payload: string | Buffer, mask?: Buffer): Buffer {
  const bytes = Buffer.from(payload)
  const length = bytes.length < 126 ? Buffer.from([bytes.length]) : Buffer.alloc(bytes.length < 65_536 ? 3 : 9)
  if (bytes.length >= 65_536) length.writeBigUInt64BE(BigInt(bytes.length), 1)
  else if (bytes.length >= 126) length.writeUInt16BE(bytes.length, 1)
  if (bytes.length >= 126) length[0] = bytes.length < 65_536 ? 126 : 127
  if (mask === undefined) return Buffer.concat([Buffer.from([first]), length, bytes])
  length[0] = (length[0] ?? 0) | 0x80
  const hidden = bytes.map((byte, index) => byte ^ (mask[index % 4] ?? 0))
  return Buffer.concat([Buffer.from([first]), length, mask, hidden])
}

const MIDDLE = 'é'.repeat(200)
const LONG = 'x'.repeat(70_000)
const framesOf = (mask: Buffer | undefined): readonly Buffer[] => [
  frame(0x81, 'first', mask),
  frame(0x82, 'binary', mask),
  frame(0x81, MIDDLE, mask),
  frame(0x01, 'in ', mask),
  frame(0x89, 'ping', mask),
  frame(0x00, 'three ', mask),
  frame(0x80, 'parts', mask),
  frame(0x81, '', mask),
  frame(0x81, LONG, mask),
  frame(0x88, '', mask),
]

const reader = (isMasked: boolean, messageBytesMax = 100_000) => new WebSocketMessages({ isMasked, messageBytesMax })

function read(bytes: Buffer, size: number, isMasked: boolean, messageBytesMax?: number) {
  const messages = reader(isMasked, messageBytesMax)
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
    messages.push(bytes.subarray(at * size, (at + 1) * size)),
  ).flat()
}

describe.each([
  ['a client', key],
  ['a server', undefined],
])('messages of %s', (_, mask) => {
  const frames = framesOf(mask)
  const bytes = Buffer.concat(frames)

  it.each([1, 2, 3, 7, 1024, bytes.length])('are the same in chunks of %d bytes, and keep their bytes', (size) => {
    const messages = read(bytes, size, mask !== undefined)
    expect(messages.map(({ kind, text }) => [kind, text])).toEqual([
      ['text', 'first'],
      ['binary', ''],
      ['text', MIDDLE],
      ['control', ''],
      ['text', 'in three parts'],
      ['text', ''],
      ['text', LONG],
      ['control', ''],
    ])
    const [first, binary, middle, part, ping, ...rest] = frames
    const order = [first, binary, middle, ping, part, ...rest].map((one) => one ?? Buffer.alloc(0))
    expect(Buffer.concat(messages.map((one) => one.bytes)).equals(Buffer.concat(order))).toBe(true)
  })

  it.each<readonly [string, Buffer, RegExp]>([
    ['of the other side', frame(0x81, 'a', mask === undefined ? key : undefined), /is masked|is not masked/],
    ['compressed', frame(0xc1, 'a', mask), /compressed/],
    ['of an unknown kind', frame(0x83, 'a', mask), /unknown opcode/],
    ['a continuation of nothing', frame(0x80, 'a', mask), /out of order/],
    [
      'in the middle of another message',
      Buffer.concat([frame(0x01, 'a', mask), frame(0x81, 'b', mask)]),
      /out of order/,
    ],
    ['a fragment of a ping', frame(0x09, 'a', mask), /control frame/],
    ['a ping that is too long', frame(0x89, 'a'.repeat(126), mask), /control frame|larger/],
    ['no UTF-8', frame(0x81, Buffer.from([0xff]), mask), /UTF-8/],
    ['over the limit', frame(0x81, 'x'.repeat(201), mask), /larger than 200 bytes/],
    [
      'over the limit together',
      Buffer.concat([frame(1, 'x'.repeat(101), mask), frame(0x80, 'x'.repeat(100), mask)]),
      /larger than 200 bytes/,
    ],
    [
      'one of too many',
      Buffer.concat(Array.from({ length: 4098 }, (__, at) => frame(at === 0 ? 1 : 0, '', mask))),
      /too many/,
    ],
  ])('end with an error if a frame is %s', (__, faulty, message) => {
    expect(() => read(faulty, faulty.length, mask !== undefined, 200)).toThrow(message)
  })
})

it.each([true, false])('what is written is one frame of its side, masked: %s', (isMasked) => {
  const texts = ['', 'a', MIDDLE, LONG]
  const bytes = Buffer.concat(texts.map((text) => textMessage(text, isMasked)))
  expect(read(bytes, bytes.length, isMasked)).toMatchObject(texts.map((text) => ({ kind: 'text', text })))
  const [close] = read(closeMessage(1008, 'r'.repeat(200), isMasked), 300, isMasked)
  expect([close?.kind, close?.bytes.length]).toEqual(['control', 2 + (isMasked ? 4 : 0) + 125])
})
