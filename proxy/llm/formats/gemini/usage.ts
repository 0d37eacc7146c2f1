// Token counts of GenerateContent: input tokens include cached ones, output tokens exclude thoughts.
import type { LlmTokenKinds } from '../../../exchange/facts.ts'
import type { Usage } from '../../canonical/answer.ts'
import { asArray, asNumber, asObject, asString, type JsonObject } from '../../json.ts'
import { defined } from '../fields.ts'

type Counts = { readonly [K in keyof Usage]: number | undefined } & { readonly totalTokens: number | undefined }

export function decodeUsage(usage: JsonObject): Counts {
  const prompt = asNumber(usage['promptTokenCount'])
  // Results of tools that the provider runs are input, but not a part of the prompt.
  const inputTokens = sum(prompt, asNumber(usage['toolUsePromptTokenCount']))
  const candidates = asNumber(usage['candidatesTokenCount'])
  const thoughts = asNumber(usage['thoughtsTokenCount'])
  const totalTokens = asNumber(usage['totalTokenCount'])
  // Some models count thoughts as output; the total shows it.
  const hasThoughts = totalTokens !== undefined && totalTokens === sum(inputTokens, candidates)
  return {
    inputTokens,
    cacheReadTokens: asNumber(usage['cachedContentTokenCount']),
    cacheWriteTokens: undefined,
    inputAudioTokens: countOf(usage['promptTokensDetails'], 'AUDIO'),
    outputTokens: hasThoughts ? candidates : sum(candidates, thoughts),
    reasoningTokens: thoughts,
    outputAudioTokens: countOf(usage['candidatesTokensDetails'], 'AUDIO'),
    totalTokens,
  }
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

/** By kind of content; undefined: the answer has no such counts. */
export function kindsOf(usage: JsonObject): LlmTokenKinds | undefined {
  const [input, output] = [usage['promptTokensDetails'], usage['candidatesTokensDetails']]
  const kinds: LlmTokenKinds = {
    inputText: countOf(input, 'TEXT'),
    inputImage: countOf(input, 'IMAGE'),
    inputAudio: countOf(input, 'AUDIO'),
    outputText: countOf(output, 'TEXT'),
    outputImage: countOf(output, 'IMAGE'),
    outputAudio: countOf(output, 'AUDIO'),
  }
  return Object.values(kinds).some((count) => count !== undefined) ? kinds : undefined
}

function countOf(details: unknown, modality: string): number | undefined {
  const detail = asArray(details).find((one) => asString(asObject(one)['modality']) === modality)
  return asNumber(asObject(detail)['tokenCount'])
}

function sum(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined && b === undefined ? undefined : (a ?? 0) + (b ?? 0)
}
