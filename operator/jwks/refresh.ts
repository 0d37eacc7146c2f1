// When a key set is due again. Pure: the caller passes all times.
import type { Refresh } from './requests.ts'

/** Resources supplement section 2.17. The 100 ms of the data-plane supplement, section 8.2, do not apply here. */
const RETRY = { firstMs: 200, maxMs: 15_000 } as const
/** Standalone files: data-plane supplement section 8.2. */
const SERVER_SAYS = { minMs: 60_000, unsaidMs: 300_000, maxMs: 24 * 3_600_000, retryMs: 15_000 } as const

/** The headers of a response that limit its validity. */
export interface Freshness {
  readonly cacheControl: string | undefined
  readonly expires: string | undefined
}

/** @param failures how many fetches have failed in a row, at least 1 */
export function retryMs(refresh: Refresh, failures: number): number {
  if (refresh === 'asServerSays') return SERVER_SAYS.retryMs
  // Above this the maximum is reached, and the power could overflow.
  const doublings = Math.min(failures - 1, 16)
  return Math.min(RETRY.maxMs, RETRY.firstMs * 2 ** doublings)
}

export function goodForMs(refresh: Refresh, { cacheControl, expires }: Freshness, nowMs: number): number {
  if (refresh !== 'asServerSays') return refresh.afterMs
  const said = maxAgeMs(cacheControl) ?? untilMs(expires, nowMs) ?? SERVER_SAYS.unsaidMs
  return Math.min(SERVER_SAYS.maxMs, Math.max(SERVER_SAYS.minMs, said))
}

/** RFC 9111 section 5.2.2. */
function maxAgeMs(cacheControl: string | undefined): number | undefined {
  const directives = (cacheControl ?? '').toLowerCase()
  if (/(?:^|[\s,])no-(?:store|cache)\b/.test(directives)) return 0
  const age = /(?:^|[\s,])max-age="?(\d{1,9})/.exec(directives)?.[1]
  return age === undefined ? undefined : Number(age) * 1000
}

/** RFC 9111 section 5.3: an invalid date counts as one in the past. */
function untilMs(expires: string | undefined, nowMs: number): number | undefined {
  if (expires === undefined) return undefined
  const atMs = Date.parse(expires)
  return Number.isNaN(atMs) ? 0 : atMs - nowMs
}
