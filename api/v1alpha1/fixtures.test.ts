// Every fixture gets the verdict it states from local validation, and every limit of a schema holds at its edge.
import { describe, expect, it } from 'vitest'
import { validateObject } from '../validate/validate.ts'
import { loadCrdKinds } from './crd-schema.testing.ts'
import { limitCases } from './limit-cases.testing.ts'
import { fixtureKinds, loadFixtures } from './testdata.testing.ts'

const kinds = new Map(loadCrdKinds().map((kind) => [kind.name, kind]))

const LIMIT_REASONS = new Set([
  'FieldUnknown',
  'FieldValueNotSupported',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
])

describe.each(fixtureKinds())('%s', (name) => {
  const fixtures = loadFixtures(name)

  it.each(fixtures.map((fixture) => [fixture.title, fixture] as const))('%s', (_, { object, oldObject, error }) => {
    const { problems } = validateObject(object, oldObject === undefined ? {} : { oldObject })
    if (error === undefined) expect(problems).toEqual([])
    else
      expect(problems).toContainEqual(
        expect.objectContaining({ path: error.path, message: expect.stringContaining(error.message) }),
      )
  })

  it('keeps every limit at its edge', () => {
    const kind = kinds.get(name)
    if (kind === undefined) throw new Error(`no CRD for testdata/${name}`)
    const wrong = limitCases(kind, fixtures, 'distinct').flatMap(({ title, object, path, isWithin }) => {
      const { problems } = validateObject(object)
      const here = problems.filter((problem) => problem.path === path)
      if (!isWithin) return here.length > 0 ? [] : [`${title}: accepted at ${path}`]
      return here.filter(({ reason }) => LIMIT_REASONS.has(reason)).map(({ message }) => `${title}: ${message}`)
    })
    expect(wrong.join('\n')).toBe('')
  })
})
