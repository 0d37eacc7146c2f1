// JSON Schema in the form of Google.
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../json.ts'
import { googleSchema, SchemaBudget } from './schema.ts'

const text = { type: 'string' }
const TEXT = { type: 'STRING' }

describe('a JSON schema', () => {
  it.each<[string, JsonObject, JsonObject]>([
    [
      'keeps what Google has, and loses the rest',
      {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        additionalProperties: false,
        properties: {
          day: { ...text, format: 'date-time', description: 'd', minLength: 1 },
          mail: { ...text, format: 'email', pattern: '@' },
          count: { type: 'integer', minimum: 1, exclusiveMaximum: 9, format: 'int32' },
          properties: { type: 'array', items: text, uniqueItems: true },
        },
        required: ['day', 'absent'],
      },
      {
        type: 'OBJECT',
        properties: {
          day: { ...TEXT, format: 'date-time', description: 'd', minLength: 1 },
          mail: { ...TEXT, pattern: '@' },
          count: { type: 'INTEGER', minimum: 1, format: 'int32' },
          properties: { type: 'ARRAY', items: TEXT },
        },
        required: ['day'],
      },
    ],
    [
      'has its references replaced, with what stands beside them',
      {
        properties: { a: { $ref: '#/$defs/x~1y', description: 'beside' }, b: { allOf: [{ $ref: '#/$defs/x~1y' }] } },
        $defs: { 'x/y': { ...text, description: 'own' } },
      },
      {
        type: 'OBJECT',
        properties: { a: { ...TEXT, description: 'beside' }, b: { ...TEXT, description: 'own' } },
      },
    ],
    [
      'within itself becomes any object',
      { type: 'object', properties: { next: { $ref: '#' }, name: text } },
      {
        type: 'OBJECT',
        properties: {
          next: { type: 'OBJECT', properties: { next: { type: 'OBJECT' }, name: TEXT } },
          name: TEXT,
        },
      },
    ],
    ['is nullable', { type: ['string', 'null'] }, { ...TEXT, nullable: true }],
    [
      'is nullable by an option',
      { anyOf: [text, { type: 'null' }], title: 't' },
      { ...TEXT, title: 't', nullable: true },
    ],
    ['has several types', { type: ['string', 'number'] }, { anyOf: [TEXT, { type: 'NUMBER' }] }],
    ['has options', { oneOf: [text, { type: 'boolean' }] }, { anyOf: [TEXT, { type: 'BOOLEAN' }] }],
    ['has choices', { enum: ['a', 'b', null] }, { ...TEXT, enum: ['a', 'b'], nullable: true }],
    ['has one value', { const: 'a' }, { ...TEXT, enum: ['a'] }],
    ['has choices that Google cannot list', { enum: [1, 2] }, { type: 'NUMBER' }],
    [
      'has several parts',
      {
        allOf: [
          { properties: { a: text }, required: ['a'] },
          { properties: { b: text }, required: ['b'] },
        ],
      },
      { type: 'OBJECT', properties: { a: TEXT, b: TEXT }, required: ['a', 'b'] },
    ],
    [
      'has several parts that are references',
      {
        allOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/b' }],
        $defs: { a: { properties: { a: text } }, b: { properties: { b: text } } },
      },
      { type: 'OBJECT', properties: { a: TEXT, b: TEXT } },
    ],
    ['is a list of anything', { type: 'array' }, { type: 'ARRAY', items: TEXT }],
  ])('%s', (_, schema, expected) => {
    expect(JSON.parse(JSON.stringify(googleSchema(schema, 'tools[0]', new SchemaBudget())))).toEqual(expected)
  })

  it('is refused if a reference leads nowhere', () => {
    for (const $ref of ['#/$defs/absent', '#/constructor', 'https://x.example/schema']) {
      expect(() => googleSchema({ properties: { a: { $ref } } }, 'tools[0]', new SchemaBudget())).toThrow(
        'tools[0] has a reference to a schema that it does not have',
      )
    }
  })

  it('is refused if all schemas of a request are too large together', () => {
    const budget = new SchemaBudget()
    const wide = { properties: Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`p${at}`, text])) }
    expect(googleSchema(wide, 'tools[0]', budget)).toMatchObject({ type: 'OBJECT' })
    expect(() => ['tools[1]', 'tools[2]'].map((at) => googleSchema(wide, at, budget))).toThrow(
      /tools\[[12]\] is too large/,
    )
  })

  it('is refused if its references multiply, or it is too deep', () => {
    const doubled = (to: string): JsonObject => ({ properties: { a: { $ref: to }, b: { $ref: to } } })
    const $defs = Object.fromEntries(
      Array.from({ length: 20 }, (_, at) => [`d${at}`, at === 19 ? text : doubled(`#/$defs/d${at + 1}`)]),
    )
    expect(() => googleSchema({ ...doubled('#/$defs/d0'), $defs }, 'tools[0]', new SchemaBudget())).toThrow(
      'is too large',
    )
    const properties = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`p${at}`, { $ref: '#/properties' }]))
    expect(() => googleSchema({ properties }, 'tools[0]', new SchemaBudget())).toThrow('is too large')
    const required = Array.from({ length: 5000 }, (_, at) => `p${at}`)
    const wide = { properties: Object.fromEntries(required.map((name) => [name, { $ref: '#/$defs/d' }])) }
    expect(() => googleSchema({ ...wide, $defs: { d: { required } } }, 'tools[0]', new SchemaBudget())).toThrow(
      'is too large',
    )
    let deep: JsonObject = text
    for (let depth = 0; depth < 100; depth++) deep = { type: 'array', items: deep }
    expect(() => googleSchema(deep, 'tools[0]', new SchemaBudget())).toThrow('too deep')
  })
})
