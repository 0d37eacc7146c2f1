// The server name out of ClientHellos: real ones, cut ones, and ones that lie about their lengths.
import { beforeAll, describe, expect, it } from 'vitest'
import { HELLO_BYTES_MAX, readClientHello } from './client-hello.ts'
import { captureHello } from './client.testing.ts'

let real: Buffer
beforeAll(async () => {
  real = await captureHello('www.example.com')
})

const u16 = (value: number): Buffer => Buffer.from([value >> 8, value & 0xff])
const extension = (type: number, body: Buffer): Buffer => Buffer.concat([u16(type), u16(body.length), body])
const nameList = (name: string, type = 0): Buffer => {
  const entry = Buffer.concat([Buffer.from([type]), u16(Buffer.byteLength(name)), Buffer.from(name, 'latin1')])
  return Buffer.concat([u16(entry.length), entry])
}
const record = (payload: Buffer, type = 22): Buffer =>
  Buffer.concat([Buffer.from([type, 3, 1]), u16(payload.length), payload])

/** A hello with these extensions; `undefined`: none at all. */
function message(extensions: Buffer | undefined): Buffer {
  const body = Buffer.concat([
    Buffer.from([3, 3]),
    Buffer.alloc(32, 1),
    Buffer.from([0]),
    u16(2),
    Buffer.from([0x13, 0x01]),
    Buffer.from([1, 0]),
    ...(extensions === undefined ? [] : [u16(extensions.length), extensions]),
  ])
  return Buffer.concat([Buffer.from([1, 0]), u16(body.length), body])
}
const named = (name: string): Buffer => record(message(extension(0, nameList(name))))

