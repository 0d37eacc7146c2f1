// The list of views of a kind is the list of what is there, whatever changed, and the noted changes lead to it.
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { notedChanges, withChanges } from '#api/incremental/list-change.ts'
import type { KubeObject } from '../translate/kube.ts'
import { StableViews } from './stable-view.ts'

function object(name: string, version: number): KubeObject {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'shop', resourceVersion: String(version) } }
}

/** Names that change between two reads of the list, each to another version or to nothing. */
const batches = fc.array(fc.array(fc.tuple(fc.nat({ max: 400 }), fc.boolean()), { maxLength: 6 }), { maxLength: 12 })

it('lists every object once, and notes what changed since the last list', () => {
  fc.assert(
    fc.property(batches, (steps) => {
      const views = new StableViews()
      const objects = new Map<string, KubeObject>()
      const set = (name: string, now: KubeObject | undefined): void => {
        views.set(name, now, false)
        if (now === undefined) objects.delete(name)
        else objects.set(name, now)
      }
      for (let index = 0; index < 300; index++) set(`s-${index}`, object(`s-${index}`, 0))
      let before = views.all()
      let version = 0
      for (const step of steps) {
        for (const [index, isGone] of step) set(`s-${index}`, isGone ? undefined : object(`s-${index}`, ++version))
        const copy = [...before]
        const now = views.all()
        expect(new Set(now)).toEqual(new Set(objects.values()))
        expect(now).toHaveLength(objects.size)
        expect(before).toEqual(copy)
        const noted = notedChanges(before, now)
        if (noted !== undefined) expect(withChanges(before, noted)).toEqual(now)
        before = now
      }
    }),
  )
})

it('notes the change of a single object', () => {
  const views = new StableViews()
  for (let index = 0; index < 3; index++) views.set(`s-${index}`, object(`s-${index}`, 0), false)
  const [before, other] = [views.all(), object('s-1', 1)]
  views.set('s-1', other, false)
  expect(notedChanges(before, views.all())).toEqual([{ at: 1, removed: [before[1]], added: [other] }])
})
