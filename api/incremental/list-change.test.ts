// What is kept of the changes of a list. list-change.prop.test.ts checks the changes themselves.
import { expect, it } from 'vitest'
import { collectUntil } from '../full-collection.testing.ts'
import { listChanges, notedChanges } from './list-change.ts'

const listOf = (count: number): readonly object[] => Array.from({ length: count }, (_, at) => ({ at }))

/** Only the later list stays. */
function replaced(count: number): { readonly now: readonly object[]; readonly gone: WeakRef<object> } {
  const [before, now] = [listOf(count), listOf(count)]
  listChanges(before, now)
  return { now, gone: new WeakRef(before[0] ?? {}) }
}

it('items of the earlier list are not kept by a later one that has none of them', async () => {
  const { now, gone } = replaced(5000)
  expect(await collectUntil(() => gone.deref() === undefined)).toBe(true)
  expect(now).toHaveLength(5000)
})

it('large changes are noted while they are read, and found again after that', async () => {
  const [before, now] = [listOf(5000), listOf(5000)]
  const changes = listChanges(before, now)
  expect(notedChanges(before, now)).toBe(changes)
  expect(changes).toEqual([{ at: 0, removed: before, added: now }])
  const [shorter, longer] = [listOf(2000), listOf(2000)]
  listChanges(shorter, longer)
  expect(await collectUntil(() => notedChanges(shorter, longer) === undefined)).toBe(true)
  expect(listChanges(shorter, longer)).toEqual([{ at: 0, removed: shorter, added: longer }])
})

it('small changes stay noted', async () => {
  const before = listOf(5000)
  const now = before.with(7, {})
  listChanges(before, now)
  expect(await collectUntil(() => notedChanges(before, now) === undefined, 2)).toBe(false)
  expect(notedChanges(before, now)).toEqual([{ at: 7, removed: [before[7]], added: [now[7]] }])
})
