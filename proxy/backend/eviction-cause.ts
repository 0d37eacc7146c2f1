// Why an endpoint was evicted, as one word of shared memory. Does not decide about evictions: health.ts does.

import type { EvictionCause } from '../exchange/slots.ts'

const RULES: readonly EvictionCause['rule'][] = ['failure', 'consecutiveFailures', 'healthThreshold']
const OUTCOMES: readonly EvictionCause['outcome'][] = ['noResponse', 'status', 'grpcStatus']

/** Bits of a word: 16 of failures, 10 of the status, 2 of the outcome, 2 of the rule. */
const FAILURES_MAX = 0xffff
const STATUS_AT = 16
const STATUS_MAX = 0x3ff
const OUTCOME_AT = 26
const RULE_AT = 28
const TWO_BITS = 3

/** Larger numbers are kept as the largest one. */
export function packedCause({ rule, failures, outcome, status }: EvictionCause): number {
  const low = Math.min(failures, FAILURES_MAX) | (Math.min(status, STATUS_MAX) << STATUS_AT)
  return low | (OUTCOMES.indexOf(outcome) << OUTCOME_AT) | (RULES.indexOf(rule) << RULE_AT)
}

export function unpackedCause(word: number): EvictionCause {
  return {
    rule: RULES[(word >>> RULE_AT) & TWO_BITS] ?? 'failure',
    failures: word & FAILURES_MAX,
    outcome: OUTCOMES[(word >>> OUTCOME_AT) & TWO_BITS] ?? 'noResponse',
    status: (word >>> STATUS_AT) & STATUS_MAX,
  }
}
