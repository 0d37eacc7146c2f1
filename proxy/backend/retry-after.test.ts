import { describe, expect, it } from 'vitest'
import { HeaderList } from '../message/headers.ts'
import { retryAfterMs } from './retry-after.ts'

const NOW_MS = Date.parse('2026-01-01T00:00:00Z')
const EPOCH_SECONDS = NOW_MS / 1000

const cases: readonly [string, Record<string, string>, number | undefined][] = [
  ['nothing', {}, undefined],
  ['seconds', { 'retry-after': '7' }, 7000],
  ['a date', { 'retry-after': 'Thu, 01 Jan 2026 00:01:00 GMT' }, 60_000],
  ['a date that has passed', { 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, undefined],
  ['nonsense', { 'retry-after': 'soon' }, undefined],
  ['zero', { 'retry-after': '0' }, undefined],
  ['milliseconds', { 'retry-after-ms': '1500' }, 1500],
  ['retry-after before retry-after-ms', { 'retry-after-ms': '1500', 'retry-after': '7' }, 7000],
  ['the next one when the first is nonsense', { 'retry-after': 'soon', 'retry-after-ms': '1500' }, 1500],
  ['a reset in seconds', { 'x-ratelimit-reset': '90' }, 90_000],
  ['a reset just below 30 days', { 'x-ratelimit-reset': '2591999' }, 2_591_999_000],
  ['a reset as time of day', { 'x-ratelimit-reset': String(EPOCH_SECONDS + 12) }, 12_000],
  ['a reset that has passed', { 'x-ratelimit-reset': String(EPOCH_SECONDS - 12) }, undefined],
  [
    'the smallest of the family',
    {
      'x-ratelimit-reset-requests': '1m30.5s',
      'x-ratelimit-reset-tokens': '6s',
      'x-ratelimit-reset-tokens-minute': '8',
    },
    6000,
  ],
  ['a fraction', { 'x-ratelimit-reset-requests-day': '120ms' }, 120],
]

describe('retryAfterMs', () => {
  it.each(cases)('%s', (_, headers, expected) => {
    expect(retryAfterMs(HeaderList.of(Object.entries(headers)), NOW_MS)).toBe(expected)
  })
})
