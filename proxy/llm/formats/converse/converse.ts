// The Converse API of Amazon Bedrock: a format of this provider only.
import { isRecord } from '#api/json.ts'
import { asNumber, asObject, asString } from '../../json.ts'
import { totalTokens } from '../../usage.ts'
import type { SentFormat } from '../format.ts'
import { decodeUsage } from './usage.ts'

export const converse: SentFormat = {
  name: 'Converse',
  /** After the model; streams have a path of their own (proxy/llm/providers/bedrock.ts). */
  path: '/converse',
  frames: 'AwsEventStream',
  idHeader: 'x-amzn-requestid',
  askForUsage() {},
  observe(facts, answer) {
    facts.serviceTier = asString(asObject(answer['serviceTier'])['type']) ?? facts.serviceTier
    const { usage } = answer
    if (!isRecord(usage)) return
    const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens } = decodeUsage(usage)
    facts.providerInputTokens = asNumber(usage['inputTokens']) ?? facts.providerInputTokens
    facts.inputTokens = inputTokens ?? facts.inputTokens
    facts.cachedInputTokens = cacheReadTokens ?? facts.cachedInputTokens
    facts.cacheCreationInputTokens = cacheWriteTokens ?? facts.cacheCreationInputTokens
    facts.outputTokens = outputTokens ?? facts.outputTokens
    facts.totalTokens = totalTokens(facts)
  },
  operation: 'chat',
  recognises: ({ usage, contentBlockIndex }) =>
    typeof contentBlockIndex === 'number' || asNumber(asObject(usage)['inputTokens']) !== undefined,
  hasContent: (event) => isRecord(event['delta']),
  lastEvent: undefined,
}
