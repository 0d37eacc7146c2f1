// An edit changes its own bytes; the rest of the text is unchanged.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { editedText, readJsonText, type JsonText } from './json-text.ts'

function read(text: string): JsonText {
  const json = readJsonText(text)
  if (json === undefined) throw new Error(`not an object: ${text}`)
  return json
}

const edited = (text: string, edit: (members: Record<string, unknown>) => void): string => {
  const json = read(text)
  edit(json.members)
  return editedText(json)
}

describe('an edited text', () => {
  it.each<[string, string, (members: Record<string, unknown>) => void, string]>([
    ['nothing', ' { "a" : 1.0 } ', () => {}, ' { "a" : 1.0 } '],
    [
      'a value',
      '{"id":12345678901234567890,"model" : "a", "t":1.0}',
      (m) => (m['model'] = 'b'),
      '{"id":12345678901234567890,"model" : "b", "t":1.0}',
    ],
    ['an escaped name', '{"mod\\u0065l":"a","x":1e2}', (m) => (m['model'] = 'b'), '{"mod\\u0065l":"b","x":1e2}'],
    ['a new member', '{ "a" : 1.0 }', (m) => (m['b'] = [1]), '{ "a" : 1.0,"b":[1] }'],
    ['a new member of nothing', '{ }', (m) => (m['b'] = 1), '{"b":1 }'],
    ['a member taken from the front', '{ "a":1 , "b":2.0}', (m) => delete m['a'], '{  "b":2.0}'],
    ['a member taken from the middle', '{"a":1,"b":2,"c":3.0}', (m) => delete m['b'], '{"a":1,"c":3.0}'],
    ['a member taken from the end', '{"a":1.0, "b":2 }', (m) => delete m['b'], '{"a":1.0 }'],
    ['the only member taken, another given', '{"a":1}', (m) => (delete m['a'], (m['b'] = 2)), '{"b":2}'],
    ['a member that is undefined', '{"a":1,"b":2.0}', (m) => (m['a'] = undefined), '{"b":2.0}'],
    [
      'a member of an object',
      '{"o":{"x":1.0,"y":2}}',
      (m) => (m['o'] = { ...(m['o'] as object), y: 3 }),
      '{"o":{"x":1.0,"y":3}}',
    ],
    [
      'elements around others',
      '{"l":[ {"x":1.0} , 2 ]}',
      (m) => (m['l'] = [0, ...(m['l'] as []), 3]),
      '{"l":[0, {"x":1.0} , 2 ,3]}',
    ],
    ['elements of an empty list', '{"l":[ ]}', (m) => (m['l'] = [0]), '{"l":[0]}'],
    [
      'an element of a list',
      '{"l":[ 1.0 , {"x":2.0, "y":["a",1e2]} ,3 ]}',
      (m) => (m['l'] = [1, { x: 2, y: ['b', 100] }, 3]),
      '{"l":[ 1.0 , {"x":2.0, "y":["b",1e2]} ,3 ]}',
    ],
    ['a name of the prototype', '{"__proto__":1.0,"a":2}', (m) => (m['a'] = 3), '{"__proto__":1.0,"a":3}'],
  ])('with %s', (_, text, edit, expected) => expect(edited(text, edit)).toBe(expected))

  it.each([
    ['{"model":"a","model":"b","t":1.0}', '{"model":"b","t":1}'],
    ['{"model":"a","mod\\u0065l":"b"}', '{"model":"b"}'],
    ['{"model":"a","x":[12345678901234567890],"model":"b"}', '{"model":"b","x":[12345678901234567890]}'],
    ['{"messages":[{"role":"user","role":"system"}]}', '{"messages":[{"role":"system"}]}'],
  ])('%s names each member once', (text, expected) => expect(edited(text, () => {})).toBe(expected))

  it('equals its members, whatever was changed', () => {
    const object = fc.dictionary(fc.string({ maxLength: 3 }), fc.jsonValue({ maxDepth: 3 }))
    const space = fc.constantFrom(undefined, 1, '\t')
    fc.assert(
      fc.property(object, object, fc.array(fc.nat()), space, (before, added, removed, indent) => {
        const text = JSON.stringify(before, null, indent)
        const json = read(text)
        expect(editedText(json)).toBe(text)
        const names = Object.keys(json.members)
        for (const at of removed) delete json.members[names[at % names.length] ?? '']
        for (const [name, value] of Object.entries(added)) {
          Object.defineProperty(json.members, name, { value, writable: true, enumerable: true, configurable: true })
        }
        expect(JSON.parse(editedText(json))).toEqual(JSON.parse(JSON.stringify(json.members)))
      }),
    )
  })
})
