// The structural check and its tables against another implementation of JSON Schema: ajv, with schemas made from the
// CRDs. Fixtures and samples, as they are and with something wrong in random places, get the same errors.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv, type ValidateFunction } from 'ajv'
import { array, assert, constantFrom, nat, property, record as recordOf } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { API_VERSION } from '../../api/group.ts'
import { KINDS } from '../../api/validate/kinds/register.gen.ts'
import { structureErrors } from '../../api/validate/structure-check.ts'
import { formats } from '../../api/validate/runtime.ts'
import { runs } from '../../test/run/runs.ts'
import { isRecord } from '../schema/load.ts'

const ROOT = join(import.meta.dirname, '../..')
const FILES = ['api/v1alpha1/testdata/**/*.yaml', 'config/samples/**/*.yaml']

const crds = globSync('config/crd/*.yaml', { cwd: ROOT }).map((file) => parse(readFileSync(join(ROOT, file), 'utf8')))
const objects = globSync(FILES, { cwd: ROOT }).flatMap((file) =>
  parseAllDocuments(readFileSync(join(ROOT, file), 'utf8')).flatMap((document) => objectsIn(document.toJS())),
)

/** Every object of our kinds, however deep it stands in a fixture. */
function objectsIn(value: unknown): Record<string, unknown>[] {
  if (Array.isArray(value)) return value.flatMap(objectsIn)
  if (!isRecord(value)) return []
  return value['apiVersion'] === API_VERSION ? [value] : Object.values(value).flatMap(objectsIn)
}

/** From a structural schema: unknown fields refused, texts and what ajv does not know left out. */
function jsonSchema(node: Record<string, unknown>): Record<string, unknown> {
  const { properties, items, additionalProperties, type } = node
  const limits = Object.entries(node).filter(([key]) => /^(?:min|max|pattern$|enum$|required$|format$)/.test(key))
  const isOpen = node['x-kubernetes-preserve-unknown-fields'] === true || properties === undefined
  return {
    ...Object.fromEntries(limits),
    type: node['x-kubernetes-int-or-string'] === true ? ['integer', 'string'] : type,
    ...(isRecord(properties) && { properties: mapValues(properties, (child) => jsonSchema(record(child))) }),
    ...(isRecord(items) && { items: jsonSchema(items) }),
    ...(type === 'object' && {
      additionalProperties: isRecord(additionalProperties) ? jsonSchema(additionalProperties) : isOpen,
    }),
  }
}

function mapValues(values: Record<string, unknown>, change: (value: unknown) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value)]))
}

function record(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {}
}

function compiled(schema: Record<string, unknown>): ValidateFunction {
  const ajv = new Ajv({
    allErrors: true,
    strict: true,
    strictTypes: false,
    strictRequired: false,
    allowUnionTypes: true,
  })
  for (const [name, check] of Object.entries(formats)) ajv.addFormat(name, check)
  for (const name of ['int32', 'int64', 'float', 'double'])
    ajv.addFormat(name, { type: 'number', validate: () => true })
  return ajv.compile(jsonSchema(schema))
}

type Holder = Record<string | number, unknown>

function placesIn(value: unknown): { holder: Holder; key: string }[] {
  if (typeof value !== 'object' || value === null) return []
  // A record or a list: both are read and written by key.
  const holder = value as Holder
  return Object.keys(holder).flatMap((key) => [{ holder, key }, ...placesIn(holder[key])])
}

const WRONG = [
  null,
  '',
  0,
  -1,
  1.5,
  70_000,
  true,
  [],
  {},
  'x'.repeat(300),
  'not good !',
  ['a', 'a'],
  { a: 1 },
  '😀'.repeat(64),
]

/** A copy with one part removed, replaced or added. */
function spoiled(object: unknown, { at, how, what }: { at: number; how: number; what: unknown }): unknown {
  const copy = structuredClone(object)
  const places = placesIn(copy)
  const place = places[at % places.length]
  if (place === undefined) return copy
  const { holder, key } = place
  if (how === 0) Reflect.deleteProperty(holder, key)
  else holder[how === 1 && !Array.isArray(holder) ? 'more/~' : key] = structuredClone(what)
  return copy
}

describe.each(crds.map((crd) => [crd.spec.names.kind, crd]))('%s', (kind, crd) => {
  const own = objects.filter((object) => object['kind'] === kind)
  const structure = KINDS.get(`${API_VERSION}/${kind}`)?.structure ?? {}
  const oracle = compiled(crd.spec.versions[0].schema.openAPIV3Schema)
  const expectedErrors = (object: unknown): object[] => {
    const errors = oracle(object) ? [] : (oracle.errors ?? [])
    return errors.map(({ instancePath, keyword, params }) => ({ instancePath, keyword, params }))
  }

  it('has the errors that ajv finds in fixtures and samples', () => {
    expect(own.length).toBeGreaterThan(20)
    for (const object of own) expect(structureErrors(structure, object)).toEqual(expectedErrors(object))
  })

  it('has the errors that ajv finds in what is wrong in random places', () => {
    const change = recordOf({ at: nat(), how: nat({ max: 2 }), what: constantFrom(...WRONG) })
    const sameErrors = property(
      constantFrom(...own),
      array(change, { minLength: 1, maxLength: 3 }),
      (object, changes) => {
        const wrong = changes.reduce<unknown>(spoiled, object)
        expect(structureErrors(structure, wrong)).toEqual(expectedErrors(wrong))
      },
    )
    assert(sameErrors, { numRuns: runs(2000) })
  })
})
