// Every split of a message gives the same result as the whole, and no bytes make a parser throw, hang or run away.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '#test/run/runs.ts'
import { ChunkedDecoder } from './chunked.ts'
import { DEFAULT_LIMITS } from './handler.ts'
import { RequestParser } from './request-parser.ts'
import { ResponseParser } from './response-parser.ts'

const LIMITS = { ...DEFAULT_LIMITS, headerBytesMax: 120, headersMax: 4 }

interface Outcome {
  readonly result: string
  readonly consumed: number
}

type Feed = (
  bytes: Buffer,
  start: number,
  end: number,
) => { readonly result: string; readonly next: number } | undefined

/** Feeds parts until a result is there; `consumed` counts from the first byte. */
function run(feed: Feed, bytes: Buffer, cuts: readonly number[]): Outcome {
  let start = 0
  for (const end of [...cuts, bytes.length]) {
    if (end <= start) continue
    // Each part in a buffer of its own place, as the shared read buffer is: nothing may point into an older part.
    const part = Buffer.concat([Buffer.alloc(3, 0x41), bytes.subarray(start, end)])
    const outcome = feed(part, 3, part.length)
    part.fill(0x42)
    if (outcome !== undefined) {
      return { result: outcome.result, consumed: outcome.result.startsWith('problem') ? -1 : start + outcome.next - 3 }
    }
    start = end
  }
  return { result: 'more', consumed: bytes.length }
}

function requestFeed(): Feed {
  const parser = new RequestParser('http')
  return (bytes, start, end) => {
    const head = parser.feed(bytes, { start, end }, LIMITS)
    if (head === undefined) return undefined
    return { result: 'code' in head ? `problem ${head.code}` : JSON.stringify(head), next: parser.next }
  }
}

function responseFeed(): Feed {
  const parser = new ResponseParser(LIMITS)
  return (bytes, start, end) => {
    const head = parser.feed(bytes, { start, end }, { isHead: false, preservesCase: false })
    if (head === undefined) return undefined
    return { result: 'code' in head ? `problem ${head.code}` : JSON.stringify(head), next: parser.next }
  }
}

function chunkedFeed(): Feed {
  const decoder = new ChunkedDecoder()
  let text = ''
  const target = {
    push(buffer: Buffer, start: number, end: number) {
      text += buffer.toString('latin1', start, end)
    },
  }
  return (bytes, start, end) => {
    // A copy: chunks are joined in place.
    const next = decoder.decode(Buffer.from(bytes), { start, end }, target)
    if (decoder.isDone) return { result: `done ${text}`, next }
    return decoder.isBad ? { result: `problem ${text}`, next } : undefined
  }
}

const REQUESTS = [
  'GET / HTTP/1.1\r\nhost: a\r\n\r\nrest',
  '\r\nPOST /x?y HTTP/1.1\r\nHost: A\r\ncontent-length: 3\r\n\r\nabc',
  'POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\nx: \t y \t\r\n\r\n0\r\n\r\n',
  'GET / HTTP/1.1\r\nhost: a\r\nx: a\nb: c\r\n\r\n',
  'GET / HTTP/1.1\r\nhost: a\r\nx: a\rb: c\r\n\r\n',
  'GET / HTTP/1.1\nhost: a\n\n',
  '\n\nGET / HTTP/1.1\r\nhost: a\r\n\r\n',
  '\r\n\r\nGET / HTTP/1.1\r\nhost: a\r\n\r\n',
  'GET / HTTP/1.1\r\r\nhost: a\r\n\r\n',
  `GET /${'a'.repeat(150)} HTTP/1.1\r\nhost: a\r\n\r\n`,
  `GET / HTTP/1.1\r\nhost: a\r\nx: ${'a'.repeat(150)}\r\n\r\n`,
  `GET / HTTP/1.1\r\nhost: a\r\nx: ${'a'.repeat(81)}\r\n\r\nrest`,
  `GET / HTTP/1.1\r\nhost: a\r\nx: ${'a'.repeat(82)}\r\n\r\nrest`,
  `GET / HTTP/1.1\r\nhost: a\r\nx: ${'a'.repeat(83)}\r\n\r\nrest`,
  `GET / HTTP/1.1\r\nhost: a\r\nx: ${'a'.repeat(90)}\r\ny: a\nb\r\n\r\n`,
  `GET / HTTP/1.1\r\nhost: a\r\n${'a: b\r\n'.repeat(5)}\r\n`,
  'GET / HTTP/1.1\r\nhost: a\r\n x: y\r\n\r\n',
]
const RESPONSES = [
  'HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc',
  'HTTP/1.1 204\r\n\r\nrest',
  'HTTP/1.0 200 \r\nx: y\r\n\r\nrest',
  'HTTP/1.1 200 OK\nx: y\n\n',
  'HTTP/1.1 200 OK\r\nx: y\0\r\n\r\n',
]
const CHUNKED = [
  '3\r\nabc\r\n0\r\n\r\nrest',
  'A;x="y\r\n0123456789\r\n00\r\nt: u\r\n\r\nrest',
  '3;a=b\r\nabc\r\n1\r\n\r\r\n0\r\n\r\n',
  '3\r\nabcd\r\n0\r\n\r\n',
  '3\nabc\r\n0\r\n\r\n',
  '0\r\na b: c\r\n\r\n',
  '0\r\ncontent-length: 1\r\n\r\n',
  'g\r\n',
  '0000000003\r\nabc\r\n',
]
const KINDS: readonly (readonly [string, () => Feed, readonly string[]])[] = [
  ['requests', requestFeed, REQUESTS],
  ['responses', responseFeed, RESPONSES],
  ['chunked bodies', chunkedFeed, CHUNKED],
]

