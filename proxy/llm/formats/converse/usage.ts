// Token counts of the Converse API: input tokens exclude cache reads and writes.
import { asCount, type JsonObject } from '../../json.ts'
import { reportedUsage, type UsageReport } from '../../usage.ts'

export function readUsage(usage: JsonObject): UsageReport {
  return {
    input: asCount(usage['inputTokens']),
    isCacheApart: true,
    cacheRead: asCount(usage['cacheReadInputTokens']),
    cacheWrite: asCount(usage['cacheWriteInputTokens']),
    output: asCount(usage['outputTokens']),
    reasoning: undefined,
    total: asCount(usage['totalTokens']),
    kinds: undefined,
  }
}

/** In the canonical form. */
export function decodeUsage(usage: JsonObject): ReturnType<typeof reportedUsage> {
  return reportedUsage(readUsage(usage))
}
