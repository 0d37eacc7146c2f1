// Objects that a released version accepted are accepted by this one, with the same defaults
// (docs/contributing/releasing.md).
import { describe, expect, it } from 'vitest'
import { breakingChanges, type Schema } from './changes.ts'
import { currentSchemas, releasedSchemas } from './schemas.ts'

/** `NAME/VERSION.PATH: WHAT` of intended changes, and why no object in use is concerned. */
const INTENDED: Readonly<Record<string, string>> = {}

const OBJECT: Schema = {
  type: 'object',
  required: ['a'],
  properties: {
    a: { type: 'string', enum: ['x', 'y'], maxLength: 10, default: 'x' },
    b: { type: 'array', minItems: 1, items: { type: 'integer' } },
    c: { type: 'object', additionalProperties: { type: 'string' } },
    d: { type: 'string' },
  },
}
const withField = (name: string, schema: Schema | undefined): Schema => {
  const { [name]: _, ...others } = OBJECT.properties ?? {}
  return { ...OBJECT, properties: schema === undefined ? others : { ...others, [name]: schema } }
}

describe('breakingChanges', () => {
  it.each<[Schema, string]>([
    [withField('a', undefined), 'kind.a: was removed'],
    [withField('a', { type: 'string', enum: ['x'], maxLength: 10, default: 'x' }), 'kind.a: the value "y" was removed'],
    [withField('a', { type: 'string', enum: ['x', 'y'], maxLength: 9, default: 'x' }), 'kind.a: maxLength 10 became 9'],
    [withField('a', { type: 'string', enum: ['x', 'y'], maxLength: 10 }), 'kind.a: default "x" became none'],
    [withField('b', { type: 'array', minItems: 2, items: { type: 'integer' } }), 'kind.b: minItems 1 became 2'],
    [
      withField('b', { type: 'array', minItems: 1, items: { type: 'string' } }),
      'kind.b[]: type "integer" became "string"',
    ],
    [withField('c', { type: 'object' }), 'kind.c{}: was removed'],
    [withField('d', { type: 'string', pattern: '^a' }), 'kind.d: pattern none became "^a"'],
    [withField('d', { type: 'string', enum: ['x'] }), 'kind.d: only some values are accepted'],
    [withField('d', { type: 'string', maximum: 1 }), 'kind.d: maximum none became 1'],
    [{ ...OBJECT, required: ['a', 'd'] }, 'kind: requires d'],
    [{ ...OBJECT, 'x-kubernetes-validations': [{ rule: 'has(self.d)' }] }, 'kind: has the new rule has(self.d)'],
  ])('reports %j', (after, expected) => {
    expect(breakingChanges(OBJECT, after, 'kind')).toEqual([expected])
  })

  it('accepts what accepts more', () => {
    const more: Schema = {
      ...withField('a', { type: 'string', enum: ['x', 'y', 'z'], maxLength: 20, default: 'x' }),
      required: [],
    }
    expect(breakingChanges(OBJECT, more, 'kind')).toEqual([])
    expect(breakingChanges(OBJECT, withField('e', { type: 'string' }), 'kind')).toEqual([])
  })
})

describe('the CRDs', () => {
  const current = currentSchemas()

  it('are compared with at least one version', () => expect(releasedSchemas().length).toBeGreaterThan(0))

  it.each(releasedSchemas())('accept all objects of version %s', (_, released) => {
    const changes = Object.entries(released).flatMap(([name, schema]) => breakingChanges(schema, current[name], name))
    expect(changes.filter((change) => INTENDED[change] === undefined)).toEqual([])
    expect(Object.keys(INTENDED).filter((change) => !changes.includes(change))).toEqual([])
  })
})
