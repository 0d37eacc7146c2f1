// What validateObject does around structure and rules. Verdicts on real objects: the fixtures of api/v1alpha1 and
// api/gateway.
import { describe, expect, it } from 'vitest'
import { applyDefaults, isKnownKind, validateObject } from './validate.ts'

const route = (spec: unknown, metadata: unknown = { name: 'r' }) => ({
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'HTTPRoute',
  metadata,
  spec,
})

const problems = (object: unknown) => validateObject(object).problems.map(({ path, reason }) => `${path} ${reason}`)

describe('validateObject', () => {
  it.each([
    [undefined, ' FieldValueTypeInvalid'],
    [null, ' FieldValueTypeInvalid'],
    ['text', ' FieldValueTypeInvalid'],
    [[], ' FieldValueTypeInvalid'],
    [{}, 'kind KindUnknown'],
    [{ apiVersion: 'v1', kind: 'Pod' }, 'kind KindUnknown'],
  ])('refuses %j without throwing', (object, expected) => {
    expect(problems(object)).toEqual([expected])
    expect(isKnownKind(object)).toBe(false)
    expect(applyDefaults(object)).toBe(object)
  })

  it('reports all structural problems at once, and rules only for objects without structural problems', () => {
    const spec = { hostnames: ['UPPER'], rules: [{ backendRefs: [{ name: 'no port' }], zz: 1 }], extra: true }
    expect(problems(route(spec)).sort()).toEqual([
      'spec.extra FieldUnknown',
      'spec.hostnames[0] FieldValueInvalid',
      'spec.rules[0].zz FieldUnknown',
    ])
    expect(problems(route({ rules: [{ backendRefs: [{ name: 'noport' }] }] }))).toEqual([
      'spec.rules[0].backendRefs[0] FieldValueInvalid',
    ])
  })

  it('never repeats a rejected text: it may be a secret', () => {
    const { problems: found } = validateObject(
      route({ hostnames: ['Secret_Value'], parentRefs: [{ name: 5, port: 'Secret_Value' }] }),
    )
    expect(found).toHaveLength(3)
    expect(JSON.stringify(found)).not.toContain('Secret_Value')
  })

  it('treats null as absent, but not in a list', () => {
    expect(problems(route({ parentRefs: [{ name: 'gw', kind: null, sectionName: null }], hostnames: null }))).toEqual(
      [],
    )
    expect(problems(route({ parentRefs: [{ name: null }] }))).toEqual(['spec.parentRefs[0].name FieldValueRequired'])
    expect(problems(route({ parentRefs: [null] }))).toEqual(['spec.parentRefs[0] FieldValueTypeInvalid'])
  })

  it.each([
    [undefined, 'metadata FieldValueRequired'],
    [{}, 'metadata.name FieldValueRequired'],
    [{ name: 'Upper' }, 'metadata.name FieldValueInvalid'],
    [{ name: 'a'.repeat(254) }, 'metadata.name FieldValueInvalid'],
    [{ name: 'a', namespace: 'a.b' }, 'metadata.namespace FieldValueInvalid'],
    [{ name: 'a', labels: { 'a b': 'c' } }, 'metadata.labels FieldValueInvalid'],
    [{ name: 'a', labels: { a: 'x'.repeat(64) } }, 'metadata.labels FieldValueInvalid'],
    [{ name: 'a', labels: [] }, 'metadata.labels FieldValueTypeInvalid'],
    [{ name: 'a', annotations: { 'a/b/c': '' } }, 'metadata.annotations FieldValueInvalid'],
    [{ name: 'a', annotations: { a: 1 } }, 'metadata.annotations FieldValueInvalid'],
  ])('checks metadata %j', (metadata, expected) => {
    expect(problems({ ...route({}), metadata })).toEqual([expected])
  })

  it('accepts valid metadata', () => {
    const labels = { app: 'a', 'example.com/part': '', 'a.b-c_d': 'X.y_z-1' }
    const annotations = { 'Example.com/Note': 'any text at all' }
    expect(problems(route({}, { name: 'a.b-c', namespace: 'default', labels, annotations }))).toEqual([])
  })

  it('rejects unknown fields with names of the prototype', () => {
    const object = JSON.parse(
      '{"apiVersion":"gateway.networking.k8s.io/v1","kind":"HTTPRoute","metadata":{"name":"a"},"spec":{"__proto__":{},"constructor":1}}',
    ) as unknown
    expect(problems(object).sort()).toEqual(['spec.__proto__ FieldUnknown', 'spec.constructor FieldUnknown'])
    expect(isKnownKind({ apiVersion: 'gateway.networking.k8s.io/v1', kind: 'constructor' })).toBe(false)
  })
})
