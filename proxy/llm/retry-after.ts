// When a client may ask a busy provider again. Providers say it in many ways; the SDKs of clients read only
// `retry-after`.
import { retryAfterMs } from '../backend/retry-after.ts'
import type { UpstreamResponse } from '../upstream/target.ts'
import { asArray, asObject, asString, type JsonObject } from './json.ts'

const TOO_MANY_REQUESTS = 429

/**
 * The seconds of a `retry-after` that the provider did not send; undefined: it sent one, or does not say.
 * `error`: the body.
 */
export function missingRetryAfter(
  { status, headers }: Pick<UpstreamResponse, 'status' | 'headers'>,
  error?: JsonObject,
): string | undefined {
  if (status !== TOO_MANY_REQUESTS || headers.has('retry-after')) return undefined
  const waitMs = retryAfterMs(headers, Date.now()) ?? googleDelayMs(error)
  return waitMs === undefined ? undefined : String(Math.ceil(waitMs / 1000))
}

/** Google says it in the details of an error, such as `"retryDelay": "34.07s"`. */
function googleDelayMs(error: JsonObject | undefined): number | undefined {
  for (const detail of asArray(asObject(error?.['error'])['details'])) {
    const delay = /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(asString(asObject(detail)['retryDelay']) ?? '')?.[1]
    if (delay !== undefined && Number(delay) > 0) return Number(delay) * 1000
  }
  return undefined
}
