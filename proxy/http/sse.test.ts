import { describe, expect, it, vi } from 'vitest'
import { onlyEventData, SseParser, SseTooLarge, type SseEvent } from './sse.ts'

const STREAM =
  'event: a\ndata: 1\n\n: comment\r\ndata: 2\r\ndata: ü€\r\n\r\ndata\r\rdata:  x\nid: 7\n\nretry: 50\nid: 8\ndata:\n\nretry: soon\ndata: unfinished'
const EVENTS: SseEvent[] = [
  { event: 'a', data: '1' },
  { event: '', data: '2\nü€' },
  { event: '', data: '' },
  { event: '', data: ' x', id: '7' },
  { event: '', data: '', id: '8', retryMs: 50 },
]

describe('SseParser', () => {
  it('gives the same events whatever the chunk boundaries', () => {
    const bytes = Buffer.from(STREAM)
    for (let split = 0; split <= bytes.length; split++) {
      const parser = new SseParser(1000)
      const events = [...parser.push(bytes.subarray(0, split)), ...parser.push(bytes.subarray(split))]
      expect(events, `split at ${split}`).toEqual(EVENTS)
    }
    const parser = new SseParser(1000)
    const single = [...bytes].flatMap((byte) => parser.push(Buffer.from([byte])))
    expect(single).toEqual(EVENTS)
  })

  it('takes a byte order mark before the first line, and only there', () => {
    const events = new SseParser(1000).push(Buffer.from('\u{FEFF}data: 1\n\n\u{FEFF}data: 2\n\n'))
    expect(events).toEqual([{ event: '', data: '1' }])
  })

  it('copies a long event in small chunks a few times only', () => {
    const copy = vi.spyOn(Buffer.prototype, 'copy')
    const allocate = vi.spyOn(Buffer, 'allocUnsafe')
    const parser = new SseParser(4_000_000)
    for (let i = 0; i < 1000; i++) parser.push(Buffer.alloc(1000, 'data: '))
    expect(allocate.mock.calls.reduce((total, [bytes]) => total + bytes, 0)).toBeLessThan(4_000_000)
    expect(copy.mock.calls.length).toBeLessThan(1100)
    vi.restoreAllMocks()
  })

  it('bounds one event, finished lines included', () => {
    expect(() => new SseParser(10).push(Buffer.from('data: 123456789'))).toThrow(SseTooLarge)
    expect(() => new SseParser(10).push(Buffer.from('data: 123456\ndata: 123456\n'))).toThrow(SseTooLarge)
    expect(() => new SseParser(10).push(Buffer.from('data\n'.repeat(11)))).toThrow(SseTooLarge)
    expect(new SseParser(10).push(Buffer.from('data: 1\n\ndata: 2\n\ndata: 3\n\n'))).toHaveLength(3)
  })
})

describe('onlyEventData', () => {
  it.each([
    ['data: x\n\n', 'x'],
    ['event: message\ndata: {"a": 1}\n\n', '{"a": 1}'],
    [': ping\r\n\r\nevent: message\r\ndata:  x\r\n\r\n: bye\r\n', ' x'],
    ['data:\n\n', ''],
    ['data: x\n\nevent: of no event\n', 'x'],
  ])('reads the only event of a whole stream: %j', (text, data) => {
    expect(onlyEventData(text)).toBe(data)
    expect(new SseParser(1000).push(Buffer.from(text))).toMatchObject([{ data }])
  })

  it.each([
    '',
    'data: x',
    'data: x\n',
    'data: x\n\n: unfinished',
    'data: x\ndata: y\n\n',
    'data: x\n\ndata: y\n\n',
    'data: x\n\ndata: unfinished\n',
    ': a\rdata: x\n\ndata: y\n\n',
    'data: x\ry\n\n',
    'data: x\r\r',
    'id: 1\ndata: x\n\n',
    'retry: 1\ndata: x\n\n',
    'data\n\n',
    '\u{FEFF}data: x\n\n',
  ])('leaves other forms to the parser: %j', (text) => {
    expect(onlyEventData(text)).toBeUndefined()
  })
})
