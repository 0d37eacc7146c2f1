// Whatever a client sends: what is accepted can be written as HTTP/1.1 and as HTTP/2, and holds nothing that frames or
// belongs to one hop.
import { type Arbitrary, array, assert, constantFrom, oneof, property, record, string, tuple } from 'fast-check'
import { expect, it } from 'vitest'
import { fieldName, FieldKind } from '../message/field-name.ts'
import { requestHeadText } from '../message/head-text.ts'
import { parseRequestHead } from '../http/request-parser.ts'
import { DEFAULT_LIMITS } from '../http/handler.ts'
import { requestFields } from './outgoing-fields.ts'
import { readRequestFields } from './request-fields.ts'

const CHARACTERS = Array.from('aB1:/?#@ \t\r\n\0%.,;\xe9\u010a*-_')
const text = string({ unit: constantFrom(...CHARACTERS), maxLength: 8 })
/** Mostly what is likely, sometimes anything. */
const likely = (...known: string[]): Arbitrary<string> =>
  oneof({ weight: 8, arbitrary: constantFrom(...known) }, { weight: 1, arbitrary: text })
const name = likely(
  'host',
  'te',
  'connection',
  'content-length',
  'cookie',
  'upgrade',
  'x-a',
  'expect',
  'trailer',
  ':path',
)
const value = likely('trailers', 'a', '5', '100-continue', '', 'chunked', 'b: c')
const pseudo = record({
  method: likely('GET', 'POST', 'OPTIONS', 'CONNECT'),
  path: likely('/', '/a?b', '*'),
  authority: likely('a', 'a:80', '[::1]:1'),
})

it('accepted requests survive the way to any backend', () => {
  let accepted = 0
  assert(
    property(pseudo, array(tuple(name, value), { maxLength: 3 }), ({ method, path, authority }, fields) => {
      const head = [':method', method, ':scheme', 'http', ':path', path, ':authority', authority]
      const raw = method === 'CONNECT' ? [':method', method, ':authority', authority] : head
      const result = readRequestFields([...raw, ...fields.flat()], { isTls: false, headerBytesMax: 16_384 })
      if ('code' in result || method === 'CONNECT') return
      accepted++
      const { request } = result
      for (const [one] of request.headers) {
        const known = fieldName(one)
        expect(known?.lower).toBe(one)
        expect([FieldKind.Ordinary, FieldKind.ContentLength, FieldKind.Te]).toContain(known?.kind)
      }
      const { headers, pathAndQuery, host } = request
      const message = { method: request.method, pathAndQuery, authority: host, headers }
      const wire = requestHeadText({ ...message, framing: 'None', upgrade: undefined })
      if (wire === undefined) throw new Error('not fit for HTTP/1.1')
      const again = parseRequestHead(wire, DEFAULT_LIMITS, 'http')
      if ('code' in again) throw new Error(again.detail)
      expect(again.request).toMatchObject({ method: request.method, path: request.path, query: request.query, host })
      expect(requestFields({ ...message, scheme: 'http', length: undefined })).toBeDefined()
    }),
    { numRuns: 3000 },
  )
  expect(accepted).toBeGreaterThan(100)
})
