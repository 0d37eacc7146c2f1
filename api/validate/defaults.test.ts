import { describe, expect, it } from 'vitest'
import { withDefaults } from './defaults.ts'
import type { Semantics } from './semantics.ts'

const run = (semantics: Semantics, value: unknown) => withDefaults(semantics, value)

describe('withDefaults', () => {
  it('writes defaults if their parent exists, at every depth', () => {
    const b: Semantics = { defaults: { b: 1 } }
    const table: Semantics = { defaults: { a: {} }, fields: { a: b, list: { items: b }, map: { values: b } } }
    expect(run(table, {})).toEqual({ a: { b: 1 } })
    expect(run(table, { a: { b: 2 }, list: [{}, { b: 3 }], map: { x: {} } })).toEqual({
      a: { b: 2 },
      list: [{ b: 1 }, { b: 3 }],
      map: { x: { b: 1 } },
    })
  })

  it('drops nulls of fields and maps, not of lists, unless they are a value', () => {
    expect(run({ defaults: { a: 1 } }, { a: null, b: null, c: [null], d: { e: null } })).toEqual({
      a: 1,
      c: [null],
      d: {},
    })
    expect(run({ nullable: ['a'], defaults: { a: 1 } }, { a: null, b: null })).toEqual({ a: null })
    expect(run({ nullableValues: true }, { any: null })).toEqual({ any: null })
    expect(run({ free: true, known: ['a'] }, { a: null, b: null, c: { d: null } })).toEqual({
      b: null,
      c: { d: null },
    })
  })

  it('shares nothing with the table and does not change its input', () => {
    const table: Semantics = { defaults: { a: { b: [1] } } }
    const input = Object.freeze({ x: null })
    const [first, second] = [run(table, input), run(table, input)]
    expect(first).toEqual({ a: { b: [1] } })
    expect(first).toEqual(second)
    expect(Reflect.get(Object(first), 'a')).not.toBe(Reflect.get(Object(second), 'a'))
  })
})
