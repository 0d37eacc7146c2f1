// Token counts of the Converse API: input tokens exclude cache reads and writes.
import { asNumber, type JsonObject } from '../../json.ts'
import { reportedUsage, type UsageReport } from '../../usage.ts'

export function readUsage(usage: JsonObject): UsageReport {
  return {
    input: asNumber(usage['inputTokens']),
    isCacheApart: true,
    cacheRead: asNumber(usage['cacheReadInputTokens']),
    cacheWrite: asNumber(usage['cacheWriteInputTokens']),
    output: asNumber(usage['outputTokens']),
    reasoning: undefined,
    total: asNumber(usage['totalTokens']),
    kinds: undefined,
  }
}

/** In the canonical form. */
export function decodeUsage(usage: JsonObject): ReturnType<typeof reportedUsage> {
  return reportedUsage(readUsage(usage))
}
