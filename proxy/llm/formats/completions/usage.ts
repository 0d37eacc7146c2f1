// Token counts for clients of chat completions.
import type { Usage } from '../../canonical/answer.ts'
import type { JsonObject } from '../../json.ts'

export function encodeUsage(usage: Partial<Usage>): JsonObject {
  const { inputTokens = 0, outputTokens = 0, reasoningTokens } = usage
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: usage.cacheReadTokens ?? 0 },
    ...(reasoningTokens !== undefined && { completion_tokens_details: { reasoning_tokens: reasoningTokens } }),
  }
}
