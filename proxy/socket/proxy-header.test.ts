import { describe, expect, it } from 'vitest'
import { type ProxyRule, readProxyHeader } from './proxy-header.ts'
import { proxyHeader2 } from './proxy-header.testing.ts'

const ALL: ProxyRule = { version: 'All', isRequired: true }
const read = (text: string | Buffer, rule = ALL) => readProxyHeader(Buffer.from(text as string, 'latin1'), rule)

const ADDRESSES = { sourceAddress: '203.0.113.7', sourcePort: 4711, localAddress: '198.51.100.1', localPort: 443 }

describe('version 1', () => {
  it('gives addresses and its own length', () => {
    const text = 'PROXY TCP4 203.0.113.7 198.51.100.1 4711 443\r\n'
    expect(read(`${text}GET / HTTP/1.1\r\n`)).toEqual({ kind: 'Header', length: text.length, addresses: ADDRESSES })
  })

  it.each([
    ['PROXY TCP6 2001:DB8:0:0::7 ::1 1 0\r\n', '2001:db8::7', '::1'],
    ['PROXY TCP6 ::ffff:203.0.113.7 ::ffff:10.0.0.1 1 0\r\n', '203.0.113.7', '10.0.0.1'],
  ])('%j names addresses as sockets do', (text, sourceAddress, localAddress) => {
    expect(read(text)).toMatchObject({ addresses: { sourceAddress, localAddress, sourcePort: 1, localPort: 0 } })
  })

  it.each(['PROXY UNKNOWN\r\n', 'PROXY UNKNOWN ffff::1 ffff::2 65535 65535\r\n'])('%j keeps the addresses', (text) => {
    expect(read(text)).toEqual({ kind: 'Header', length: text.length, addresses: undefined })
  })

  it.each([
    'PROXY TCP4 203.0.113.7 198.51.100.1 4711\r\n',
    'PROXY TCP4 203.0.113.7 198.51.100.1 4711 443 1\r\n',
    'PROXY TCP4  203.0.113.7 198.51.100.1 4711 443\r\n',
    'PROXY TCP4 203.0.113.07 198.51.100.1 4711 443\r\n',
    'PROXY TCP4 203.0.113 198.51.100.1 4711 443\r\n',
    'PROXY TCP4 ::1 ::2 4711 443\r\n',
    'PROXY TCP6 203.0.113.7 198.51.100.1 4711 443\r\n',
    'PROXY TCP6 ::1%eth0 ::2 4711 443\r\n',
    'PROXY TCP4 203.0.113.7 198.51.100.1 65536 443\r\n',
    'PROXY TCP4 203.0.113.7 198.51.100.1 04711 443\r\n',
    'PROXY TCP4 203.0.113.7 198.51.100.1 -1 443\r\n',
    'PROXY UDP4 203.0.113.7 198.51.100.1 4711 443\r\n',
    'PROXY UNKNOWNX\r\n',
    'PROXY  \r\n',
    `PROXY UNKNOWN ${'x'.repeat(107)}`,
  ])('%j is malformed', (text) => {
    expect(read(text)).toMatchObject({ kind: 'Invalid' })
  })

  it('may have 107 bytes and not one more', () => {
    const longest = `PROXY UNKNOWN ${'x'.repeat(91)}\r\n`
    expect(longest).toHaveLength(107)
    expect(read(longest)).toMatchObject({ kind: 'Header', length: 107 })
    expect(read(longest.slice(0, 106))).toEqual({ kind: 'More' })
    expect(read(`PROXY UNKNOWN ${'x'.repeat(92)}\r\n`)).toMatchObject({ kind: 'Invalid' })
  })
})

describe('version 2', () => {
  it('gives addresses and skips additions', () => {
    const bytes = proxyHeader2({ ...ADDRESSES, additions: Buffer.alloc(40, 0xff) })
    expect(read(Buffer.concat([bytes, Buffer.from('GET /')]))).toEqual({
      kind: 'Header',
      length: bytes.length,
      addresses: ADDRESSES,
    })
  })

  it('reads IPv6, mapped IPv4 included', () => {
    const bytes = proxyHeader2({ ...ADDRESSES, sourceAddress: '2001:db8::7', localAddress: '::ffff:10.0.0.1' })
    expect(read(bytes)).toMatchObject({ addresses: { sourceAddress: '2001:db8::7', localAddress: '10.0.0.1' } })
  })

  it.each([
    ['LOCAL', 0x20, 0x11, 12],
    ['LOCAL without addresses', 0x20, 0x00, 0],
    ['LOCAL with a family and no addresses', 0x20, 0x21, 0],
    ['no family', 0x21, 0x00, 30],
    ['unix', 0x21, 0x31, 216],
  ])('%s keeps the addresses of the socket', (_name, command, family, length) => {
    const bytes = Buffer.concat([head(command, family, length), Buffer.alloc(length, 1)])
    expect(read(bytes)).toEqual({ kind: 'Header', length: bytes.length, addresses: undefined })
  })

  it.each([
    ['version 1', 0x11, 0x11, 12],
    ['command 2', 0x22, 0x11, 12],
    ['family 4', 0x21, 0x41, 12],
    ['transport 3', 0x21, 0x13, 12],
    ['too few bytes for IPv4', 0x21, 0x11, 11],
    ['too few bytes for IPv6', 0x21, 0x21, 35],
    ['too few bytes for unix', 0x21, 0x31, 215],
    ['more than the bound', 0x21, 0x11, 4097],
  ])('%s is refused before its bytes are awaited', (_name, command, family, length) => {
    expect(read(head(command, family, length))).toMatchObject({ kind: 'Invalid' })
  })

  it('takes additions up to the bound', () => {
    const bytes = Buffer.concat([head(0x21, 0x11, 4096), Buffer.alloc(4096)])
    expect(read(bytes)).toMatchObject({ kind: 'Header', length: 16 + 4096 })
    expect(read(bytes.subarray(0, -1))).toEqual({ kind: 'More' })
  })
})

describe('version and mode', () => {
  const one = 'PROXY UNKNOWN\r\n'
  const two = proxyHeader2(ADDRESSES)

  it.each([
    ['V1', one, 'Header'],
    ['V1', two, 'Invalid'],
    ['V2', one, 'Invalid'],
    ['V2', two, 'Header'],
    ['All', one, 'Header'],
    ['All', two, 'Header'],
  ] as const)('%s, whether required or not', (version, bytes, kind) => {
    for (const isRequired of [true, false]) expect(read(bytes, { version, isRequired })).toMatchObject({ kind })
  })

  it.each(['GET / HTTP/1.1\r\n', 'PUT /', '\r\nGET /', '\x16\x03\x01', 'PROXIED', '\r\n\r\n\0\r\nQUIT\r'])(
    '%j is not a header',
    (text) => {
      expect(read(text, { version: 'All', isRequired: true })).toMatchObject({ kind: 'Invalid' })
      expect(read(text, { version: 'All', isRequired: false })).toEqual({ kind: 'Plain' })
    },
  )

  it('waits while it may become one', () => {
    for (const text of ['', 'P', 'PROXY', '\r\n\r\n', '\r\n\r\n\0\r\nQUIT'])
      for (const isRequired of [true, false])
        expect(read(text, { version: 'All', isRequired })).toEqual({ kind: 'More' })
  })
})

function head(command: number, family: number, length: number): Buffer {
  return Buffer.concat([
    Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1'),
    Buffer.from([command, family, length >> 8, length & 0xff]),
  ])
}
