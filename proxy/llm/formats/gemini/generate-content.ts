// GenerateContent of Google. The model and whether the answer is a stream are in the path, which the provider sets.
import { isRecord } from '#api/json.ts'
import { asArray, asObject, asString } from '../../json.ts'
import { totalTokens } from '../../usage.ts'
import type { SentFormat } from '../format.ts'
import { decodeUsage, kindsOf } from './usage.ts'

export const generateContent: SentFormat = {
  name: 'GenerateContent',
  frames: 'Sse',
  idHeader: undefined,
  path: ':generateContent',
  /** Each event of a stream has the usage so far. */
  askForUsage() {},
  observe(facts, answer) {
    facts.responseModel = asString(answer['modelVersion']) ?? facts.responseModel
    const { usageMetadata: usage } = answer
    if (!isRecord(usage)) return
    const counts = decodeUsage(usage)
    facts.inputTokens = counts.inputTokens ?? facts.inputTokens
    facts.cachedInputTokens = counts.cacheReadTokens ?? facts.cachedInputTokens
    facts.outputTokens = counts.outputTokens ?? facts.outputTokens
    facts.reasoningTokens = counts.reasoningTokens ?? facts.reasoningTokens
    facts.totalTokens = totalTokens(facts)
    facts.providerInputTokens = facts.inputTokens
    facts.providerTotalTokens = counts.totalTokens ?? facts.providerTotalTokens
    facts.kinds = kindsOf(usage) ?? facts.kinds
  },
  hasContent: (event) =>
    asArray(asObject(asObject(asArray(event['candidates'])[0])['content'])['parts']).some((part) => {
      const { text, functionCall } = asObject(part)
      return (asString(text) ?? '') !== '' || isRecord(functionCall)
    }),
  lastEvent: /"finishReason"|"blockReason"/,
}
