// Groups that are carried on are those that grouping anew gives, and whoever is not touched keeps its list.
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { KubeObject } from '../kube.ts'
import { compareByAge } from '../order.ts'
import { grouped } from './grouped.ts'

const KEYS = ['s-1', 's-2', 's-3']

function slice(name: number, of: number): KubeObject {
  const labels = { of: `s-${of}` }
  const metadata = { name: `e-${name}`, namespace: 'shop', ...(of > 0 && { labels }) }
  return { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', metadata }
}

function keyOf({ metadata }: KubeObject): string | undefined {
  return metadata.labels?.['of']
}

it('gives what grouping anew gives, whatever was entered before', () => {
  const edit = fc.tuple(fc.nat({ max: 9 }), fc.option(fc.nat({ max: 3 }), { nil: undefined }))
  fc.assert(
    fc.property(fc.array(fc.array(edit, { maxLength: 4 }), { maxLength: 6 }), (steps) => {
      const groups = grouped(keyOf)
      // 0: of none.
      const now = new Map(Array.from({ length: 10 }, (_, name) => [name, slice(name, name % 4)]))
      for (const step of [[], ...steps]) {
        for (const [name, of] of step) {
          if (of === undefined) now.delete(name)
          else now.set(name, slice(name, of))
        }
        const before = new Map(KEYS.map((key) => [key, groups.get(key)]))
        const objects = [...now.values()].sort(compareByAge)
        const touched = groups.enter(objects)
        for (const key of KEYS) {
          const expected = objects.filter((one) => keyOf(one) === key)
          expect(groups.get(key)).toEqual(expected)
          for (const [at, one] of groups.get(key).entries()) expect(one).toBe(expected[at])
          if (touched?.has(key) === false) expect(groups.get(key)).toBe(before.get(key))
        }
      }
    }),
  )
})

it('names the groups that were touched', () => {
  const groups = grouped(keyOf)
  const slices = [slice(0, 1), slice(1, 2), slice(2, 0)]
  expect([...(groups.enter(slices) ?? [])]).toEqual(['s-1', 's-2'])
  expect([...(groups.enter(slices) ?? [])]).toEqual([])
  expect([...(groups.enter([slice(0, 3), ...slices.slice(1)]) ?? [])]).toEqual(['s-1', 's-3'])
  expect([...(groups.enter(slices.slice(1)) ?? [])]).toEqual(['s-3'])
  expect(groups.get('s-3')).toEqual([])
  expect(groups.enter(Array.from({ length: 500 }, (_, name) => slice(name, 1)))).toBeUndefined()
  expect(groups.get('s-1')).toHaveLength(500)
})
