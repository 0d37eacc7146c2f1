// One spelling for the authority of a request, in every form a client may send it: lower case, no port that the scheme
// implies (data-plane supplement section 5.3; RFC 9110 section 4.2.3).
import { describe, expect, it } from 'vitest'
import { readRequestFields } from '../http2/request-fields.ts'
import { canonicalAuthority } from '../message/authority.ts'
import { DEFAULT_LIMITS } from './handler.ts'
import { parseRequestHead } from './request-parser.ts'
import { answering, OK, startProxy, startUpstream } from './server.testing.ts'

type Scheme = 'http' | 'https'
/** host as it is seen, or why it is not. */
type Seen = string

const http1 = (line: string, host: string | undefined, scheme: Scheme = 'http'): Seen => {
  const field = host === undefined ? '' : `host: ${host}\r\n`
  const head = parseRequestHead(`${line} HTTP/1.1\r\n${field}\r\n`, DEFAULT_LIMITS, scheme)
  return 'code' in head ? head.code : head.request.host
}

const http2 = (authority: string, options: { host?: string; scheme?: Scheme; method?: string } = {}): Seen => {
  const { host, scheme = 'http', method = 'GET' } = options
  const place = method === 'CONNECT' ? [] : [':scheme', scheme, ':path', '/']
  const fields = [':method', method, ...place, ':authority', authority, ...(host === undefined ? [] : ['host', host])]
  const read = readRequestFields(fields, { isTls: scheme === 'https', headerBytesMax: 16_384 })
  return 'code' in read ? read.code : read.request.host
}

const LABEL = 'a'.repeat(63)
/** 253 characters. */
const LONGEST_NAME = [LABEL, LABEL, LABEL, 'a'.repeat(61)].join('.')

describe('the authority', () => {
  it.each<[string, Scheme, string]>([
    ['A.Test', 'http', 'a.test'],
    ['a.test:80', 'http', 'a.test'],
    ['a.test:443', 'https', 'a.test'],
    ['a.test:443', 'http', 'a.test:443'],
    ['a.test:80', 'https', 'a.test:80'],
    ['a.test:8080', 'http', 'a.test:8080'],
    ['a.test:180', 'http', 'a.test:180'],
    ['10.0.0.1:80', 'http', '10.0.0.1'],
    ['[::1]:80', 'http', '[::1]'],
    ['[::80]', 'http', '[::80]'],
    ['[::443]:443', 'https', '[::443]'],
    ['A.Test.', 'http', 'a.test'],
    ['a.test.:443', 'https', 'a.test'],
    ['a.test.:8080', 'http', 'a.test:8080'],
    ['10.0.0.1:65535', 'http', '10.0.0.1:65535'],
    ['a_b.-c-.test', 'http', 'a_b.-c-.test'],
    [LONGEST_NAME, 'http', LONGEST_NAME],
    [`${LONGEST_NAME}.`, 'http', LONGEST_NAME],
  ])('%s by %s is %s', (given, scheme, seen) => {
    expect(http1('GET /', given, scheme)).toBe(seen)
    expect(http1(`GET ${scheme}://${given}/`, given, scheme)).toBe(seen)
    expect(http2(given, { scheme })).toBe(seen)
    expect(canonicalAuthority(given.toLowerCase(), scheme === 'https')).toBe(seen)
  })

  it('is the same in both places, however it is spelled; two different ones are refused', () => {
    expect(http1('GET http://a.test:80/', 'a.test')).toBe('a.test')
    expect(http1('GET http://a.test/', 'A.test:80')).toBe('a.test')
    expect(http2('a.test', { host: 'a.test:80' })).toBe('a.test')
    expect(http1('GET http://a.test./', 'a.test')).toBe('a.test')
    expect(http2('a.test', { host: 'a.test.' })).toBe('a.test')
    expect(http1('GET http://a.test/', 'b.test')).toBe('invalidRequest')
    expect(http1('GET http://a.test:81/', 'a.test')).toBe('invalidRequest')
    expect(http2('a.test', { host: 'a.test:81' })).toBe('invalidRequest')
  })

  it('of CONNECT keeps its port: that is where it leads', () => {
    expect(http1('CONNECT a.test:80', 'a.test:80')).toBe('a.test:80')
    expect(http1('CONNECT a.test:443', 'a.test', 'https')).toBe('a.test:443')
    expect(http2('a.test:443', { scheme: 'https', method: 'CONNECT' })).toBe('a.test:443')
  })

  it('of CONNECT has no dot of the root, which would get around rules and routes of the name', () => {
    expect(http1('CONNECT A.Test.:443', 'a.test.:443')).toBe('a.test:443')
    expect(http1('CONNECT a.test.:443', 'a.test')).toBe('a.test:443')
    expect(http1('CONNECT a.test:443', 'a.test.')).toBe('a.test:443')
    expect(http2('A.Test.:443', { method: 'CONNECT' })).toBe('a.test:443')
    expect(http2('a.test.:443', { method: 'CONNECT', host: 'a.test:443' })).toBe('a.test:443')
    expect(http1('CONNECT a.test:443', 'b.test.')).toBe('invalidRequest')
  })

  it.each([
    'a.test:80:80',
    'user@a.test',
    'user:secret@a.test:80',
    'a.test:',
    'a.test:x',
    'a.test:080',
    'a.test:00',
    ':80',
    'a b',
    '::1',
    '.',
    '..',
    'a..test',
    '.a.test',
    'a.test..',
    'a.test..:80',
    '.:80',
    `${LABEL}a.test`,
    `${LONGEST_NAME}a`,
    `${LONGEST_NAME}a.`,
    'a.test:0',
    'a.test:65536',
    'a.test:99999',
    'a.test:100000',
    '[::1',
    '[]',
    '[::1]a',
    '[::1]:99999',
    '[1:2]',
    '[....]',
    '[a.test]',
    '[fe80::1%eth0]',
  ])('%s is refused in every place', (given) => {
    expect(http1('GET /', given)).toBe('invalidRequest')
    expect(http1(`GET http://${given}/`, given)).toBe('invalidRequest')
    expect(http1(`GET http://${given}:81/`, 'a.test')).toBe('invalidRequest')
    expect(http1(`CONNECT ${given}:443`, 'a.test')).toBe('invalidRequest')
    expect(http1(`CONNECT ${given}`, given)).toBe('invalidRequest')
    expect(http2(given)).toBe('invalidRequest')
    expect(http2('a.test', { host: given })).toBe('invalidRequest')
    expect(http2(`${given}:443`, { method: 'CONNECT' })).toBe('invalidRequest')
  })

  it('with a path is refused', () => {
    expect(http1('GET /', 'a.test/x')).toBe('invalidRequest')
    expect(http2('a.test/x')).toBe('invalidRequest')
  })

  it('with an empty label reaches no route of its name, nor any backend', async () => {
    const upstream = await startUpstream(answering(OK))
    const proxy = await startProxy(upstream.port)
    for (const host of ['secret.test..', 'a..test', '.a.test', 'a.test:99999']) {
      const client = await proxy.connect()
      const text = await client.send(`GET / HTTP/1.1\r\nhost: ${host}\r\n\r\n`).ends()
      expect(text).toMatch(/^HTTP\/1.1 400 /)
    }
    expect([proxy.handled.length, upstream.received()]).toEqual([0, ''])
    proxy.close()
    await upstream.close()
  })
})
