// Shared parts of the OpenAI formats. Each format has its own file and replaces what differs.
import { isRecord } from '#api/json.ts'
import type { LlmFacts } from '../../exchange/facts.ts'
import { sseData } from '../../http/sse.ts'
import { asString, type JsonObject } from '../json.ts'
import { paramsOf } from '../params.ts'
import { addReport } from '../usage.ts'
import type { Format } from './format.ts'
import { encodeError, encodeFailure } from './openai-error.ts'
import { readUsage } from './openai-usage.ts'

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
  error: encodeError,
  errorEvent: (message) => sseData({ error: { message, type: 'api_error', param: null, code: null } }),
}

function observeOpenAi(facts: LlmFacts, answer: JsonObject): void {
  // Responses-format events carry the response inside.
  const root = isRecord(answer['response']) ? answer['response'] : answer
  facts.responseModel = asString(root['model']) ?? facts.responseModel
  facts.serviceTier = asString(root['service_tier']) ?? facts.serviceTier
  if (isRecord(root['usage'])) addReport(facts, readUsage(root['usage']))
}
