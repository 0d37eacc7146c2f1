// Token counts for clients of responses.
import type { Usage } from '../../canonical/answer.ts'
import type { JsonObject } from '../../json.ts'

export function encodeUsage(usage: Partial<Usage>): JsonObject {
  const { inputTokens = 0, outputTokens = 0 } = usage
  return {
    input_tokens: inputTokens,
    input_tokens_details: {
      cached_tokens: usage.cacheReadTokens ?? 0,
      cache_write_tokens: usage.cacheWriteTokens ?? 0,
    },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
    total_tokens: inputTokens + outputTokens,
  }
}
