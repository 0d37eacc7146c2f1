// Typed reading of JSON that somebody else wrote: nothing is trusted to have the shape its documentation gives.
import { isRecord, parseJson, parseJsonExactly } from '#api/json.ts'

export type JsonObject = Record<string, unknown>

export function asObject(value: unknown): JsonObject {
  return isRecord(value) ? value : {}
}

export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function asString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

export function asNumber(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

/** As `parseObject`; numbers are written as they came. Only for members that nobody here counts with. */
export function parseExactObject(text: string): JsonObject | undefined {
  const value = parseJsonExactly(text)
  return isRecord(value) ? value : undefined
}

/** undefined when the text is not a JSON object. */
export function parseObject(text: string): JsonObject | undefined {
  const value = parseJson(text)
  return isRecord(value) ? value : undefined
}
