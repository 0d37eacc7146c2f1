// Token counts of the formats of OpenAI: input tokens include cached ones, output tokens include reasoning.
import type { LlmTokenKinds } from '../../exchange/facts.ts'
import { asCount, asObject, type JsonObject } from '../json.ts'
import { reportedUsage, type UsageReport } from '../usage.ts'

/** Completions and embeddings name prompt and completion, responses and images input and output. */
export function readUsage(usage: JsonObject): UsageReport {
  const inputDetails = usage['prompt_tokens_details'] ?? usage['input_tokens_details']
  const outputDetails = usage['completion_tokens_details'] ?? usage['output_tokens_details']
  const input = asObject(inputDetails)
  const output = asObject(outputDetails)
  return {
    input: asCount(usage['prompt_tokens'] ?? usage['input_tokens']),
    isCacheApart: false,
    cacheRead: asCount(input['cached_tokens']),
    cacheWrite: asCount(input['cache_write_tokens']),
    output: asCount(usage['completion_tokens'] ?? usage['output_tokens']),
    reasoning: asCount(output['reasoning_tokens']),
    total: asCount(usage['total_tokens']),
    kinds: inputDetails === undefined && outputDetails === undefined ? undefined : kindsIn(input, output),
  }
}

function kindsIn(input: JsonObject, output: JsonObject): LlmTokenKinds {
  return {
    inputText: asCount(input['text_tokens']),
    inputImage: asCount(input['image_tokens']),
    inputAudio: asCount(input['audio_tokens']),
    outputText: asCount(output['text_tokens']),
    outputImage: asCount(output['image_tokens']),
    outputAudio: asCount(output['audio_tokens']),
  }
}

/** In the canonical form. */
export function decodeUsage(usage: JsonObject): ReturnType<typeof reportedUsage> {
  return reportedUsage(readUsage(usage))
}
