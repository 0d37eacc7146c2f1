// Evictions of endpoints in words, for tables and the web UI. Pure.
import type { components } from '#api/admin/types.gen.ts'

export type Eviction = components['schemas']['EndpointEviction']

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
/** A unit is used from twice its length on. */
const UNITS = [
  ['d', 24 * HOUR_MS],
  ['h', HOUR_MS],
  ['m', MINUTE_MS],
  ['s', SECOND_MS],
] as const

/** `3m ago: 5 failures in a row, status 503`. */
export function evictionText(eviction: Eviction, nowMs: number): string {
  return `${agoText(nowMs - Date.parse(eviction.time))}: ${causeText(eviction)}`
}

export function causeText({ rule, failures, status, grpcStatus }: Eviction): string {
  const outcome = grpcStatus === undefined ? statusText(status) : `gRPC status ${grpcStatus}`
  if (rule === 'failure') return outcome
  if (rule === 'healthThreshold') return `health below the threshold, ${outcome}`
  return `${failures} ${failures === 1 ? 'failure' : 'failures in a row'}, ${outcome}`
}

function statusText(status: number | undefined): string {
  return status === undefined ? 'no response' : `status ${status}`
}

function agoText(ms: number): string {
  const [unit, size] = UNITS.find(([, length]) => ms >= 2 * length) ?? ['s', SECOND_MS]
  return `${Math.max(0, Math.floor(ms / size))}${unit} ago`
}
