// Token counts of chat completions: input tokens include cached ones, output tokens include reasoning.
import type { Usage } from '../../canonical/answer.ts'
import { asNumber, asObject, type JsonObject } from '../../json.ts'

export function decodeUsage(usage: JsonObject): { readonly [K in keyof Usage]: number | undefined } {
  const input = asObject(usage['prompt_tokens_details'])
  const output = asObject(usage['completion_tokens_details'])
  return {
    inputTokens: asNumber(usage['prompt_tokens']),
    cacheReadTokens: asNumber(input['cached_tokens']),
    cacheWriteTokens: asNumber(input['cache_write_tokens']),
    inputAudioTokens: asNumber(input['audio_tokens']),
    outputTokens: asNumber(usage['completion_tokens']),
    reasoningTokens: asNumber(output['reasoning_tokens']),
    outputAudioTokens: asNumber(output['audio_tokens']),
  }
}

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
