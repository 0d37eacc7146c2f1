// Token usage of each wire format, brought to one meaning: inputTokens includes cache reads and writes for every
// provider (data-plane supplement section 3.5).
import type { LlmFacts, LlmTokenKinds } from '../exchange.ts'
import { isRecord } from '#api/json.ts'
import { asNumber, asObject, asString, type JsonObject } from './json.ts'
import type { WireFormat } from './provider.ts'

export function emptyFacts(provider: string): LlmFacts {
  return {
    operation: 'chat',
    isStreaming: false,
    provider,
    requestModel: undefined,
    responseModel: undefined,
    inputTokens: undefined,
    cachedInputTokens: undefined,
    cacheCreationInputTokens: undefined,
    outputTokens: undefined,
    reasoningTokens: undefined,
    totalTokens: undefined,
    providerInputTokens: undefined,
    providerTotalTokens: undefined,
    kinds: undefined,
    serviceTier: undefined,
    params: undefined,
    timeToFirstTokenMs: undefined,
  }
}

/**
 * Reads model and usage out of a whole response, or out of one event of a stream. Absent values leave `facts` alone.
 */
export function observe(facts: LlmFacts, format: WireFormat, json: JsonObject): void {
  if (format === 'Messages') observeMessages(facts, json)
  else observeOpenAi(facts, json)
}

function observeOpenAi(facts: LlmFacts, json: JsonObject): void {
  // Responses-format events carry the response inside.
  const root = isRecord(json['response']) ? json['response'] : json
  facts.responseModel = asString(root['model']) ?? facts.responseModel
  facts.serviceTier = asString(root['service_tier']) ?? facts.serviceTier
  const { usage } = root
  if (!isRecord(usage)) return
  // Completions and embeddings say prompt/completion, the responses format input/output.
  facts.inputTokens = asNumber(usage['prompt_tokens'] ?? usage['input_tokens']) ?? facts.inputTokens
  facts.outputTokens = asNumber(usage['completion_tokens'] ?? usage['output_tokens']) ?? facts.outputTokens
  observeOpenAiDetails(facts, usage)
  facts.totalTokens = asNumber(usage['total_tokens']) ?? total(facts)
  facts.providerInputTokens = facts.inputTokens
  facts.providerTotalTokens = asNumber(usage['total_tokens']) ?? facts.providerTotalTokens
}

function observeOpenAiDetails(facts: LlmFacts, usage: JsonObject): void {
  const input = asObject(usage['prompt_tokens_details'] ?? usage['input_tokens_details'])
  const output = asObject(usage['completion_tokens_details'] ?? usage['output_tokens_details'])
  facts.cachedInputTokens = asNumber(input['cached_tokens']) ?? facts.cachedInputTokens
  facts.reasoningTokens = asNumber(output['reasoning_tokens']) ?? facts.reasoningTokens
  const kinds: LlmTokenKinds = {
    inputText: asNumber(input['text_tokens']),
    inputImage: asNumber(input['image_tokens']),
    inputAudio: asNumber(input['audio_tokens']),
    outputText: asNumber(output['text_tokens']),
    outputImage: asNumber(output['image_tokens']),
    outputAudio: asNumber(output['audio_tokens']),
  }
  if (Object.values(kinds).some((count) => count !== undefined)) facts.kinds = kinds
}

function observeMessages(facts: LlmFacts, json: JsonObject): void {
  const message = isRecord(json['message']) ? json['message'] : json
  facts.responseModel = asString(message['model']) ?? facts.responseModel
  const { usage } = message
  if (!isRecord(usage)) return
  facts.cachedInputTokens = asNumber(usage['cache_read_input_tokens']) ?? facts.cachedInputTokens
  facts.cacheCreationInputTokens = asNumber(usage['cache_creation_input_tokens']) ?? facts.cacheCreationInputTokens
  facts.serviceTier = asString(usage['service_tier']) ?? facts.serviceTier
  // The end of a stream may bring counts of the cache alone: the input is that of the beginning then.
  const input = asNumber(usage['input_tokens']) ?? facts.providerInputTokens
  if (input !== undefined) {
    facts.providerInputTokens = input
    facts.inputTokens = input + (facts.cachedInputTokens ?? 0) + (facts.cacheCreationInputTokens ?? 0)
  }
  facts.outputTokens = asNumber(usage['output_tokens']) ?? facts.outputTokens
  facts.totalTokens = total(facts)
}

function total(facts: LlmFacts): number | undefined {
  if (facts.inputTokens === undefined && facts.outputTokens === undefined) return facts.totalTokens
  return (facts.inputTokens ?? 0) + (facts.outputTokens ?? 0)
}
