// Chat-completions request to messages request (data-plane supplement section 3.9). Maps fields, and rejects those that
// would change the meaning of the response; completions-fields.ts has the list.
import { isRecord } from '#api/json.ts'
import { asArray, asNumber, asObject, asString, type JsonObject } from '../json.ts'
import { checkRequestFields } from './completions-fields.ts'
import { convertMessages, type ConvertedMessages } from './completions-messages.ts'
import { convertTools, isForced, type ConvertedTools } from './completions-tools.ts'
import { Untranslatable } from './untranslatable.ts'

const MAX_TOKENS_DEFAULT = 4096
const THINKING_BUDGET_MIN = 1024
const THINKING_BUDGET: ReadonlyMap<string, number> = new Map([
  ['minimal', 1024],
  ['low', 1024],
  ['medium', 2048],
  ['high', 4096],
  ['xhigh', 8192],
  ['max', 16_384],
])

/** @throws {Untranslatable} */
export function completionsToMessages(body: JsonObject): JsonObject {
  checkRequestFields(body)
  const maxTokens = asNumber(body['max_completion_tokens']) ?? asNumber(body['max_tokens']) ?? MAX_TOKENS_DEFAULT
  const converted = convertMessages(asArray(body['messages']))
  const { tools, choice } = convertTools(body)
  const thinking = thinkingOf(body, { maxTokens, converted, choice })
  const stop = typeof body['stop'] === 'string' ? [body['stop']] : asArray(body['stop'])
  const user = asString(body['user']) ?? asString(body['safety_identifier'])
  return defined({
    model: body['model'],
    max_tokens: maxTokens,
    messages: converted.messages,
    system: converted.system,
    thinking,
    // Sampling parameters are rejected together with thinking.
    ...((thinking === undefined || thinking['type'] === 'disabled') && {
      temperature: asNumber(body['temperature']),
      top_p: asNumber(body['top_p']),
      top_k: asNumber(body['top_k']),
    }),
    stream: body['stream'] === true ? true : undefined,
    stop_sequences: stop.length > 0 ? stop : undefined,
    tools: tools.length > 0 ? tools : undefined,
    tool_choice: choice,
    output_config: outputConfigOf(body['response_format']),
    service_tier: serviceTierOf(body['service_tier']),
    cache_control: body['cache_control'] ?? undefined,
    metadata: user === undefined ? undefined : { user_id: user },
  })
}

function defined(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

interface ThinkingContext {
  readonly maxTokens: number
  readonly converted: ConvertedMessages
  readonly choice: ConvertedTools['choice']
}

/** `thinking` of the messages format has precedence; effort and budget are hints, dropped if the vendor rejects it. */
function thinkingOf(body: JsonObject, { maxTokens, converted, choice }: ThinkingContext): JsonObject | undefined {
  if (isRecord(body['thinking'])) return body['thinking']
  const explicit = asNumber(body['thinking_budget_tokens'])
  const budget = explicit ?? THINKING_BUDGET.get(asString(body['reasoning_effort']) ?? '')
  if (budget === undefined || budget < THINKING_BUDGET_MIN || budget >= maxTokens) return undefined
  // Thinking allows no forced call, and requires the thoughts before a call with its result; this format has none.
  if (isForced(choice) || answersCall(converted)) return undefined
  return { type: 'enabled', budget_tokens: budget }
}

function answersCall({ messages }: ConvertedMessages): boolean {
  return messages.at(-1)?.content.some((block) => block['type'] === 'tool_result') === true
}

/** Name, description and strictness of the schema are left out: the format holds answers to every schema. */
function outputConfigOf(format: unknown): JsonObject | undefined {
  const { type, json_schema: named } = asObject(format)
  if (format === null || format === undefined || type === 'text') return undefined
  const { schema } = asObject(named)
  if (type === 'json_schema' && isRecord(schema)) return { format: { type: 'json_schema', schema } }
  throw new Untranslatable(
    type === 'json_schema'
      ? 'response_format.json_schema.schema is missing'
      : 'response_format other than text and json_schema is not supported by this provider',
  )
}

const SERVICE_TIERS: ReadonlyMap<unknown, string> = new Map([
  ['auto', 'auto'],
  ['default', 'standard_only'],
  // Capacity that was bought in advance is used with `auto`.
  ['priority', 'auto'],
])

function serviceTierOf(tier: unknown): string | undefined {
  if (tier === null || tier === undefined) return undefined
  const known = SERVICE_TIERS.get(tier)
  if (known === undefined) {
    throw new Untranslatable('service_tier other than auto, default and priority is not supported by this provider')
  }
  return known
}
