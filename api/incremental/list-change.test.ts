// What is kept of the changes of a list. list-change.prop.test.ts checks the changes themselves.
import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { fullCollection } from '../full-collection.ts'
import { listChanges, notedChanges } from './list-change.ts'

const listOf = (count: number): readonly object[] => Array.from({ length: count }, (_, at) => ({ at }))

async function collect(): Promise<void> {
  // What a WeakRef has returned lives until the next turn.
  await turn()
  fullCollection('regular')()
}

/** Only the later list stays. */
function replaced(count: number): { readonly now: readonly object[]; readonly gone: WeakRef<object> } {
  const [before, now] = [listOf(count), listOf(count)]
  listChanges(before, now)
  return { now, gone: new WeakRef(before[0] ?? {}) }
}

it('items of the earlier list are not kept by a later one that has none of them', async () => {
  const { now, gone } = replaced(5000)
  await collect()
  expect(gone.deref()).toBe(undefined)
  expect(now).toHaveLength(5000)
})

it('large changes are noted while they are read, and found again after that', async () => {
  const [before, now] = [listOf(5000), listOf(5000)]
  const changes = listChanges(before, now)
  expect(notedChanges(before, now)).toBe(changes)
  expect(changes).toEqual([{ at: 0, removed: before, added: now }])
  const [shorter, longer] = [listOf(2000), listOf(2000)]
  listChanges(shorter, longer)
  await collect()
  expect(notedChanges(shorter, longer)).toBe(undefined)
  expect(listChanges(shorter, longer)).toEqual([{ at: 0, removed: shorter, added: longer }])
})

it('small changes stay noted', async () => {
  const before = listOf(5000)
  const now = before.with(7, {})
  listChanges(before, now)
  await collect()
  expect(notedChanges(before, now)).toEqual([{ at: 7, removed: [before[7]], added: [now[7]] }])
})
