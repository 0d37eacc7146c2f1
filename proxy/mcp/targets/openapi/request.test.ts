import { describe, expect, it } from 'vitest'
import type { OpenApiOperation, OpenApiParameter } from '#api/ir/types.gen.ts'
import { parseJsonExactly } from '#api/json.ts'
import { InvalidArguments, requestOf } from './request.ts'

function parameter(
  place: OpenApiParameter['in'],
  name: string,
  more: Partial<OpenApiParameter> = {},
): OpenApiParameter {
  return { in: place, name, style: place === 'query' ? 'form' : 'simple', explode: place === 'query', ...more }
}

const OPERATION: OpenApiOperation = {
  name: 'o',
  method: 'POST',
  path: '/a/{id}/{constructor}',
  parameters: [
    parameter('path', 'id'),
    parameter('path', 'constructor'),
    parameter('query', 'q'),
    parameter('query', '__proto__'),
    parameter('header', 'X-Tenant'),
    parameter('header', 'Host'),
    parameter('header', 'Transfer-Encoding'),
  ],
  bodyType: 'application/json',
  inputSchema: '{}',
}
const PATH = { id: 'i', constructor: 'c' }

/** As a client sends them. */
const requestFor = (args: string) => requestOf('/base', OPERATION, parseJsonExactly(args))
const withPath = (more: object) => requestFor(JSON.stringify({ path: PATH, ...more }))

describe('the request of an operation', () => {
  it('has numbers that a double cannot represent, in every place', () => {
    const digits = '1234567890123456789'
    const { path, query, headers, body } = requestFor(
      `{"path":{"id":${digits},"constructor":[${digits}]},"query":{"q":${digits}},"header":{"X-Tenant":${digits}},"body":{"n":${digits}}}`,
    )
    expect([path, query, headers.get('x-tenant'), body?.toString()]).toEqual([
      `/base/a/${digits}/${digits}`,
      `q=${digits}`,
      digits,
      `{"n":${digits}}`,
    ])
  })

  it.each([
    ['..', ''],
    ['.', ''],
    ['', ''],
    ['../../admin', '..%2F..%2Fadmin'],
    ['..\\admin', '..%5Cadmin'],
    ['%2e%2e', '%252e%252e'],
    ['a?x=1#y', 'a%3Fx%3D1%23y'],
    ['{constructor}', '%7Bconstructor%7D'],
    ['\u0000\r\n', '%00%0D%0A'],
    ['\ud800', '%EF%BF%BD'],
  ])('has the path parameter %j in one segment', (id, segment) => {
    const request = () => requestFor(JSON.stringify({ path: { id, constructor: 'c' } }))
    if (segment === '') expect(request).toThrow(InvalidArguments)
    else expect(request().path).toBe(`/base/a/${segment}/c`)
  })

  it('has no other parameters than the arguments themselves', () => {
    const { query, headers } = requestFor('{"path":{"id":"i","constructor":"c"},"query":{"__proto__":{"q":"x"}}}')
    expect(query).toBe('q=x')
    expect(() => requestFor('{"path":{"id":"i"}}')).toThrow('path.constructor')
    expect(headers.getAll('host')).toEqual([])
  })

  it.each(['a\r\nx-admin: 1', 'a\n', 'a\u0000', '\u007f'])('has no header value %j', (value) => {
    expect(() => withPath({ header: { 'X-Tenant': value } })).toThrow('header.X-Tenant is not a valid header value')
  })

  it('has no headers of the connection', () => {
    const { headers } = withPath({ header: { Host: 'evil', 'Transfer-Encoding': 'chunked', 'X-Tenant': 'é' } })
    expect([headers.get('host'), headers.get('transfer-encoding')]).toEqual([undefined, undefined])
    expect(Buffer.from(headers.get('x-tenant') ?? '', 'latin1').toString()).toBe('é')
  })

  it('separates query parameters that the arguments cannot leave', () => {
    expect(withPath({ query: { q: ['a&b=c', 'd'] } }).query).toBe('q=a%26b%3Dc&q=d')
  })
})
