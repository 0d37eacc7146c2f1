// Token counts of the formats of OpenAI: input tokens include cached ones, output tokens include reasoning.
import { asNumber, asObject, type JsonObject } from '../json.ts'
import { reportedUsage, type UsageReport } from '../usage.ts'

/** Completions and embeddings name prompt and completion, responses and images input and output. */
export function readUsage(usage: JsonObject): UsageReport {
  const input = asObject(usage['prompt_tokens_details'] ?? usage['input_tokens_details'])
  const output = asObject(usage['completion_tokens_details'] ?? usage['output_tokens_details'])
  return {
    input: asNumber(usage['prompt_tokens'] ?? usage['input_tokens']),
    isCacheApart: false,
    cacheRead: asNumber(input['cached_tokens']),
    cacheWrite: asNumber(input['cache_write_tokens']),
    output: asNumber(usage['completion_tokens'] ?? usage['output_tokens']),
    reasoning: asNumber(output['reasoning_tokens']),
    total: asNumber(usage['total_tokens']),
    kinds: {
      inputText: asNumber(input['text_tokens']),
      inputImage: asNumber(input['image_tokens']),
      inputAudio: asNumber(input['audio_tokens']),
      outputText: asNumber(output['text_tokens']),
      outputImage: asNumber(output['image_tokens']),
      outputAudio: asNumber(output['audio_tokens']),
    },
  }
}

/** In the canonical form. */
export function decodeUsage(usage: JsonObject): ReturnType<typeof reportedUsage> {
  return reportedUsage(readUsage(usage))
}
