// Reading JSON that somebody else wrote: nothing is trusted to have the shape its documentation gives.

import { parseBoundedJson, parseExactJson } from './bounded-json.ts'

/** The value of a JSON text; undefined when it is not JSON, which no JSON text yields, or exceeds `bounded-json.ts`. */
export function parseJson(text: string): unknown {
  try {
    return parseBoundedJson(text)
  } catch {
    // The caller reports what it expected, and where.
    return undefined
  }
}

/** As `parseJson`, for what is written again: see `parseExactJson`. */
export function parseJsonExactly(text: string): unknown {
  try {
    return parseExactJson(text)
  } catch {
    // The caller reports what it expected, and where.
    return undefined
  }
}

/** As `parseJson`, without limits: text of the API server, or of this program, whose size has no smaller bound. */
export function parseOwnJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The caller reports what it expected, and where.
    return undefined
  }
}

/** A JSON object: not null, not an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The fields of what may be a JSON object; none of what is not. */
export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {}
}
