import { describe, expect, it } from 'vitest'
import type { SchemaNode } from '../schema/node.ts'
import { singular } from '../names.ts'
import { hoist } from './hoist.ts'

const object = (properties: Record<string, SchemaNode>): SchemaNode => ({ type: 'object', properties })
const text: SchemaNode = { type: 'string' }

describe('hoist', () => {
  it('names nested objects by the shortest clear path', () => {
    const root = object({
      rules: { type: 'array', items: object({ filter: object({ a: text }) }) },
      status: object({ filter: object({ b: text }) }),
    })
    const { root: top, definitions } = hoist(root, 'Route')
    expect(Object.keys(definitions)).toEqual(['RouteRule', 'RouteStatus', 'RouteFilter', 'RouteStatusFilter'])
    expect(top.properties?.['rules']).toEqual({ type: 'array', items: { $ref: '#/definitions/RouteRule' } })
    expect(root.properties?.['status']).toEqual(object({ filter: object({ b: text }) }))
  })

  it('uses one type for the same structure, whatever the words beside it', () => {
    const root = object({
      first: object({ ref: { ...object({ name: text }), description: 'one' } }),
      second: object({ ref: { ...object({ name: text }), description: 'two' } }),
    })
    const { definitions } = hoist(root, 'K')
    expect(Object.keys(definitions)).toEqual(['KFirst', 'KSecond', 'KRef'])
    expect(definitions['KSecond']?.properties?.['ref']).toEqual({ $ref: '#/definitions/KRef', description: 'two' })
  })
})

describe('singular', () => {
  it.each([
    ['matches', 'match'],
    ['policies', 'policy'],
    ['rules', 'rule'],
    ['addresses', 'address'],
    ['class', 'class'],
    ['spec', 'spec'],
  ])('%s -> %s', (plural, expected) => {
    expect(singular(plural)).toBe(expected)
  })
})
