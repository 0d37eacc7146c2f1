// Counts that workers keep for the admin server. Scrapes do not have them, because their labels name clients. Data
// only.
import { counter, family } from './family.ts'

/** Clients of one worker with counts of their own: more than a page lists. */
export const CLIENTS_MAX = 300

/** Names of persons do not belong into a store of metrics. */
export const GEN_AI_CLIENT = family({
  id: 24,
  labels: ['client_kind', 'client_name'],
  // With the series of further clients.
  seriesMax: CLIENTS_MAX + 1,
  isInternal: true,
  metrics: [
    counter('requests', 'LLM requests of a client'),
    counter('input_tokens', 'Input tokens of a client'),
    counter('output_tokens', 'Output tokens of a client'),
    counter('cost', 'Cost of a client in USD'),
  ],
})

/** Global rate limits with counts; further ones are counted together, and not shown. */
const LIMITS_MAX = 2000

/** Label: `limitId`. */
export const LIMIT_CALLS = family({
  id: 25,
  labels: ['limit'],
  seriesMax: LIMITS_MAX,
  isInternal: true,
  metrics: [
    counter('allowed', 'Requests that the rate limit service allowed'),
    counter('rejected', 'Requests that the rate limit service rejected'),
    counter('failed', 'Requests about which the rate limit service gave no decision'),
  ],
})

/** States of one worker. */
export const LIMIT_STATES_MAX = 300

/** What a rate limit service reported last about one value of a descriptor. */
export const LIMIT_STATE = family({
  id: 26,
  labels: ['limit', 'descriptor', 'entries'],
  seriesMax: LIMIT_STATES_MAX,
  isInternal: true,
  isLatest: true,
  metrics: [
    counter('at', 'Time of the report in ms since 1970'),
    counter('capacity', 'Requests or tokens in an interval'),
    counter('unit', 'Unit of time, as in the protocol'),
    counter('remaining', 'Requests or tokens that are left'),
    counter('resets_at', 'End of the interval in ms since 1970; 0: unknown'),
  ],
})
