// The bucket: its size, its refill, what it earns.
import { expect, it } from 'vitest'
import { FloodGuard } from './flood-guard.ts'

const LIMIT = { burst: 3, perSecond: 2 }

it('lets the burst through and not one more', () => {
  const guard = new FloodGuard(LIMIT, 0)
  expect([guard.take(0), guard.take(0), guard.take(0), guard.take(0)]).toEqual([true, true, true, false])
})

it('refills with time, up to the burst', () => {
  const guard = new FloodGuard(LIMIT, 0)
  for (let i = 0; i < 3; i++) guard.take(0)
  expect([guard.take(500), guard.take(500)]).toEqual([true, false])
  expect([1, 2, 3, 4].map(() => guard.take(1_000_000))).toEqual([true, true, true, false])
})

it('earns by work, up to the burst', () => {
  const guard = new FloodGuard(LIMIT, 0)
  guard.take(0)
  for (let i = 0; i < 10; i++) guard.earn()
  expect([1, 2, 3, 4].map(() => guard.take(0))).toEqual([true, true, true, false])
})
