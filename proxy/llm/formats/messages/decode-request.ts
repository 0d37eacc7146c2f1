// Messages request to the canonical form.
import { isRecord } from '#api/json.ts'
import type { TranslationNotes } from '../../canonical/format.ts'
import type { ChatRequest, OutputFormat, Reasoning, Settings, Tool, ToolChoice } from '../../canonical/request.ts'
import { asArray, asNumber, asObject, asString, type JsonObject } from '../../json.ts'
import { Untranslatable } from '../../translate/untranslatable.ts'
import { checkFields, checkRequestFields, isSet, markOf, quoted, setting, unsupported } from '../fields.ts'
import { decodeSystem, decodeTurns } from './decode-turns.ts'
import { REQUEST_FIELDS, TOOL_FIELDS } from './fields.ts'

/** @throws {Untranslatable} */
export function decodeRequest(body: JsonObject, notes: TranslationNotes): ChatRequest {
  checkRequestFields(body, REQUEST_FIELDS, notes)
  const { choice, isSerial } = choiceOf(body['tool_choice'])
  return {
    model: asString(body['model']) ?? '',
    isStreaming: body['stream'] === true,
    turns: [...decodeSystem(body['system'], notes), ...decodeTurns(asArray(body['messages']), notes)],
    turnsAt: 'messages',
    tools: asArray(body['tools']).map((tool, index) => decodeTool(asObject(tool), `tools[${index}]`, notes)),
    toolChoice: setting(choice, 'tool_choice'),
    settings: {
      ...settingsOf(body),
      parallelToolCalls: setting(isSerial ? false : undefined, 'tool_choice.disable_parallel_tool_use', true),
    },
    cache: markOf(body),
  }
}

function settingsOf(body: JsonObject): Settings {
  const stop = asArray(body['stop_sequences']).filter((one) => typeof one === 'string')
  const config = asObject(body['output_config'])
  const tier = asString(body['service_tier'])
  return {
    maxOutputTokens: setting(asNumber(body['max_tokens']), 'max_tokens'),
    temperature: setting(asNumber(body['temperature']), 'temperature'),
    topP: setting(asNumber(body['top_p']), 'top_p'),
    topK: setting(asNumber(body['top_k']), 'top_k'),
    stopSequences: setting(stop.length === 0 ? undefined : stop, 'stop_sequences'),
    reasoning: reasoningOf(body['thinking'], asString(config['effort'])),
    output: setting(outputOf(config['format']), 'output_config.format'),
    serviceTier: setting(tier === 'standard_only' ? 'default' : tier, 'service_tier'),
    user: setting(asString(asObject(body['metadata'])['user_id']), 'metadata.user_id'),
  }
}

function reasoningOf(thinking: unknown, effort: string | undefined): Settings['reasoning'] {
  if (!isRecord(thinking) && effort === undefined) return undefined
  const config = asObject(thinking)
  const isShown = isRecord(thinking) && config['type'] !== 'disabled' && config['display'] !== 'omitted'
  const reasoning: Reasoning = {
    effort,
    budgetTokens: asNumber(config['budget_tokens']),
    isAdaptive: config['type'] === 'adaptive',
    summary: isShown ? 'auto' : undefined,
    original: { thinking: isRecord(thinking) ? thinking : undefined, effort },
  }
  return setting(reasoning, isRecord(thinking) ? 'thinking' : 'output_config.effort')
}

function outputOf(format: unknown): OutputFormat | undefined {
  if (!isSet(format)) return undefined
  const { type, schema } = asObject(format)
  if (type !== 'json_schema') throw unsupported(`output_config.format.type ${quoted(type)}`)
  if (!isRecord(schema)) throw new Untranslatable('output_config.format.schema is missing')
  return { kind: 'schema', schema, name: undefined, description: undefined, isStrict: 'ifPossible' }
}

/** @throws {Untranslatable} for tools that only the vendor has. */
function decodeTool(tool: JsonObject, at: string, notes: TranslationNotes): Tool {
  const type = tool['type'] ?? 'custom'
  if (type !== 'custom') throw unsupported(`${at}.type ${quoted(type)}`)
  checkFields(tool, { rules: TOOL_FIELDS, path: `${at}.`, notes })
  const { input_schema: schema, strict } = tool
  return {
    at,
    name: asString(tool['name']) ?? '',
    description: asString(tool['description']),
    schema: isRecord(schema) ? schema : undefined,
    isStrict: typeof strict === 'boolean' ? strict : undefined,
    cache: markOf(tool),
  }
}

function choiceOf(value: unknown): { readonly choice: ToolChoice | undefined; readonly isSerial: boolean } {
  if (!isSet(value)) return { choice: undefined, isSerial: false }
  const { type, name, disable_parallel_tool_use: isSerial } = asObject(value)
  return { choice: decodeChoice(type, asString(name)), isSerial: isSerial === true }
}

function decodeChoice(type: unknown, name: string | undefined): ToolChoice {
  if (type === 'auto' || type === 'none') return { mode: type }
  if (type === 'any') return { mode: 'required' }
  if (type === 'tool' && name !== undefined) return { mode: 'tool', name }
  throw unsupported(`tool_choice ${quoted(type)}`)
}
