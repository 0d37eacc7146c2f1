// Reads JSON from other programs: no value is trusted to have its documented shape.

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

/** The fields of a JSON object, read only. */
export type JsonRecord = Readonly<Record<string, unknown>>

/** A JSON object: not null, not an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The fields of a JSON object; no fields for any other value. */
export function recordOf(value: unknown): JsonRecord {
  return isRecord(value) ? value : {}
}
