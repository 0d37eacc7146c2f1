import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { fullCollection } from '#api/full-collection.ts'
import { changed, changesBetween } from './changes.ts'

const COUNT = 5000
const listOf = (): readonly object[] => Array.from({ length: COUNT }, (_, at) => ({ at }))

async function collect(): Promise<void> {
  // What a WeakRef has returned lives until the next turn.
  await turn()
  fullCollection('regular')()
}

/** All items come in the place of others; only the later list stays. */
function replaced(): { readonly now: readonly object[]; readonly gone: WeakRef<object> } {
  const before = listOf()
  const now = changed(before, [{ at: 0, removed: before, added: listOf() }])
  expect(changesBetween(before, now)?.length).toBe(1)
  return { now, gone: new WeakRef(before[0] ?? {}) }
}

it('items that a large change removed are not kept by the list', async () => {
  const { now, gone } = replaced()
  await collect()
  expect(gone.deref()).toBe(undefined)
  expect(now).toHaveLength(COUNT)
})

it('lists whose large changes are forgotten have too little in common', async () => {
  const before = listOf()
  const now = changed(before, [{ at: 0, removed: before, added: listOf() }])
  await collect()
  expect(changesBetween(before, now)).toBe(undefined)
})

it('small changes stay known', async () => {
  const before = listOf()
  const changes = [{ at: 7, removed: before.slice(7, 8), added: [{}] }]
  const now = changed(before, changes)
  await collect()
  expect(changesBetween(before, now)).toBe(changes)
})
