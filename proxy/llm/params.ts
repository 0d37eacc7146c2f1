// The parameters of a request, for logs, spans and expressions: read once from the JSON that is sent. Values of other
// types than the format defines are ignored.
import type { LlmParams } from '../exchange/facts.ts'
import { asNumber, asString, type JsonObject } from './json.ts'

/** undefined: nothing is set. */
export function paramsOf(body: JsonObject): LlmParams | undefined {
  const params: LlmParams = {}
  for (const name of NUMBERS) {
    const value = asNumber(body[name])
    if (value !== undefined) params[name] = value
  }
  const limit = asNumber(body['max_tokens'] ?? body['max_completion_tokens'] ?? body['max_output_tokens'])
  if (limit !== undefined) params.max_tokens = limit
  const format = asString(body['encoding_format'])
  if (format !== undefined) params.encoding_format = format
  return Object.keys(params).length === 0 ? undefined : params
}

const NUMBERS = ['temperature', 'top_p', 'frequency_penalty', 'presence_penalty', 'seed', 'dimensions'] as const
