// Every keyword of the structural check, by errors with their place. codegen/validators/ajv.test.ts compares the tables
// of all kinds with another implementation of JSON Schema.
import { describe, expect, it } from 'vitest'
import { type Structure, structureErrors } from './structure-check.ts'

const errors = (structure: Structure, value: unknown): string[] =>
  structureErrors(structure, value).map(({ instancePath, keyword, params }) => {
    return `${instancePath} ${keyword} ${JSON.stringify(params)}`
  })

const word: Structure = { type: 'string', minLength: 2, maxLength: 3, pattern: '^[a-z😀]+$' }

describe('structureErrors', () => {
  it.each<[string, Structure, readonly unknown[], readonly unknown[]]>([
    ['type string', { type: 'string' }, ['', 'a'], [1, null, [], {}, true, undefined]],
    ['type integer', { type: 'integer' }, [0, -1, 2], [1.5, '1', Number.NaN, Infinity]],
    ['type number', { type: 'number' }, [0, 1.5], ['1', Number.NaN, Infinity]],
    ['type boolean', { type: 'boolean' }, [true, false], ['true', 0, null]],
    ['type array', { type: 'array' }, [[], [1]], [{}, 'a']],
    ['type object', { type: 'object' }, [{}, { any: 1 }], [[], null]],
    ['one of two types', { type: ['integer', 'null'] }, [1, null], ['a', 1.5]],
    ['no type', {}, [1, 'a', null, {}, []], []],
    ['enum', { enum: ['a', 1, null] }, ['a', 1, null], ['1', 'b', undefined]],
    ['maxLength in code points', { maxLength: 2 }, ['', 'ab', '😀😀', 1], ['abc', '😀😀😀']],
    ['minLength in code points', { minLength: 2 }, ['ab', '😀😀', 1], ['', 'a', '😀']],
    ['pattern', { pattern: 'b+$' }, ['abb', 1], ['a', '']],
    ['format', { format: 'ipv4' }, ['10.0.0.1', 1], ['10.0.0', '']],
    ['maximum', { maximum: 2 }, [2, -5, 'a'], [2.1, 3]],
    ['minimum', { minimum: 2 }, [2, 3], [1.9, -5]],
    ['maxItems', { maxItems: 1 }, [[], [1], 'ab'], [[1, 2]]],
    ['minItems', { minItems: 1 }, [[1], {}], [[]]],
    ['items', { items: { type: 'string' } }, [[], ['a'], {}], [[1], ['a', null]]],
    ['maxProperties', { maxProperties: 1 }, [{}, { a: 1 }, [1, 2]], [{ a: 1, b: 2 }]],
    ['minProperties', { minProperties: 1 }, [{ a: 1 }, []], [{}]],
    ['required', { required: ['a'] }, [{ a: null }, [], 'a'], [{}, { a: undefined }, { b: 1 }]],
    ['fields', { properties: { a: { type: 'string' } } }, [{}, { a: 'x' }, []], [{ a: 1 }, { b: 1 }, { a: 'x', b: 1 }]],
    ['no fields', { properties: {} }, [{}], [{ a: 1 }]],
    ['further fields', { properties: { a: { type: 'string' } }, rest: true }, [{ b: 1 }], [{ a: 1 }]],
    ['values of a map', { type: 'object', rest: { type: 'integer' } }, [{}, { a: 1 }], [{ a: 'x' }]],
    ['not', { not: { required: ['a'] } }, [{}, { b: 1 }], [{ a: 1 }, 'a']],
    ['anyOf', { anyOf: [{ required: ['a'] }, { required: ['b'] }] }, [{ a: 1, b: 1 }, 'x'], [{}, { c: 1 }]],
    ['oneOf', { oneOf: [{ required: ['a'] }, { required: ['b'] }] }, [{ a: 1 }, { b: 1 }], [{}, { a: 1, b: 1 }]],
  ])('%s', (_, structure, good, bad) => {
    for (const value of good) expect([value, errors(structure, value)]).toEqual([value, []])
    for (const value of bad) expect([value, errors(structure, value).length > 0]).toEqual([value, true])
  })

  it('reports every invalid path with its error, in the order of the schema', () => {
    const structure: Structure = {
      type: 'object',
      required: ['list', 'name'],
      properties: { name: word, list: { type: 'array', maxItems: 1, items: { properties: { 'a/b~c': word } } } },
    }
    const value = { other: 1, list: [{ 'a/b~c': 'Word' }, { 'a/b~c': 'ok' }] }
    expect(errors(structure, value)).toEqual([
      ' required {"missingProperty":"name"}',
      ' additionalProperties {"additionalProperty":"other"}',
      '/list maxItems {"limit":1}',
      '/list/0/a~1b~0c maxLength {"limit":3}',
      '/list/0/a~1b~0c pattern {"pattern":"^[a-z😀]+$"}',
    ])
  })

  it('reports fields in the order of the schema, not of the value', () => {
    const structure: Structure = { properties: { first: word, second: word, third: word } }
    expect(errors(structure, { third: 'a', second: 'ab', other: 1, first: 'A' })).toEqual([
      ' additionalProperties {"additionalProperty":"other"}',
      '/first minLength {"limit":2}',
      '/first pattern {"pattern":"^[a-z😀]+$"}',
      '/third minLength {"limit":2}',
    ])
  })

  it('checks each field once, however deep the wrong one is', () => {
    const tree: Structure = { properties: { name: word, children: { type: 'array', items: () => tree } } }
    const depth = 60 // a second look at each level would be 2^60 checks
    let value: unknown = { name: 'a' }
    for (let level = 0; level < depth; level += 1) value = { children: [value] }
    expect(errors(tree, value)).toEqual([`${'/children/0'.repeat(depth)}/name minLength {"limit":2}`])
  })

  it('does not look for fields in a value of another type', () => {
    expect(errors({ type: 'string' }, { a: 1 })).toEqual([' type {"type":"string"}'])
    expect(errors({ type: 'object', properties: { a: word } }, 'a')).toEqual([' type {"type":"object"}'])
  })

  it('does not report why alternatives fail', () => {
    const structure: Structure = { properties: { a: { anyOf: [word, { type: 'integer', minimum: 5 }] } } }
    expect(errors(structure, { a: 1 })).toEqual(['/a anyOf {}'])
    expect(errors(structure, { a: 'ab' })).toEqual([])
    expect(errors(structure, { a: 5 })).toEqual([])
  })

  it('follows a structure that holds itself', () => {
    const tree: Structure = { properties: { name: word, children: { type: 'array', items: () => tree } } }
    expect(errors(tree, { name: 'ab', children: [{ children: [{ name: 'ab' }] }] })).toEqual([])
    expect(errors(tree, { children: [{ children: [{ name: 'a' }] }] })).toEqual([
      '/children/0/children/0/name minLength {"limit":2}',
    ])
  })
})
