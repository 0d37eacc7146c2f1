import { assert, json, property } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { withoutManagedFields } from './managed-fields.ts'

function parsed(text: string): unknown {
  return JSON.parse(withoutManagedFields(text))
}

describe('withoutManagedFields', () => {
  it('empties the lists of all objects of a page', () => {
    const one = { metadata: { managedFields: [{ fieldsV1: { 'k:{"port":80,"x":"]"}': {} } }, [[]]], name: 'one' } }
    const two = { metadata: { name: 'two', managedFields: [{ manager: 'a\\"]' }] }, spec: { list: [1] } }
    const emptied = (object: object, name: string): object => ({ ...object, metadata: { name, managedFields: [] } })
    expect(parsed(JSON.stringify({ items: [one, two] }))).toEqual({ items: [emptied(one, 'one'), emptied(two, 'two')] })
  })

  it('leaves texts that look like a list', () => {
    const object = { data: { text: '"managedFields":[{"a":1}]', other: 'managedFields' }, managedFields: null }
    expect(parsed(JSON.stringify(object))).toEqual(object)
  })

  it('leaves a text that ends within a list, for the parser to reject', () => {
    const text = '{"managedFields":[{"a":"]'
    expect(withoutManagedFields(text)).toBe(text)
  })

  it('reads everything else as before', () => {
    assert(
      property(json(), json(), (value, fields) => {
        const object = { a: value, metadata: { managedFields: [JSON.parse(fields) as unknown, fields] }, b: fields }
        const expected = { a: value, metadata: { managedFields: [] }, b: fields }
        expect(parsed(JSON.stringify(object))).toEqual(expected)
      }),
    )
  })
})
