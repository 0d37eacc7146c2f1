// Values that end, values that do not.
import { describe, expect, it } from 'vitest'
import { NESTING_MAX, nestingProblem } from './nesting.ts'

function nested(levels: number): unknown {
  return nestedAround(1, levels)
}

function nestedAround(inner: unknown, levels: number): unknown {
  let value = inner
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? { a: value } : [value]
  return value
}

describe('nestingProblem', () => {
  it('limits the depth of a value', () => {
    for (const levels of [0, 1, NESTING_MAX]) expect(nestingProblem(nested(levels))).toBeUndefined()
    const problem = nestingProblem(nested(NESTING_MAX + 1))
    expect([problem?.parts.length, problem?.message]).toEqual([NESTING_MAX, 'is nested deeper than 250 levels'])
  })

  it('counts the levels of a shared value at each of its places', () => {
    const shared = nested(200)
    expect(nestingProblem({ a: shared, b: [shared] })).toBeUndefined()
    const deep = { a: shared, b: nestedAround(shared, 49) }
    expect(nestingProblem(deep)).toBeUndefined()
    expect(nestingProblem({ ...deep, c: nestedAround(shared, 50) })?.parts).toHaveLength(51)
  })

  it('names the field that holds one of its parents', () => {
    const inner: Record<string, unknown> = { name: 'x' }
    inner['self'] = [1, inner]
    expect(nestingProblem({ spec: { inner } })).toEqual({
      parts: ['spec', 'inner', 'self', '1'],
      message: 'is an alias of a value that contains it; write out the value',
    })
  })

  it('allows several places to share one value', () => {
    let shared: unknown = 'x'
    // 2^40 ways through it, 40 things.
    for (let level = 0; level < 40; level++) shared = { a: shared, b: shared }
    expect(nestingProblem(shared)).toBeUndefined()
  })
})
