import { describe, expect, it } from 'vitest'
import { eachOf, runAll, runInSlices, type Steps } from './steps.ts'

function* work(items: readonly number[]): Steps<number> {
  let sum = 0
  yield* eachOf(items, (item) => (sum += item))
  return sum
}

const ITEMS = Array.from({ length: 1000 }, (_, at) => at)

/** A clock that advances by a millisecond with each look. */
function slicing(pause: () => Promise<unknown>): Parameters<typeof runInSlices>[1] {
  let now = 0
  return { sliceMs: 3, nowMs: () => now++, pause }
}

describe('steps', () => {
  it('have the same result at once and in slices', async () => {
    let pauses = 0
    const sliced = await runInSlices(
      work(ITEMS),
      slicing(() => Promise.resolve(pauses++)),
    )
    expect([sliced, runAll(work(ITEMS))]).toEqual([499_500, 499_500])
    expect(pauses).toBe(2)
  })

  it('end with the error of a pause, and run no further', async () => {
    let seen = 0
    const steps = eachOf(ITEMS, () => seen++)
    await expect(
      runInSlices(
        steps,
        slicing(() => Promise.reject(new Error('newer'))),
      ),
    ).rejects.toThrow('newer')
    const before = seen
    expect(before).toBeLessThan(1000)
    await Promise.resolve()
    expect(seen).toBe(before)
  })

  it('do not pause for a few items', async () => {
    const never = slicing(() => Promise.reject(new Error('paused')))
    expect(await runInSlices(work([1, 2]), never)).toBe(3)
  })
})
