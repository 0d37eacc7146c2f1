import { expect, it } from 'vitest'
import { type Eviction, evictionText } from './eviction-text.ts'

const NOW_MS = Date.parse('2026-01-02T00:00:00Z')
const eviction = (parts: Partial<Eviction>, agoMs = 3000): Eviction => ({
  time: new Date(NOW_MS - agoMs).toISOString(),
  rule: 'failure',
  failures: 1,
  ...parts,
})

it.each<[string, Eviction]>([
  ['3s ago: status 503', eviction({ status: 503 })],
  ['3s ago: no response', eviction({})],
  ['3s ago: gRPC status 14', eviction({ grpcStatus: 14 })],
  ['3s ago: 5 failures in a row, status 500', eviction({ rule: 'consecutiveFailures', failures: 5, status: 500 })],
  ['3s ago: 1 failure, no response', eviction({ rule: 'consecutiveFailures' })],
  ['3s ago: health below the threshold, status 429', eviction({ rule: 'healthThreshold', status: 429 })],
])('shows the cause: %s', (text, given) => {
  expect(evictionText(given, NOW_MS)).toBe(text)
})

it.each([
  ['0s ago', -5000],
  ['0s ago', 0],
  ['119s ago', 119_000],
  ['2m ago', 120_000],
  ['119m ago', 7_199_000],
  ['2h ago', 7_200_000],
  ['47h ago', 172_799_000],
  ['2d ago', 172_800_000],
])('shows the age: %s', (text, agoMs) => {
  expect(evictionText(eviction({}, agoMs), NOW_MS)).toBe(`${text}: no response`)
})
