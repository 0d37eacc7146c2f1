// How long a backend that answers 429 asks to be left alone: the header family of data-plane supplement section 5.2.
import { parseCelDuration } from '#api/cel/values/duration.ts'
import type { HeaderList } from '../message/headers.ts'

/** An `x-ratelimit-reset` below it counts seconds, above it seconds since the epoch. */
const RELATIVE_SECONDS_MAX = 30 * 24 * 3600
const RESETS = [
  'x-ratelimit-reset-requests',
  'x-ratelimit-reset-tokens',
  'x-ratelimit-reset-requests-day',
  'x-ratelimit-reset-tokens-minute',
]

/** Milliseconds from `nowMs` (wall clock) on; undefined: the headers do not say, or name the past. */
export function retryAfterMs(headers: HeaderList, nowMs: number): number | undefined {
  const waits = [
    retryAfter(headers.get('retry-after'), nowMs),
    milliseconds(headers.get('retry-after-ms')),
    reset(headers.get('x-ratelimit-reset'), nowMs),
    smallest(RESETS.map((name) => durationOrSeconds(headers.get(name)))),
  ]
  return waits.find((wait) => wait !== undefined && wait > 0)
}

/** Seconds or a date (RFC 9110 section 10.2.3). */
function retryAfter(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined
  const seconds = decimal(text)
  if (seconds !== undefined) return seconds * 1000
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : date - nowMs
}

function milliseconds(text: string | undefined): number | undefined {
  return text === undefined ? undefined : decimal(text)
}

function reset(text: string | undefined, nowMs: number): number | undefined {
  const seconds = text === undefined ? undefined : decimal(text)
  if (seconds === undefined) return undefined
  return seconds < RELATIVE_SECONDS_MAX ? seconds * 1000 : seconds * 1000 - nowMs
}

function durationOrSeconds(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const seconds = decimal(text)
  if (seconds !== undefined) return seconds * 1000
  return parseCelDuration(text)?.toMs()
}

function smallest(waits: readonly (number | undefined)[]): number | undefined {
  const known = waits.filter((wait) => wait !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}

function decimal(text: string): number | undefined {
  return /^\d{1,15}(\.\d{1,9})?$/.test(text) ? Number(text) : undefined
}
