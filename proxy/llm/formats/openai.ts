// Shared parts of the OpenAI formats. Each format has its own file and replaces what differs.
import { isRecord } from '#api/json.ts'
import type { LlmFacts, LlmTokenKinds } from '../../exchange/facts.ts'
import { sseData } from '../../http/sse.ts'
import { asNumber, asObject, asString, type JsonObject } from '../json.ts'
import { paramsOf } from '../params.ts'
import { totalTokens } from '../usage.ts'
import type { Format } from './format.ts'
import { encodeFailure } from './openai-error.ts'

const VENDOR_HEADERS = ['openai-organization', 'openai-project', 'openai-beta']

export const OPENAI: Omit<Format, 'name' | 'path' | 'recognises'> = {
  transport: 'Message',
  url: undefined,
  frames: 'Sse',
  idHeader: undefined,
  operation: 'chat',
  leave(headers) {
    for (const name of VENDOR_HEADERS) headers.remove(name)
  },
  enrich: undefined,
  params: paramsOf,
  wantsUsage: () => false,
  askForUsage() {},
  observe: observeOpenAi,
  hasContent: (event) => asString(event['type'])?.endsWith('.delta') === true,
  lastEvent: undefined,
  failure: encodeFailure,
  errorEvent: (message) => sseData({ error: { message, type: 'api_error', param: null, code: null } }),
}

/** Counts of input tokens include cached ones. */
function observeOpenAi(facts: LlmFacts, answer: JsonObject): void {
  // Responses-format events carry the response inside.
  const root = isRecord(answer['response']) ? answer['response'] : answer
  facts.responseModel = asString(root['model']) ?? facts.responseModel
  facts.serviceTier = asString(root['service_tier']) ?? facts.serviceTier
  const { usage } = root
  if (!isRecord(usage)) return
  // Completions and embeddings name prompt/completion, the responses format input/output.
  facts.inputTokens = asNumber(usage['prompt_tokens'] ?? usage['input_tokens']) ?? facts.inputTokens
  facts.outputTokens = asNumber(usage['completion_tokens'] ?? usage['output_tokens']) ?? facts.outputTokens
  observeDetails(facts, usage)
  facts.totalTokens = asNumber(usage['total_tokens']) ?? totalTokens(facts)
  facts.providerInputTokens = facts.inputTokens
  facts.providerTotalTokens = asNumber(usage['total_tokens']) ?? facts.providerTotalTokens
}

function observeDetails(facts: LlmFacts, usage: JsonObject): void {
  const input = asObject(usage['prompt_tokens_details'] ?? usage['input_tokens_details'])
  const output = asObject(usage['completion_tokens_details'] ?? usage['output_tokens_details'])
  facts.cachedInputTokens = asNumber(input['cached_tokens']) ?? facts.cachedInputTokens
  facts.cacheCreationInputTokens = asNumber(input['cache_write_tokens']) ?? facts.cacheCreationInputTokens
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
