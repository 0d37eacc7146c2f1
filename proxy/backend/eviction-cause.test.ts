import { expect, it } from 'vitest'
import type { EvictionCause } from '../exchange/slots.ts'
import { packedCause, unpackedCause } from './eviction-cause.ts'

const CAUSES: readonly EvictionCause[] = [
  { rule: 'failure', failures: 1, outcome: 'noResponse', status: 0 },
  { rule: 'consecutiveFailures', failures: 5, outcome: 'status', status: 503 },
  { rule: 'healthThreshold', failures: 65_535, outcome: 'grpcStatus', status: 14 },
  { rule: 'healthThreshold', failures: 0, outcome: 'grpcStatus', status: 1023 },
]

it('returns what was packed, from a word of 32 bits', () => {
  for (const cause of CAUSES) expect(unpackedCause(new Int32Array([packedCause(cause)])[0] ?? 0)).toEqual(cause)
})

it('keeps the largest numbers that fit', () => {
  const cause = { rule: 'failure', outcome: 'status', failures: 100_000, status: 4000 } as const
  expect(unpackedCause(packedCause(cause))).toEqual({ ...cause, failures: 65_535, status: 1023 })
})
