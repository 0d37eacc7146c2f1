import { describe, expect, it } from 'vitest'
import { SharedParts } from './shared-parts.ts'
import { SharedTexts } from './shared-texts.ts'

const MANY = 100_000

describe('SharedParts', () => {
  it('gives the first of equal objects and lists, and other objects as they are', () => {
    const parts = new SharedParts()
    const first = parts.of([{ type: 'Exact', value: '/a' }])
    expect(parts.of([{ type: 'Exact', value: '/a' }])).toBe(first)
    const other = [{ type: 'Exact', value: '/b' }]
    expect(parts.of(other)).toBe(other)
    expect(parts.of(undefined)).toBeUndefined()
    expect(first).toEqual([{ type: 'Exact', value: '/a' }])
  })

  it('does not look for long values', () => {
    const parts = new SharedParts()
    const long = (): object => ({ text: 'x'.repeat(4096) })
    parts.of(long())
    const second = long()
    expect(parts.of(second)).toBe(second)
  })

  it('keeps a value that comes again and again, and a limited number of others', () => {
    const parts = new SharedParts()
    const often = parts.of({ often: true })
    const rare = parts.of({ rare: true })
    for (let index = 0; index < MANY; index++) {
      parts.of({ index })
      if (index % 1000 === 0) expect(parts.of({ often: true })).toBe(often)
    }
    expect(parts.of({ rare: true })).not.toBe(rare)
  })
})

describe('SharedParts with long values', () => {
  it('forgets them by their length', () => {
    const parts = new SharedParts()
    const first = parts.of({ rare: true })
    for (let index = 0; index < 2000; index++) parts.of({ text: String(index).padEnd(1500, '.') })
    expect(parts.of({ rare: true })).not.toBe(first)
  })
})

describe('SharedTexts', () => {
  it('gives equal texts, whether they are known or forgotten', () => {
    const texts = new SharedTexts()
    for (const round of [0, 1]) {
      for (let index = round; index < MANY; index++) expect(texts.of(`text ${index}`)).toBe(`text ${index}`)
    }
  })
})
