// Messages of Anthropic.
import type { PromptMessage } from '#api/ir/types.gen.ts'
import { isRecord } from '#api/json.ts'
import type { LlmFacts } from '../../../exchange/facts.ts'
import { sseData } from '../../../http/sse.ts'
import { asArray, asNumber, asObject, asString, type JsonObject } from '../../json.ts'
import { paramsOf } from '../../params.ts'
import { totalTokens } from '../../usage.ts'
import { type Format, messageOf } from '../format.ts'
import { encodeFailure } from './error.ts'

const VENDOR_HEADERS = ['anthropic-version', 'anthropic-beta', 'anthropic-dangerous-direct-browser-access']

export const messages: Format = {
  transport: 'Message',
  url: undefined,
  frames: 'Sse',
  idHeader: undefined,
  operation: 'chat',
  leave(headers, hasExplicitLocation) {
    for (const name of VENDOR_HEADERS) headers.remove(name)
    const key = headers.get('x-api-key')
    if (key === undefined || hasExplicitLocation) return
    headers.remove('x-api-key')
    if (!headers.has('authorization')) headers.set('authorization', `Bearer ${key}`)
  },
  enrich: enrichMessages,
  params: paramsOf,
  wantsUsage: () => false,
  askForUsage() {},
  /** Counts of input tokens exclude cache reads and writes; here they include them. */
  observe(facts, answer) {
    const message = isRecord(answer['message']) ? answer['message'] : answer
    facts.responseModel = asString(message['model']) ?? facts.responseModel
    const { usage } = message
    if (!isRecord(usage)) return
    facts.cachedInputTokens = asNumber(usage['cache_read_input_tokens']) ?? facts.cachedInputTokens
    facts.cacheCreationInputTokens = asNumber(usage['cache_creation_input_tokens']) ?? facts.cacheCreationInputTokens
    // The end of a stream may only contain counts of the cache: the input is then that of the beginning.
    const input = asNumber(usage['input_tokens']) ?? facts.providerInputTokens
    if (input !== undefined) {
      facts.providerInputTokens = input
      facts.inputTokens = input + (facts.cachedInputTokens ?? 0) + (facts.cacheCreationInputTokens ?? 0)
    }
    facts.outputTokens = asNumber(usage['output_tokens']) ?? facts.outputTokens
    observeDetails(facts, usage)
    facts.totalTokens = totalTokens(facts)
  },
  recognises: ({ type }) => type === 'message' || type === 'message_start',
  hasContent: (event) => event['type'] === 'content_block_delta',
  lastEvent: /"message_stop"/,
  failure: encodeFailure,
  errorEvent: (message) => `event: error\n${sseData({ type: 'error', error: { type: 'api_error', message } })}`,
  name: 'Messages',
  path: '/messages',
}

function observeDetails(facts: LlmFacts, usage: JsonObject): void {
  const { thinking_tokens: thinking } = asObject(usage['output_tokens_details'])
  facts.reasoningTokens = asNumber(thinking) ?? facts.reasoningTokens
  facts.serviceTier = asString(usage['service_tier']) ?? facts.serviceTier
}

/** There is no system role: such texts are in the `system` field. */
function enrichMessages(
  request: JsonObject,
  prepend: readonly PromptMessage[],
  append: readonly PromptMessage[],
): void {
  const isSystem = (message: PromptMessage): boolean => message.role === 'system'
  const before = prepend.filter(isSystem).map(({ content }) => content)
  const after = append.filter(isSystem).map(({ content }) => content)
  const { system } = request
  if (before.length > 0 || after.length > 0) {
    if (Array.isArray(system)) request['system'] = [...before.map(textBlock), ...system, ...after.map(textBlock)]
    else request['system'] = [...before, ...[asString(system) ?? ''].filter((text) => text !== ''), ...after].join('\n')
  }
  request['messages'] = [
    ...prepend.filter((message) => !isSystem(message)).map(messageOf),
    ...asArray(request['messages']),
    ...append.filter((message) => !isSystem(message)).map(messageOf),
  ]
}

function textBlock(text: string): JsonObject {
  return { type: 'text', text }
}
