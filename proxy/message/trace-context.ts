// W3C Trace Context, level 1: reads and writes the `traceparent` field. Strict: an invalid field is ignored.
import { randomFillSync } from 'node:crypto'

export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** 16 hexadecimal digits. */
  readonly parentId: string
  readonly flags: number
}

export const SAMPLED = 1

const VERSION_00 = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/
/** Later versions may have more fields after these; `ff` is not a valid version. */
const LATER = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/
const NO_TRACE = '0'.repeat(32)
const NO_SPAN = '0'.repeat(16)

export function parseTraceparent(field: string | undefined): TraceContext | undefined {
  if (field === undefined) return undefined
  const parts = field.startsWith('00') ? VERSION_00.exec(field) : LATER.exec(field)
  if (parts === null) return undefined
  const [, traceId = NO_TRACE, parentId = NO_SPAN, flags = ''] = parts
  if (traceId === NO_TRACE || parentId === NO_SPAN) return undefined
  return { traceId, parentId, flags: Number.parseInt(flags, 16) }
}

export function traceparentOf({ traceId, spanId, flags }: { traceId: string; spanId: string; flags: number }): string {
  // Only the flag of level 1 is passed on as it came (W3C Trace Context section 4.3).
  return `00-${traceId}-${spanId}-${(flags & SAMPLED) === 0 ? '00' : '01'}`
}

export function newTraceId(): string {
  return randomHex(16)
}

export function newSpanId(): string {
  return randomHex(8)
}

/** Drawn in bulk: one call of the generator serves many ids. */
const pool = Buffer.allocUnsafe(4096)
let used = pool.length

function randomHex(bytes: number): string {
  if (used + bytes > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const text = pool.toString('hex', used, used + bytes)
  used += bytes
  // An id of zeros is invalid; random zeros are next to impossible, but the rule holds.
  return /[^0]/.test(text) ? text : randomHex(bytes)
}
