// Laws that strategic merge keeps for every object and patch.
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { runs } from '#test/run/runs.ts'
import { isJsonObject, type Json, type JsonObject } from '../kube-object.ts'
import { type MergeInput, strategicMerge } from './merge.ts'
import { directedCase, type PatchCase, plainCase } from './patch-cases.testing.ts'

function merged(each: PatchCase, directives: MergeInput['directives'] = 'whole'): JsonObject {
  const result = strategicMerge({ ...each, directives })
  if ('problems' in result) throw new Error(JSON.stringify(result.problems))
  return result.value
}

function holds(arbitrary: fc.Arbitrary<PatchCase>, law: (each: PatchCase) => void): void {
  const property = fc.property(arbitrary, (each) => {
    law(each)
  })
  fc.assert(property, { numRuns: runs(500) })
}

it('an empty patch changes nothing', () => {
  holds(plainCase, (each) => expect(merged({ ...each, patch: {} })).toEqual(each.original))
})

it('a patch of nothing is the patch', () => {
  holds(plainCase, (each) => expect(merged({ ...each, original: {} })).toEqual(each.patch))
})

it('the second time changes nothing', () => {
  holds(directedCase, (each) => {
    const once = merged(each)
    expect(merged({ ...each, original: once })).toEqual(once)
  })
})

it('an object patched with itself stays', () => {
  holds(plainCase, ({ kind, original }) => expect(merged({ kind, original, patch: original })).toEqual(original))
})

it('what was added and deleted again is gone', () => {
  const added = { name: 'added', image: 'x' }
  const containers = (item: JsonObject): JsonObject => ({ spec: { template: { spec: { containers: [item] } } } })
  holds(plainCase, (each) => {
    if (each.kind !== 'Deployment') return
    const before = merged({ ...each, patch: { spec: { template: { spec: { containers: [] } } } } })
    const after = merged({ ...each, original: before, patch: containers(added) })
    expect(after).not.toEqual(before)
    const patch = containers({ name: 'added', $patch: 'delete' })
    expect(merged({ kind: each.kind, original: after, patch })).toEqual(before)
  })
})

it('no directive is left', () => {
  holds(directedCase, (each) => expect(JSON.stringify(merged(each))).not.toContain('$'))
})

it('items that the patch does not name keep their order', () => {
  holds(directedCase, (each) => {
    const before = namesOf(each.original)
    const touched = new Set(namesOf(each.patch))
    const kept = before.filter((name) => !touched.has(name))
    const after = namesOf(merged(each)).filter((name) => !touched.has(name))
    expect(after).toEqual(kept.filter((name) => after.includes(name)))
  })
})

it('the arguments are left alone', () => {
  holds(directedCase, (each) => {
    const before = structuredClone(each)
    merged(each)
    expect(each).toEqual(before)
  })
})

function namesOf(object: JsonObject): Json[] {
  const items = read(object, 'spec', 'template', 'spec', 'containers')
  return Array.isArray(items) ? items.flatMap((item) => (isJsonObject(item) ? (item['name'] ?? []) : [])) : []
}

function read(value: Json, ...path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>((at, field) => (isJsonObject(at) ? at[field] : undefined), value)
}