describe('readClientHello', () => {
  it('reads the name of a real client', () => {
    expect(readClientHello(real)).toEqual({ kind: 'Hello', serverName: 'www.example.com', ticketNames: [] })
  })

  it('asks for more until the last byte is there', () => {
    for (let length = 0; length < real.length; length++) {
      expect(readClientHello(real.subarray(0, length))).toEqual({ kind: 'More' })
    }
  })

  it.each([
    ['in lower case', named('WWW.Example.COM'), 'www.example.com'],
    ['without the trailing dot', named('a.test.'), 'a.test'],
    [
      'behind other extensions',
      record(message(Buffer.concat([extension(23, Buffer.alloc(0)), extension(0, nameList('a.test'))]))),
      'a.test',
    ],
    ['none without the extension', record(message(extension(23, Buffer.alloc(0)))), undefined],
    ['none without any extensions', record(message(undefined)), undefined],
  ])('gives the name %s', (_title, bytes, serverName) => {
    expect(readClientHello(bytes)).toEqual({ kind: 'Hello', serverName, ticketNames: [] })
  })

  const ticket = (fill: number): Buffer => Buffer.alloc(100, fill)
  const names = (...fills: number[]): Buffer[] => fills.map((fill) => Buffer.alloc(16, fill))
  const identities = (...tickets: Buffer[]): Buffer => {
    const list = Buffer.concat(tickets.flatMap((one) => [u16(one.length), one, Buffer.alloc(4)]))
    return Buffer.concat([u16(list.length), list, Buffer.from([0, 33, 32]), Buffer.alloc(32)])
  }
  it.each([
    ['a ticket of TLS 1.2', extension(35, ticket(1)), names(1)],
    ['a client that only asks for one', extension(35, Buffer.alloc(0)), []],
    ['a ticket that is too short to be one', extension(35, Buffer.alloc(15)), []],
    ['a ticket of TLS 1.3', extension(41, identities(ticket(2))), names(2)],
    ['several tickets', extension(41, identities(ticket(2), Buffer.alloc(3), ticket(4))), names(2, 4)],
    [
      'more tickets than are looked at',
      extension(41, identities(...Array.from({ length: 9 }, () => ticket(0)))),
      names(0, 0, 0, 0),
    ],
    ['identities that lie about their length', extension(41, Buffer.from([0xff, 0xff, 0, 9, 1])), []],
    ['both', Buffer.concat([extension(35, ticket(1)), extension(41, identities(ticket(2)))]), names(2)],
  ])('reads the key names of %s', (_title, extensions, ticketNames) => {
    expect(readClientHello(record(message(extensions)))).toEqual({ kind: 'Hello', serverName: undefined, ticketNames })
  })

  it('puts a hello together from records', () => {
    const whole = message(extension(0, nameList('a.test')))
    const pieces = [whole.subarray(0, 2), whole.subarray(2, 30), whole.subarray(30)].map((piece) => record(piece))
    expect(readClientHello(Buffer.concat(pieces))).toEqual({ kind: 'Hello', serverName: 'a.test', ticketNames: [] })
  })

  it.each([
    ['HTTP', Buffer.from('G'), 'not a TLS handshake'],
    ['SSL 2', Buffer.from([22, 2]), 'not a TLS version'],
    ['an empty record', Buffer.from([22, 3, 1, 0, 0]), 'invalid length'],
    ['a record over the limit', Buffer.from([22, 3, 1, 0x40, 1]), 'invalid length'],
    [
      'an alert behind the first record',
      Buffer.concat([record(Buffer.from([1, 0, 0, 9])), Buffer.from([21])]),
      'not a TLS handshake',
    ],
    ['another message', record(Buffer.from([2, 0, 0, 1, 0])), 'not a ClientHello'],
    ['a message over the limit', record(Buffer.from([1, 0xff, 0xff, 0xff])), 'too large'],
    [
      'records of one byte each',
      Buffer.concat(Array.from(named('a.test').subarray(5), (byte) => record(Buffer.from([byte])))),
      'too many records',
    ],
    [
      'two names of a host',
      record(message(Buffer.concat([extension(0, nameList('a.test')), extension(0, nameList('b.test'))]))),
      'not valid',
    ],
    ['an empty name', named(''), 'not valid'],
    ['a name of one dot', named('.'), 'not valid'],
    ['a name with an empty label', named('a..test'), 'not valid'],
    ['a name that begins with a dot', named('.a.test'), 'not valid'],
    ['a name with two dots at its end', named('a.test..'), 'not valid'],
    ['a name with a label too long', named(`${'a'.repeat(64)}.test`), 'not valid'],
    ['a name with a port', named('a.test:443'), 'not valid'],
    ['a name with a zero byte', named('a.test\0b'), 'not valid'],
    ['a name with a blank', named('a test'), 'not valid'],
    ['a name too long', named('a'.repeat(255)), 'not valid'],
    ['a name of another type', record(message(extension(0, nameList('a.test', 7)))), 'not valid'],
    ['a list longer than the extension', record(message(extension(0, u16(99)))), 'not valid'],
    ['an extension longer than the hello', record(message(Buffer.concat([u16(0), u16(200)]))), 'wrong length'],
    [
      'bytes behind the extensions',
      record(Buffer.concat([Buffer.from([1, 0, 0, 45]), message(Buffer.alloc(0)).subarray(4), Buffer.from([9, 9])])),
      'wrong length',
    ],
    ['a hello cut short', record(Buffer.from([1, 0, 0, 3, 3, 3, 0])), 'cut short'],
  ])('refuses %s', (_title, bytes, detail) => {
    expect(readClientHello(bytes)).toMatchObject({ kind: 'Invalid', detail: expect.stringContaining(detail) as string })
  })

  it('does not gather without end', () => {
    const start = record(Buffer.concat([Buffer.from([1, 0, 0x7f, 0xff]), Buffer.alloc(16_000)]))
    const cut = record(Buffer.alloc(16_384)).subarray(0, 16_500)
    expect(readClientHello(Buffer.concat([start, cut.subarray(0, 16_000)]))).toEqual({ kind: 'More' })
    const endless = Buffer.concat([start, record(Buffer.alloc(16_384, 1)), Buffer.from([22, 3, 1])])
    expect(endless.length).toBeLessThan(HELLO_BYTES_MAX + 1000)
    const over = Buffer.concat([
      record(Buffer.concat([Buffer.from([1, 0, 0x80, 0]), Buffer.alloc(16_380)])),
      start,
      start,
    ])
    expect(readClientHello(over.subarray(0, HELLO_BYTES_MAX))).toMatchObject({ kind: 'Invalid' })
  })
})
