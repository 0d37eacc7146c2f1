import { describe, expect, it } from 'vitest'
import { goodForMs, retryMs } from './refresh.ts'

const NOW = Date.parse('2026-01-01T00:00:00Z')
const DAY_MS = 24 * 3_600_000

it.each([
  [1, 200],
  [2, 400],
  [7, 12_800],
  [8, 15_000],
  [10_000, 15_000],
])('retry %i after %i ms', (failures, waitMs) => {
  expect(retryMs({ afterMs: 1 }, failures)).toBe(waitMs)
  expect(retryMs('asServerSays', failures)).toBe(15_000)
})

describe('good for', () => {
  it.each([
    [undefined, undefined, 300_000],
    ['max-age=59', undefined, 60_000],
    ['max-age=61', undefined, 61_000],
    ['Public, Max-Age="120"', undefined, 120_000],
    ['s-maxage=600', undefined, 300_000],
    ['no-store, max-age=900', undefined, 60_000],
    ['max-age=999999999', undefined, DAY_MS],
    ['max-age=90', 'Thu, 01 Jan 2026 01:00:00 GMT', 90_000],
    [undefined, 'Thu, 01 Jan 2026 00:02:00 GMT', 120_000],
    [undefined, 'Thu, 01 Jan 2025 00:00:00 GMT', 60_000],
    [undefined, '0', 60_000],
  ])('%s, expires %s', (cacheControl, expires, waitMs) => {
    expect(goodForMs('asServerSays', { cacheControl, expires }, NOW)).toBe(waitMs)
    expect(goodForMs({ afterMs: 7 }, { cacheControl, expires }, NOW)).toBe(7)
  })
})