/** Limits are those of listeners: heads of the usual size are read apart from the bytes behind them. */
describe('a head in front of a body', () => {
  const lengthOf = (fill: number): string => `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(fill)}\r\ncontent-length: 3000\r\n\r\n`

  it.each([900, 1010, 1020, 1021, 1022, 1023, 1024, 1025, 1026, 1030, 2048])('of %d bytes', (size) => {
    const head = lengthOf(size - lengthOf(0).length)
    const bytes = Buffer.from(head + 'b\r\n\r\n'.repeat(600))
    for (let cut = 0; cut <= size + 10; cut++) {
      const parser = new ResponseParser({ headersMax: 10, headerBytesMax: 8192 })
      const asked = { isHead: false, preservesCase: false }
      const first = parser.feed(bytes, { start: 0, end: cut }, asked)
      expect(first === undefined).toBe(cut < size)
      const read = first ?? parser.feed(bytes, { start: cut, end: bytes.length }, asked)
      expect(read).toMatchObject({ status: 200, contentLength: 3000 })
      expect(parser.next).toBe(size)
    }
  })

  it.each([1023, 1024, 1025])('is too large beyond a limit of %d bytes', (limit) => {
    const head = lengthOf(1024 - lengthOf(0).length)
    const bytes = Buffer.from(head + 'b'.repeat(3000))
    const parser = new ResponseParser({ headersMax: 10, headerBytesMax: limit })
    const read = parser.feed(bytes, { start: 0, end: bytes.length }, { isHead: false, preservesCase: false })
    expect(read !== undefined && 'code' in read).toBe(limit < 1024)
  })
})

describe.each(KINDS)('%s', (_name, feed, corpus) => {
  it('give the same result at every pair of cuts', () => {
    for (const text of corpus) {
      const bytes = Buffer.from(text, 'latin1')
      const whole = run(feed(), bytes, [])
      for (let first = 1; first < bytes.length; first++) {
        for (let second = first; second < bytes.length; second += 1 + Math.floor(bytes.length / 40)) {
          const cut = run(feed(), bytes, [first, second])
          expect({ text, first, second, ...cut }).toEqual({ text, first, second, ...whole })
        }
      }
      const single = run(
        feed(),
        bytes,
        Array.from({ length: bytes.length }, (_, at) => at),
      )
      expect({ text, ...single }).toEqual({ text, ...whole })
    }
  })

  it('give the same result at any split of a corrupted message', () => {
    const corrupted = fc.record({
      text: fc.constantFrom(...corpus),
      at: fc.nat(300),
      piece: fc.constantFrom('\r', '\n', '\r\n', '\0', ' ', ':', 'a', '\x80', '\r\n\r\n', ';', '0', ''),
      removed: fc.nat(3),
      cuts: fc.array(fc.nat(300), { maxLength: 6 }),
    })
    fc.assert(
      fc.property(corrupted, ({ text, at, piece, removed, cuts }) => {
        const place = at % (text.length + 1)
        const bytes = Buffer.from(text.slice(0, place) + piece + text.slice(place + removed), 'latin1')
        const sorted = cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b)
        expect(run(feed(), bytes, sorted)).toEqual(run(feed(), bytes, []))
      }),
      { numRuns: runs(3000) },
    )
  })
})

describe('chunked coding', () => {
  it('gives back what was put in, and stops at its end', () => {
    const bodies = fc.array(fc.uint8Array({ minLength: 1, maxLength: 50 }), { maxLength: 8 })
    fc.assert(
      fc.property(bodies, fc.array(fc.nat(600), { maxLength: 8 }), (chunks, cuts) => {
        const parts = chunks.map(
          (chunk) => `${chunk.length.toString(16)}\r\n${Buffer.from(chunk).toString('latin1')}\r\n`,
        )
        const bytes = Buffer.from(`${parts.join('')}0\r\n\r\nrest`, 'latin1')
        const text = chunks.map((chunk) => Buffer.from(chunk).toString('latin1')).join('')
        const sorted = cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b)
        expect(run(chunkedFeed(), bytes, sorted)).toEqual({ result: `done ${text}`, consumed: bytes.length - 4 })
      }),
    )
  })
})
