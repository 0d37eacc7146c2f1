import { describe, expect, it } from 'vitest'
import { createRestartHistory } from './restart-policy.ts'

describe('createRestartHistory', () => {
  it('restarts at once five times in ten seconds, then waits longer and longer', () => {
    const history = createRestartHistory()
    const waits = Array.from({ length: 13 }, (_, i) => history.died(i * 100))
    expect(waits).toEqual([0, 0, 0, 0, 0, 500, 1000, 2000, 4000, 8000, 10_000, 10_000, 10_000])
  })

  it('forgets deaths that are long ago', () => {
    const history = createRestartHistory()
    for (let i = 0; i < 100; i++) expect(history.died(i * 2500)).toBe(0)
  })
})
