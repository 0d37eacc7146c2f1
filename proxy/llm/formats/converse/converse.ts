// The Converse API of Amazon Bedrock: a format of this provider only.
import { isRecord } from '#api/json.ts'
import { asNumber, asObject, asString } from '../../json.ts'
import { addReport } from '../../usage.ts'
import type { SentFormat } from '../format.ts'
import { readUsage } from './usage.ts'

export const converse: SentFormat = {
  name: 'Converse',
  /** After the model; streams have a path of their own (proxy/llm/providers/bedrock.ts). */
  path: '/converse',
  frames: 'AwsEventStream',
  idHeader: 'x-amzn-requestid',
  askForUsage() {},
  observe(facts, answer) {
    facts.serviceTier = asString(asObject(answer['serviceTier'])['type']) ?? facts.serviceTier
    if (isRecord(answer['usage'])) addReport(facts, readUsage(answer['usage']))
  },
  operation: 'chat',
  recognises: ({ usage, contentBlockIndex }) =>
    typeof contentBlockIndex === 'number' || asNumber(asObject(usage)['inputTokens']) !== undefined,
  hasContent: (event) => isRecord(event['delta']),
  lastEvent: undefined,
}
