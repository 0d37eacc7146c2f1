// Token counts of the messages format: input tokens exclude cache reads and writes.
import type { Usage } from '../../canonical/answer.ts'
import { asCount, asObject, type JsonObject } from '../../json.ts'
import type { UsageReport } from '../../usage.ts'

export function readUsage(usage: JsonObject): UsageReport {
  return {
    input: asCount(usage['input_tokens']),
    isCacheApart: true,
    cacheRead: asCount(usage['cache_read_input_tokens']),
    cacheWrite: asCount(usage['cache_creation_input_tokens']),
    output: asCount(usage['output_tokens']),
    reasoning: asCount(asObject(usage['output_tokens_details'])['thinking_tokens']),
    total: undefined,
    kinds: undefined,
  }
}

export function encodeUsage(usage: Partial<Usage>): JsonObject {
  const { cacheReadTokens: read, cacheWriteTokens: written, reasoningTokens: reasoning } = usage
  return {
    input_tokens: Math.max(0, (usage.inputTokens ?? 0) - (read ?? 0) - (written ?? 0)),
    cache_creation_input_tokens: written ?? 0,
    cache_read_input_tokens: read ?? 0,
    output_tokens: usage.outputTokens ?? 0,
    ...(reasoning !== undefined && { output_tokens_details: { thinking_tokens: reasoning } }),
  }
}
