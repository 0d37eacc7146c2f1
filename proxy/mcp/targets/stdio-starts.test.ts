import { describe, expect, it } from 'vitest'
import { StdioStarts } from './stdio-starts.ts'

describe('starts of a command', () => {
  it('are delayed from the second early exit on, twice as long after each, and at most 60 s', () => {
    const starts = new StdioStarts()
    const delays: number[] = []
    for (let exits = 0; exits < 10; exits++) {
      delays.push(starts.waitMs('/a', 1000))
      starts.ended('/a', 500, 1000)
    }
    expect(delays).toEqual([0, 0, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000])
    expect(starts.waitMs('/a', 31_000)).toBe(30_000)
    expect(starts.waitMs('/b', 1000)).toBe(0)
  })

  it('are not delayed after a process that ran for 10 s', () => {
    const starts = new StdioStarts()
    for (let exits = 0; exits < 5; exits++) starts.ended('/a', 0, 100)
    starts.ended('/a', 0, 10_000)
    expect(starts.waitMs('/a', 10_000)).toBe(0)
  })
})
