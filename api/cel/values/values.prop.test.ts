// Round trips of the language's own values, and address ranges against the runtime's implementation.
import { BlockList } from 'node:net'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Frame } from '../engine/frame.ts'
import { isEqual } from '../engine/equality.ts'
import { CelDuration, DURATION_NANOS_MAX, parseCelDuration } from './duration.ts'
import { parseCidr, parseIp } from './ip.ts'
import { jsonText, parseJson } from './json.ts'
import { QueryString } from './query-string.ts'
import { CelTimestamp, parseCelTimestamp, TIMESTAMP_NANOS_MAX, TIMESTAMP_NANOS_MIN } from './timestamp.ts'

describe('values', () => {
  it('durations come back from their text', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -DURATION_NANOS_MAX, max: DURATION_NANOS_MAX }), (nanos) => {
        expect(parseCelDuration(new CelDuration(nanos).toString())?.nanos).toBe(nanos)
      }),
    )
  })

  it('timestamps come back from their text', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: TIMESTAMP_NANOS_MIN, max: TIMESTAMP_NANOS_MAX }), (nanos) => {
        expect(parseCelTimestamp(new CelTimestamp(nanos).toString())?.nanos).toBe(nanos)
      }),
    )
  })

  it('milliseconds come back from durations and timestamps', () => {
    fc.assert(
      fc.property(fc.integer({ min: -8_000_000_000_000, max: 8_000_000_000_000 }), (ms) => {
        expect(CelDuration.fromMs(ms).toMs()).toBe(ms)
        expect(CelTimestamp.fromMs(ms).epochMs()).toBe(ms)
      }),
    )
  })

  it('JSON comes back with equal values', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value)
        const read = parseJson(text)
        expect(JSON.parse(jsonText(read))).toEqual(JSON.parse(text))
        expect(isEqual(read, parseJson(jsonText(read)), new Frame({}))).toBe(true)
      }),
    )
  })

  it('addresses come back from their text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
        const ip = parseIp(text)
        expect(ip).toBeDefined()
        expect(parseIp(ip?.toString() ?? '')).toEqual(ip)
      }),
    )
  })

  it('ranges contain the same addresses as those of the runtime', () => {
    const range = fc.tuple(fc.ipV4(), fc.integer({ min: 0, max: 32 }))
    fc.assert(
      fc.property(range, fc.ipV4(), ([network, prefix], address) => {
        const list = new BlockList()
        list.addSubnet(network, prefix, 'ipv4')
        const ip = parseIp(address)
        const contains = ip !== undefined && parseCidr(`${network}/${prefix}`)?.containsIp(ip)
        expect(contains).toBe(list.check(address))
      }),
    )
  })

  it('a query parameter that is set is read back, and the others stay', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 10 })
    fc.assert(
      fc.property(text, text, text, (name, value, other) => {
        fc.pre(name !== other)
        const uri = new QueryString('/path#f').addQuery(other, 'kept').addQuery(name, 'old').addQuery(name, 'older')
        const changed = uri.setQuery(name, value)
        expect(changed.query(name)).toEqual([value])
        expect(changed.query(other)).toEqual(['kept'])
        expect(changed.text.endsWith('#f')).toBe(true)
      }),
    )
  })
})
