import { expect, it } from 'vitest'
import { collectUntil } from '#api/full-collection.testing.ts'
import { changed, changesBetween } from './changes.ts'

const COUNT = 5000
const listOf = (): readonly object[] => Array.from({ length: COUNT }, (_, at) => ({ at }))

/** All items come in the place of others; only the later list stays. */
function replaced(): { readonly now: readonly object[]; readonly gone: WeakRef<object> } {
  const before = listOf()
  const now = changed(before, [{ at: 0, removed: before, added: listOf() }])
  expect(changesBetween(before, now)?.length).toBe(1)
  return { now, gone: new WeakRef(before[0] ?? {}) }
}

it('items that a large change removed are not kept by the list', async () => {
  const { now, gone } = replaced()
  expect(await collectUntil(() => gone.deref() === undefined)).toBe(true)
  expect(now).toHaveLength(COUNT)
})

it('lists whose large changes are forgotten have too little in common', async () => {
  const before = listOf()
  const now = changed(before, [{ at: 0, removed: before, added: listOf() }])
  expect(await collectUntil(() => changesBetween(before, now) === undefined)).toBe(true)
})

it('small changes stay known', async () => {
  const before = listOf()
  const changes = [{ at: 7, removed: before.slice(7, 8), added: [{}] }]
  const now = changed(before, changes)
  expect(await collectUntil(() => changesBetween(before, now) !== changes, 2)).toBe(false)
})
