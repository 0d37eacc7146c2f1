// Typed reading of external JSON: no value is trusted to have its documented shape.
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

/** A number of tokens: a count of a provider that is negative or not whole must not change a sum. */
export function asCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

/** Like `parseObject`; numbers are written unchanged. Only for members that are not used as numbers here. */
export function parseExactObject(text: string): JsonObject | undefined {
  const value = parseJsonExactly(text)
  return isRecord(value) ? value : undefined
}

/** undefined when the text is not a JSON object. */
export function parseObject(text: string): JsonObject | undefined {
  const value = parseJson(text)
  return isRecord(value) ? value : undefined
}
