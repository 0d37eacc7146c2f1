import { describe, expect, it } from 'vitest'
import { re2 } from './late-re2.ts'

describe('re2', () => {
  it('is the library that the dependencies name', () => {
    const { RE2JS, RE2Set } = re2()
    expect(RE2JS.compile('a(b|c)').testExact('ab')).toBe(true)
    const set = new RE2Set(RE2Set.ANCHOR_BOTH)
    set.add('x+')
    set.compile()
    expect(set.match('xx')).toEqual([0])
  })

  it('is loaded once', () => {
    expect(re2()).toBe(re2())
  })
})
