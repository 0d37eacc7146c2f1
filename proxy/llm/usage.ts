// Facts of an LLM call, with one meaning: inputTokens includes cache reads and writes for every provider
// (data-plane supplement section 3.5). The formats fill them.
import type { LlmFacts } from '../exchange/facts.ts'

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

export function totalTokens(facts: LlmFacts): number | undefined {
  if (facts.inputTokens === undefined && facts.outputTokens === undefined) return facts.totalTokens
  return (facts.inputTokens ?? 0) + (facts.outputTokens ?? 0)
}
