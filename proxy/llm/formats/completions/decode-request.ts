// Chat-completions request to the canonical form.
import { isRecord } from '#api/json.ts'
import type { TranslationNotes } from '../../canonical/format.ts'
import type { ChatRequest, OutputFormat, Reasoning, Settings } from '../../canonical/request.ts'
import { asArray, asNumber, asObject, asString, type JsonObject } from '../../json.ts'
import { Untranslatable } from '../../translate/untranslatable.ts'
import { checkRequestFields, isSet, setting, unsupported } from '../fields.ts'
import { decodeMessages } from './decode-messages.ts'
import { decodeToolChoice, decodeTools } from './decode-tools.ts'
import { REQUEST_FIELDS } from './fields.ts'

/** @throws {Untranslatable} */
export function decodeRequest(body: JsonObject, notes: TranslationNotes): ChatRequest {
  checkRequestFields(body, REQUEST_FIELDS, notes)
  return {
    model: asString(body['model']) ?? '',
    isStreaming: body['stream'] === true,
    turns: decodeMessages(asArray(body['messages']), notes),
    turnsAt: 'messages',
    tools: decodeTools(asArray(body['tools']), notes),
    toolChoice: decodeToolChoice(body['tool_choice']),
    settings: settingsOf(body),
    cache: isRecord(body['cache_control']) ? body['cache_control'] : undefined,
  }
}

function settingsOf(body: JsonObject): Settings {
  const limit = asNumber(body['max_completion_tokens']) === undefined ? 'max_tokens' : 'max_completion_tokens'
  const { stop } = body
  const stops = typeof stop === 'string' ? [stop] : asArray(stop).filter((one) => typeof one === 'string')
  const user = asString(body['user']) === undefined ? 'safety_identifier' : 'user'
  return {
    maxOutputTokens: number(body, limit),
    temperature: number(body, 'temperature'),
    topP: number(body, 'top_p'),
    topK: number(body, 'top_k'),
    stopSequences: setting(stops.length === 0 ? undefined : stops, 'stop'),
    seed: number(body, 'seed'),
    frequencyPenalty: number(body, 'frequency_penalty'),
    presencePenalty: number(body, 'presence_penalty'),
    logitBias: setting(isRecord(body['logit_bias']) ? body['logit_bias'] : undefined, 'logit_bias'),
    logprobs: logprobsOf(body),
    candidates: number(body, 'n'),
    images: setting(asArray(body['modalities']).includes('image') ? true : undefined, 'modalities', 'image'),
    reasoning: reasoningOf(body),
    output: setting(outputOf(body['response_format']), 'response_format'),
    verbosity: setting(asString(body['verbosity']), 'verbosity'),
    parallelToolCalls: boolean(body, 'parallel_tool_calls'),
    serviceTier: setting(asString(body['service_tier']), 'service_tier'),
    user: setting(asString(body[user]), user),
    metadata: setting(isRecord(body['metadata']) ? body['metadata'] : undefined, 'metadata'),
  }
}

function number(body: JsonObject, name: string) {
  return setting(asNumber(body[name]), name)
}

function boolean(body: JsonObject, name: string) {
  const value = body[name]
  return setting(typeof value === 'boolean' ? value : undefined, name)
}

function logprobsOf(body: JsonObject): Settings['logprobs'] {
  const top = asNumber(body['top_logprobs']) ?? 0
  if (top > 0) return setting(top, 'top_logprobs')
  return body['logprobs'] === true ? setting(0, 'logprobs', true) : undefined
}

/** `thinking` of the messages format has precedence, then the budget. */
function reasoningOf(body: JsonObject): Settings['reasoning'] {
  const effort = asString(body['reasoning_effort'])
  const hint: Reasoning = {
    effort,
    budgetTokens: asNumber(body['thinking_budget_tokens']),
    isAdaptive: false,
    summary: undefined,
    original: undefined,
  }
  if (!isRecord(body['thinking'])) {
    const at = hint.budgetTokens === undefined ? 'reasoning_effort' : 'thinking_budget_tokens'
    return effort === undefined && hint.budgetTokens === undefined ? undefined : setting(hint, at)
  }
  const { thinking } = body
  return setting(
    {
      ...hint,
      budgetTokens: asNumber(thinking['budget_tokens']),
      isAdaptive: thinking['type'] === 'adaptive',
      original: { thinking, effort: undefined },
    },
    'thinking',
  )
}

function outputOf(format: unknown): OutputFormat | undefined {
  if (!isSet(format)) return undefined
  const { type, json_schema: named } = asObject(format)
  if (type === 'text') return { kind: 'text' }
  if (type === 'json_object') return { kind: 'json' }
  if (type !== 'json_schema') throw unsupported('response_format other than text and json_schema')
  const { schema, name, description, strict } = asObject(named)
  if (!isRecord(schema)) throw new Untranslatable('response_format.json_schema.schema is missing')
  return {
    kind: 'schema',
    schema,
    name: asString(name),
    description: asString(description),
    isStrict: typeof strict === 'boolean' ? strict : undefined,
  }
}
