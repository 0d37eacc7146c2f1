// Token counts of responses: input tokens include cached ones, output tokens include reasoning.
import type { Usage } from '../../canonical/answer.ts'
import { asNumber, asObject, type JsonObject } from '../../json.ts'

export function decodeUsage(usage: JsonObject): { readonly [K in keyof Usage]?: number | undefined } {
  const input = asObject(usage['input_tokens_details'])
  const output = asObject(usage['output_tokens_details'])
  return {
    inputTokens: asNumber(usage['input_tokens']),
    cacheReadTokens: asNumber(input['cached_tokens']),
    cacheWriteTokens: asNumber(input['cache_write_tokens']),
    outputTokens: asNumber(usage['output_tokens']),
    reasoningTokens: asNumber(output['reasoning_tokens']),
  }
}

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
