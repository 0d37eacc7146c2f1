// Token counts of GenerateContent: input tokens include cached ones, output tokens exclude thoughts.
import type { LlmTokenKinds } from '../../../exchange/facts.ts'
import type { Usage } from '../../canonical/answer.ts'
import { asArray, asCount, asObject, asString, type JsonObject } from '../../json.ts'
import { reportedUsage, type UsageReport } from '../../usage.ts'
import { defined } from '../fields.ts'

export function readUsage(usage: JsonObject): UsageReport {
  const prompt = asCount(usage['promptTokenCount'])
  // Results of tools that the provider runs are input, but not a part of the prompt.
  const input = sum(prompt, asCount(usage['toolUsePromptTokenCount']))
  const candidates = asCount(usage['candidatesTokenCount'])
  const thoughts = asCount(usage['thoughtsTokenCount'])
  const total = asCount(usage['totalTokenCount'])
  // Some models count thoughts as output; the total shows it.
  const hasThoughts = total !== undefined && total === sum(input, candidates)
  return {
    input,
    isCacheApart: false,
    cacheRead: asCount(usage['cachedContentTokenCount']),
    cacheWrite: undefined,
    output: hasThoughts ? candidates : sum(candidates, thoughts),
    reasoning: thoughts,
    total,
    kinds: kindsOf(usage['promptTokensDetails'], usage['candidatesTokensDetails']),
  }
}

/** In the canonical form. */
export function decodeUsage(usage: JsonObject): ReturnType<typeof reportedUsage> {
  return reportedUsage(readUsage(usage))
}

/** Only counts that are known. */
export function encodeUsage(usage: Partial<Usage>): JsonObject {
  const { inputTokens: input, outputTokens: output, reasoningTokens: reasoning, cacheReadTokens: cached } = usage
  return defined({
    promptTokenCount: input,
    cachedContentTokenCount: cached,
    candidatesTokenCount: output === undefined ? undefined : Math.max(0, output - (reasoning ?? 0)),
    thoughtsTokenCount: reasoning,
    totalTokenCount: sum(input, output),
    promptTokensDetails: details(input, usage.inputAudioTokens),
    candidatesTokensDetails: details(output, usage.outputAudioTokens),
  })
}

/** undefined: all is text. */
function details(count: number | undefined, audio: number | undefined): readonly JsonObject[] | undefined {
  if (count === undefined || audio === undefined || audio === 0) return undefined
  return [
    { modality: 'TEXT', tokenCount: Math.max(0, count - audio) },
    { modality: 'AUDIO', tokenCount: audio },
  ]
}

function kindsOf(input: unknown, output: unknown): LlmTokenKinds {
  return {
    inputText: countOf(input, 'TEXT'),
    inputImage: countOf(input, 'IMAGE'),
    inputAudio: countOf(input, 'AUDIO'),
    outputText: countOf(output, 'TEXT'),
    outputImage: countOf(output, 'IMAGE'),
    outputAudio: countOf(output, 'AUDIO'),
  }
}

function countOf(details: unknown, modality: string): number | undefined {
  const detail = asArray(details).find((one) => asString(asObject(one)['modality']) === modality)
  return asCount(asObject(detail)['tokenCount'])
}

function sum(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined && b === undefined ? undefined : (a ?? 0) + (b ?? 0)
}
