import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import type { JsonObject } from '../kube-object.ts'
import { strategicMerge } from './merge.ts'

interface Case {
  readonly name: string
  readonly kind: string
  readonly original: JsonObject
  readonly patch: JsonObject
  readonly result?: JsonObject
  readonly fails?: boolean
  /** Where the directives of overlays differ from kubectl. */
  readonly whole?: JsonObject
}

// Our own file.
const cases = parse(readFileSync(join(import.meta.dirname, 'testdata/cases.yaml'), 'utf8')) as Case[]

describe('strategicMerge', () => {
  it.each(cases.map((each) => [each.name, each] as const))(
    '%s',
    (_, { kind, original, patch, result, fails, whole }) => {
      const before = structuredClone({ original, patch })
      const ours = strategicMerge({ kind, original, patch, directives: 'kubectl' })
      expect('problems' in ours).toBe(fails === true)
      if ('value' in ours) expect(ours.value).toEqual(result)
      const overlay = strategicMerge({ kind, original, patch, directives: 'whole' })
      if (fails !== true || whole !== undefined) expect(overlay).toEqual({ value: whole ?? result })
      expect({ original, patch }).toEqual(before)
    },
  )

  it('says where a patch is wrong', () => {
    const original = { spec: { template: { spec: { containers: [{ name: 'a' }], nodeSelector: { a: 'b' } } } } }
    const patch = { spec: { template: { spec: { containers: [{ image: 'x' }], nodeSelector: { $patch: 'drop' } } } } }
    expect(strategicMerge({ kind: 'Deployment', original, patch, directives: 'whole' })).toEqual({
      problems: [
        {
          path: 'spec.template.spec.containers',
          message: 'each item needs name, which identifies it',
        },
        {
          path: 'spec.template.spec.nodeSelector.$patch',
          message: 'unknown directive; use delete, replace or merge',
        },
      ],
    })
  })

  it('refuses a directive that stands beside other fields of an item', () => {
    const original = { spec: { template: { spec: { containers: [{ name: 'a' }] } } } }
    const patch = { spec: { template: { spec: { containers: [{ $patch: 'replace', name: 'b' }] } } } }
    expect(strategicMerge({ kind: 'Deployment', original, patch, directives: 'whole' })).toEqual({
      problems: [
        {
          path: 'spec.template.spec.containers[0]',
          message: '$patch: replace applies to the whole list and must be the only field of its item',
        },
      ],
    })
  })

  it('cleans what a replacement brings', () => {
    const original = { spec: { template: { spec: { containers: [{ name: 'a' }], nodeSelector: { x: 'y' } } } } }
    const containers = [{ $patch: 'replace' }, { name: 'b', image: null }]
    const patch = { spec: { template: { spec: { containers, nodeSelector: { $patch: 'replace', a: null, b: 'c' } } } } }
    expect(strategicMerge({ kind: 'Deployment', original, patch, directives: 'whole' })).toEqual({
      value: { spec: { template: { spec: { containers: [{ name: 'b' }], nodeSelector: { b: 'c' } } } } },
    })
  })

  it('bounds the depth', () => {
    let deep: JsonObject = {}
    for (let level = 0; level < 70; level += 1) deep = { a: deep }
    const result = strategicMerge({ kind: 'Deployment', original: deep, patch: deep, directives: 'whole' })
    expect('problems' in result && result.problems[0]?.message).toBe('deeper than 64 levels')
  })

  it('takes names that JavaScript knows as any other', () => {
    const patch: JsonObject = JSON.parse('{"metadata":{"labels":{"__proto__":"a","constructor":"b"}}}')
    const original = { metadata: { labels: { toString: 'c' } } }
    const result = strategicMerge({ kind: 'toString', original, patch, directives: 'whole' })
    expect(JSON.stringify(result)).toBe(
      '{"value":{"metadata":{"labels":{"toString":"c","__proto__":"a","constructor":"b"}}}}',
    )
  })
})
