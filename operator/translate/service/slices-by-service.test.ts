// Slices by Service, with what is known of last time, are those that grouping anew gives.
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { EndpointSlice } from '../kube.ts'
import { slicesByService } from './slices-by-service.ts'

function slice(index: number, of: number): EndpointSlice {
  const labels = { 'kubernetes.io/service-name': `s-${of}` }
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: `e-${index}`, namespace: 'shop', ...(of > 0 && { labels }) },
  }
}

it('gives what grouping anew gives, whatever was asked before', () => {
  const edits = fc.array(fc.array(fc.tuple(fc.nat({ max: 9 }), fc.nat({ max: 3 })), { maxLength: 4 }), { maxLength: 6 })
  fc.assert(
    fc.property(edits, (steps) => {
      const take = slicesByService()
      // Service 0: none.
      const now = Array.from({ length: 10 }, (_, index) => slice(index, index % 4))
      for (const edit of [[], ...steps]) {
        for (const [at, of] of edit) now[at] = slice(at, of)
        const slices = now.slice()
        const found = take(slices)
        expect(found).toEqual(slicesByService()(slices))
        for (const list of found.values()) for (const one of list) expect(slices).toContain(one)
      }
    }),
  )
})

it('keeps the lists of the other Services', () => {
  const take = slicesByService()
  const slices = [slice(0, 1), slice(1, 2)]
  const before = take(slices)
  const after = take([slice(0, 1), ...slices.slice(1)])
  expect(after.get('shop/s-2')).toBe(before.get('shop/s-2'))
  expect(after.get('shop/s-1')).not.toBe(before.get('shop/s-1'))
})
