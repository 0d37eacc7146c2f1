import { describe, expect, it } from 'vitest'
import { listProblems } from './lists.ts'
import type { Semantics } from './semantics.ts'

const paths = (semantics: Semantics, value: unknown) => listProblems(semantics, value).map(({ path }) => path)

describe('listProblems', () => {
  it('names the second of equal entries of a set, once', () => {
    expect(paths({ list: 'set' }, ['a', 'b', 'a', 'a', 'b'])).toEqual(['[2]', '[4]'])
    expect(paths({ list: 'set' }, [1, '1', true, 'true'])).toEqual([])
    expect(
      paths({ list: 'set' }, [
        { a: 1, b: [2] },
        { b: [2], a: 1 },
      ]),
    ).toEqual(['[1]'])
  })

  it('compares entries of a list-map by all keys; an absent key is a value', () => {
    const table: Semantics = { list: ['name', 'port'] }
    expect(paths(table, [{ name: 'a', port: 1 }, { name: 'a', port: 2 }, { name: 'a' }])).toEqual([])
    expect(paths(table, [{ name: 'a' }, { name: 'a', other: 1 }])).toEqual(['[1]'])
    expect(paths(table, ['text', 'text'])).toEqual([])
  })

  it('checks lists, fields and maps', () => {
    const set: Semantics = { list: 'set' }
    const table: Semantics = { fields: { a: { items: set, values: set } } }
    expect(paths(table, { a: [['x', 'x']] })).toEqual(['a[0][1]'])
    expect(paths(table, { a: { k: ['x', 'x'] } })).toEqual(['a.k[1]'])
    expect(paths(table, { b: ['x', 'x'], a: 'text' })).toEqual([])
  })
})
