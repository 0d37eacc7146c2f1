// Deadlines fire once, not early, in any number; removed ones never.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { DeadlineWheel, Sweeper } from './deadlines.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

describe('DeadlineWheel', () => {
  it('fires each item once and within a tick of its deadline', () => {
    const wheel = new DeadlineWheel()
    const start = performance.now()
    const fired: [number, number][] = []
    for (const after of [0, 1, 9, 10, 11, 95, 1000, 60_000]) {
      wheel.add({ expired: () => fired.push([after, performance.now() - start]) }, start + after)
    }
    vi.advanceTimersByTime(70_000)
    expect(fired.map(([after]) => after)).toEqual([0, 1, 9, 10, 11, 95, 1000, 60_000])
    for (const [after, at] of fired) {
      expect(at).toBeGreaterThanOrEqual(after)
      expect(at).toBeLessThanOrEqual(after + 20)
    }
    expect(vi.getTimerCount()).toBe(0)
  })

  it('does not fire what was removed, and stops its timer', () => {
    const wheel = new DeadlineWheel()
    const item = { expired: vi.fn<() => void>() }
    const slot = wheel.add(item, performance.now() + 100)
    wheel.remove(item, slot)
    vi.advanceTimersByTime(200)
    expect(item.expired).not.toHaveBeenCalled()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('an item may add another while it fires', () => {
    const wheel = new DeadlineWheel()
    const later = { expired: vi.fn<() => void>() }
    wheel.add({ expired: () => void wheel.add(later, performance.now()) }, performance.now())
    vi.advanceTimersByTime(100)
    expect(later.expired).toHaveBeenCalledOnce()
  })
})

describe('Sweeper', () => {
  it('looks at everything once a second while there is something', () => {
    const sweeper = new Sweeper()
    const item = { sweep: vi.fn<(nowMs: number) => void>() }
    sweeper.add(item)
    vi.advanceTimersByTime(3000)
    expect(item.sweep).toHaveBeenCalledTimes(3)
    sweeper.remove(item)
    expect(vi.getTimerCount()).toBe(0)
  })
})
