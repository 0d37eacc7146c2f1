import { describe, expect, it } from 'vitest'
import { newSpanId, newTraceId, parseTraceparent, traceparentOf } from './trace-context.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'

describe('traceparent', () => {
  it.each<[string, number | undefined]>([
    [`00-${TRACE}-${SPAN}-01`, 1],
    [`00-${TRACE}-${SPAN}-00`, 0],
    [`00-${TRACE}-${SPAN}-ff`, 255],
    [`cc-${TRACE}-${SPAN}-01`, 1],
    [`cc-${TRACE}-${SPAN}-01-what-comes-later`, 1],
    [`00-${TRACE}-${SPAN}-01-more`, undefined],
    [`ff-${TRACE}-${SPAN}-01`, undefined],
    [`00-${'0'.repeat(32)}-${SPAN}-01`, undefined],
    [`00-${TRACE}-${'0'.repeat(16)}-01`, undefined],
    [`00-${TRACE.toUpperCase()}-${SPAN}-01`, undefined],
    [`00-${TRACE.slice(1)}-${SPAN}-01`, undefined],
    [`00-${TRACE}-${SPAN}`, undefined],
    [` 00-${TRACE}-${SPAN}-01`, undefined],
    [`cc-${TRACE}-${SPAN}-01.`, undefined],
    ['', undefined],
  ])('%s', (field, flags) => {
    expect(parseTraceparent(field)?.flags).toBe(flags)
  })

  it('is written as version 00 with the one flag there is', () => {
    expect(traceparentOf({ traceId: TRACE, spanId: SPAN, flags: 0xff })).toBe(`00-${TRACE}-${SPAN}-01`)
    expect(traceparentOf({ traceId: TRACE, spanId: SPAN, flags: 2 })).toBe(`00-${TRACE}-${SPAN}-00`)
  })

  it('has ids that differ', () => {
    const ids = Array.from({ length: 2000 }, () => newTraceId())
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.every((id) => /^[0-9a-f]{32}$/.test(id))).toBe(true)
    expect(newSpanId()).toMatch(/^[0-9a-f]{16}$/)
  })
})
