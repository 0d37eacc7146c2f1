// The memo of repeated heads must never be seen: neither through changes of a filter nor across different heads or
// limits.
import { describe, expect, it } from 'vitest'
import { DEFAULT_LIMITS } from './handler.ts'
import { requestHeadText, responseHeadText } from '../message/head-text.ts'
import { RequestParser, type RequestHead } from './request-parser.ts'
import { ResponseParser, type ResponseHead } from './response-parser.ts'

const HEAD = 'GET /a?b HTTP/1.1\r\nHost: h\r\nX-One: 1\r\nX-Two: 2\r\n\r\n'

function parse(parser: RequestParser, text: string, limits = DEFAULT_LIMITS): RequestHead {
  const bytes = Buffer.from(text, 'latin1')
  const head = parser.feed(bytes, { start: 0, end: bytes.length }, limits)
  if (head === undefined || 'code' in head) throw new Error(`not a head: ${JSON.stringify(head)}`)
  return head
}

function written({ request }: RequestHead): string | undefined {
  const { method, pathAndQuery, host, headers } = request
  return requestHeadText({ method, pathAndQuery, authority: host, headers, framing: 'None', upgrade: undefined })
}

const PLAIN = 'GET /a?b HTTP/1.1\r\nhost: h\r\nx-one: 1\r\nx-two: 2\r\n\r\n'

describe('a request head that repeats', () => {
  it('is parsed to an equal head of its own', () => {
    const parser = new RequestParser('http')
    const first = parse(parser, HEAD)
    const second = parse(parser, HEAD)
    expect(second).toEqual({ ...first, request: expect.anything() })
    expect(second.request.headers.fields).toEqual(first.request.headers.fields)
    expect(second.request.headers.fields).not.toBe(first.request.headers.fields)
    expect([written(first), written(second)]).toEqual([PLAIN, PLAIN])
  })

  it('is not touched by what filters did to the one before', () => {
    const parser = new RequestParser('http')
    parse(parser, HEAD)
    for (let i = 0; i < 3; i++) {
      const head = parse(parser, HEAD)
      expect(written(head)).toBe(PLAIN)
      head.request.headers.set('x-one', 'changed')
      head.request.headers.append('x-three', '3')
      head.request.headers.remove('x-two')
      head.request.path = '/changed'
      expect(written(head)).toBe('GET /changed?b HTTP/1.1\r\nhost: h\r\nx-one: changed\r\nx-three: 3\r\n\r\n')
    }
  })

  it('a changed value of the same length is written as changed, and checked', () => {
    const parser = new RequestParser('http')
    parse(parser, HEAD)
    written(parse(parser, HEAD))
    const head = parse(parser, HEAD)
    head.request.headers.set('x-one', '9')
    expect(written(head)).toContain('x-one: 9\r\n')
    head.request.headers.set('x-one', '\n')
    expect(written(head)).toBeUndefined()
  })

  it('is parsed again under other limits', () => {
    const parser = new RequestParser('http')
    parse(parser, HEAD)
    const bytes = Buffer.from(HEAD, 'latin1')
    const head = parser.feed(bytes, { start: 0, end: bytes.length }, { ...DEFAULT_LIMITS, headersMax: 2 })
    expect(head).toMatchObject({ code: 'headersTooLarge' })
  })

  it('keeps upgrades, close and lengths', () => {
    const parser = new RequestParser('http')
    const upgrade = 'GET / HTTP/1.1\r\nhost: h\r\nconnection: upgrade, close\r\nupgrade: websocket\r\n\r\n'
    for (let i = 0; i < 3; i++) {
      const head = parse(parser, upgrade)
      expect([head.request.upgrade, head.isKeepAlive]).toEqual(['websocket', false])
    }
    for (let i = 0; i < 3; i++) {
      expect(parse(parser, 'POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 7\r\n\r\n').contentLength).toBe(7)
    }
  })
})

describe('a response head that repeats', () => {
  const TEXT = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nDate: now\r\nX: y\r\n\r\n'
  const parseResponse = (parser: ResponseParser, isHead = false): ResponseHead => {
    const bytes = Buffer.from(TEXT, 'latin1')
    const head = parser.feed(bytes, { start: 0, end: bytes.length }, { isHead, preservesCase: false })
    if (head === undefined || 'code' in head) throw new Error('not a head')
    return head
  }
  const writtenResponse = ({ status, headers }: ResponseHead, keepsLength = false): string | undefined =>
    responseHeadText({ status, headers, framing: keepsLength ? 'None' : 5, connection: undefined, keepsLength })

  it('is independent of filters and of HEAD', () => {
    const parser = new ResponseParser({ headersMax: 10, headerBytesMax: 1000 })
    for (let i = 0; i < 3; i++) {
      const head = parseResponse(parser)
      expect(head.framing).toBe('Length')
      expect(writtenResponse(head)).toBe('HTTP/1.1 200 OK\r\ndate: now\r\nx: y\r\ncontent-length: 5\r\n\r\n')
      head.headers.set('x', 'z')
      expect(writtenResponse(head)).toContain('x: z\r\n')
      const other = parseResponse(parser, true)
      expect(other.framing).toBe('None')
      expect(writtenResponse(other, true)).toBe('HTTP/1.1 200 OK\r\ncontent-length: 5\r\ndate: now\r\nx: y\r\n\r\n')
    }
  })
})
