// What is refused here must be refused here: the library below may be more lenient one day than it is now.
import { describe, expect, it } from 'vitest'
import { readRequestFields, type RequestFields } from './request-fields.ts'

type Field = readonly [string, string]
const GET: readonly Field[] = [
  [':method', 'GET'],
  [':scheme', 'http'],
  [':path', '/a?b=c'],
  [':authority', 'Example.com:8080'],
]
const OPTIONS = { isTls: false, headerBytesMax: 16_384 }
const read = (fields: readonly Field[], options = OPTIONS): ReturnType<typeof readRequestFields> =>
  readRequestFields(fields.flat(), options)
const good = (fields: readonly Field[]): RequestFields => {
  const result = read(fields)
  if ('code' in result) throw new Error(result.detail)
  return result
}
const change = (name: string, value: string): Field[] => GET.map(([n, v]) => [n, n === name ? value : v])
const without = (name: string): Field[] => GET.filter(([n]) => n !== name)

describe('accepted', () => {
  it('a request', () => {
    const { request, contentLength, expectsContinue } = good([...GET, ['x-a', 'b'], ['x-a', 'c']])
    expect(request).toMatchObject({ method: 'GET', path: '/a', query: 'b=c', host: 'example.com:8080', scheme: 'http' })
    expect(request.headers.fields).toEqual(['x-a', 'b', 'x-a', 'c'])
    expect([request.version, contentLength, expectsContinue]).toEqual(['HTTP/2', undefined, false])
  })

  it('host in place of :authority, or the same', () => {
    expect(good([...without(':authority'), ['host', 'A']]).request.host).toBe('a')
    const { request } = good([...GET, ['host', 'example.com:8080']])
    expect([request.host, request.headers.fields]).toEqual(['example.com:8080', []])
  })

  it('the scheme is that of the connection', () => {
    const result = read(GET, { ...OPTIONS, isTls: true })
    expect('request' in result && result.request.scheme).toBe('https')
  })

  it('te: trailers stays, cookies are joined, expect is taken out, length is kept', () => {
    const extra: Field[] = [
      ['te', 'trailers'],
      ['cookie', 'a=1'],
      ['cookie', 'b=2'],
      ['expect', '100-continue'],
      ['content-length', '7'],
      ['trailer', 'x-end'],
    ]
    const { request, contentLength, expectsContinue } = good([...GET, ...extra])
    expect(request.headers.fields).toEqual(['content-length', '7', 'cookie', 'a=1; b=2', 'te', 'trailers'])
    expect([contentLength, expectsContinue]).toEqual([7, true])
  })

  it('a type sent twice, but no two types', () => {
    const plain: Field = ['content-type', 'text/plain']
    expect(good([...GET, plain, plain]).request.headers.get('content-type')).toBe('text/plain')
    expect(read([...GET, plain, ['content-type', 'application/json']])).toMatchObject({ code: 'invalidRequest' })
  })

  it('CONNECT and OPTIONS *', () => {
    expect(good([change(':method', 'CONNECT')[0] ?? [':method', ''], [':authority', 'a:80']]).request.path).toBe('a:80')
    const star = change(':path', '*').map(([n, v]): Field => [n, n === ':method' ? 'OPTIONS' : v])
    expect(good(star).request.path).toBe('*')
  })
})

const REFUSED: readonly (readonly [string, readonly Field[]])[] = [
  ['no :method', without(':method')],
  ['no :scheme', without(':scheme')],
  ['no :path', without(':path')],
  ['no :authority', without(':authority')],
  ['unknown pseudo field', [...GET, [':x', 'y']]],
  ['pseudo field twice', [...GET, [':path', '/']]],
  ['pseudo field behind another', [...without(':path'), ['a', 'b'], [':path', '/']]],
  ['pseudo field of responses', [...GET, [':status', '200']]],
  ['invalid method', change(':method', 'G T')],
  ['another scheme', change(':scheme', 'ftp')],
  ['empty path', change(':path', '')],
  ['relative path', change(':path', 'a')],
  ['* without OPTIONS', change(':path', '*')],
  ['path with a space', change(':path', '/a b')],
  ['path with a fragment', change(':path', '/a#b')],
  ['path with CRLF', change(':path', '/\r\nx: y')],
  ['path beyond ASCII', change(':path', '/\xe9')],
  ['authority with a path', change(':authority', 'a/b')],
  ['authority with userinfo', change(':authority', 'u@a')],
  ['empty authority', change(':authority', '')],
  ['host that differs', [...GET, ['host', 'b']]],
  ['two hosts', [...GET, ['host', 'example.com:8080'], ['host', 'example.com:8080']]],
  ['CONNECT with a path', change(':method', 'CONNECT')],
  ['upper case name', [...GET, ['X-A', 'b']]],
  ['empty name', [...GET, ['', 'b']]],
  ['invalid name', [...GET, ['a b', 'c']]],
  ['connection', [...GET, ['connection', 'close']]],
  ['keep-alive', [...GET, ['keep-alive', '5']]],
  ['proxy-connection', [...GET, ['proxy-connection', 'close']]],
  ['transfer-encoding', [...GET, ['transfer-encoding', 'chunked']]],
  ['upgrade', [...GET, ['upgrade', 'websocket']]],
  ['te other than trailers', [...GET, ['te', 'gzip, trailers']]],
  ['two lengths', [...GET, ['content-length', '1'], ['content-length', '1']]],
  ['list of lengths', [...GET, ['content-length', '1, 1']]],
  ['signed length', [...GET, ['content-length', '+1']]],
  ['huge length', [...GET, ['content-length', '9'.repeat(16)]]],
  ['value with CR', [...GET, ['a', 'b\rc']]],
  ['value with LF', [...GET, ['a', 'b\nc']]],
  ['value with NUL', [...GET, ['a', 'b\0c']]],
  ['value with DEL', [...GET, ['a', 'b\x7fc']]],
  ['value that latin1 turns into LF', [...GET, ['a', 'b\u010ac']]],
  ['space in front of a value', [...GET, ['a', ' b']]],
  ['tab behind a value', [...GET, ['a', 'b\t']]],
  ['other expectation', [...GET, ['expect', 'x']]],
]

it.each(REFUSED)('refused: %s', (_name, fields) => {
  expect('code' in read(fields)).toBe(true)
})

it('counts names, values and 32 bytes for each field', () => {
  const used = GET.reduce((sum, [name, value]) => sum + name.length + value.length + 32, 0)
  expect('code' in read(GET, { ...OPTIONS, headerBytesMax: used })).toBe(false)
  expect(read(GET, { ...OPTIONS, headerBytesMax: used - 1 })).toMatchObject({ code: 'headersTooLarge' })
})
