// Token counts of the Converse API: input tokens exclude cache reads and writes.
import type { Usage } from '../../canonical/answer.ts'
import { asNumber, type JsonObject } from '../../json.ts'

export function decodeUsage(usage: JsonObject): { readonly [K in keyof Usage]?: number | undefined } {
  const input = asNumber(usage['inputTokens'])
  const read = asNumber(usage['cacheReadInputTokens'])
  const written = asNumber(usage['cacheWriteInputTokens'])
  return {
    inputTokens: input === undefined ? undefined : input + (read ?? 0) + (written ?? 0),
    cacheReadTokens: read,
    cacheWriteTokens: written,
    outputTokens: asNumber(usage['outputTokens']),
  }
}
