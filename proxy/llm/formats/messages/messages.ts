// Messages of Anthropic.
import type { PromptMessage } from '#api/ir/types.gen.ts'
import { isRecord } from '#api/json.ts'
import { sseData } from '../../../http/sse.ts'
import { asArray, asString, type JsonObject } from '../../json.ts'
import { paramsOf } from '../../params.ts'
import { addReport } from '../../usage.ts'
import { type Format, messageOf } from '../format.ts'
import { encodeError, encodeFailure } from './error.ts'
import { readUsage } from './usage.ts'

const VENDOR_HEADERS = ['anthropic-version', 'anthropic-beta', 'anthropic-dangerous-direct-browser-access']

/** Set by SDKs and Claude Code for features in `anthropic-beta`. */
const BETA_QUERY: ReadonlySet<string> = new Set(['beta'])

export const messages: Format = {
  transport: 'Message',
  url: undefined,
  ownQuery: BETA_QUERY,
  frames: 'Sse',
  idHeader: undefined,
  operation: 'chat',
  leave(headers, credential) {
    for (const name of VENDOR_HEADERS) headers.remove(name)
    const key = headers.get('x-api-key')
    if (key === undefined || credential === 'Placed') return
    headers.remove('x-api-key')
    if (!headers.has('authorization')) headers.set('authorization', `Bearer ${key}`)
  },
  enrich: enrichMessages,
  params: paramsOf,
  wantsUsage: () => false,
  askForUsage() {},
  observe(facts, answer) {
    const message = isRecord(answer['message']) ? answer['message'] : answer
    facts.responseModel = asString(message['model']) ?? facts.responseModel
    const { usage } = message
    if (!isRecord(usage)) return
    addReport(facts, readUsage(usage))
    facts.serviceTier = asString(usage['service_tier']) ?? facts.serviceTier
  },
  recognises: ({ type }) => type === 'message' || type === 'message_start',
  hasContent: (event) => event['type'] === 'content_block_delta',
  lastEvent: /"message_stop"/,
  failure: encodeFailure,
  error: encodeError,
  errorEvent: (message) => `event: error\n${sseData({ type: 'error', error: { type: 'api_error', message } })}`,
  name: 'Messages',
  path: '/messages',
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
