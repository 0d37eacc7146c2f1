// Responses request to the canonical form.
import { isRecord } from '#api/json.ts'
import type { TranslationNotes } from '../../canonical/format.ts'
import type {
  ChatRequest,
  NamespacedName,
  OutputFormat,
  Setting,
  Settings,
  Tool,
  ToolChoice,
} from '../../canonical/request.ts'
import { asArray, asNumber, asObject, asString, type JsonObject } from '../../json.ts'
import { Untranslatable } from '../../translate/untranslatable.ts'
import { checkFields, checkRequestFields, isSet, quoted, setting, unsupported } from '../fields.ts'
import { decodeInput } from './decode-input.ts'
import { LOGPROBS, NAMESPACE_FIELDS, REASONING_FIELDS, REQUEST_FIELDS, TEXT_FIELDS, TOOL_FIELDS } from './fields.ts'
import { inNamespace } from './namespaces.ts'

/** @throws {Untranslatable} */
export function decodeRequest(body: JsonObject, notes: TranslationNotes): ChatRequest {
  checkRequestFields(body, REQUEST_FIELDS, notes)
  checkFields(asObject(body['reasoning']), { rules: REASONING_FIELDS, path: 'reasoning.', notes })
  checkFields(asObject(body['text']), { rules: TEXT_FIELDS, path: 'text.', notes })
  return {
    model: asString(body['model']) ?? '',
    isStreaming: body['stream'] === true,
    turns: decodeInput(body, notes),
    turnsAt: 'input',
    ...decodeTools(body['tools'], notes),
    toolChoice: decodeChoice(body['tool_choice']),
    settings: settingsOf(body),
    cache: undefined,
  }
}

function settingsOf(body: JsonObject): Settings {
  const { format, verbosity } = asObject(body['text'])
  const user = asString(body['user']) === undefined ? 'safety_identifier' : 'user'
  const parallel = body['parallel_tool_calls']
  return {
    maxOutputTokens: setting(asNumber(body['max_output_tokens']), 'max_output_tokens'),
    temperature: setting(asNumber(body['temperature']), 'temperature'),
    topP: setting(asNumber(body['top_p']), 'top_p'),
    logprobs: logprobsOf(body),
    reasoning: decodeReasoning(asObject(body['reasoning'])),
    output: setting(outputOf(format), 'text.format'),
    verbosity: setting(asString(verbosity), 'text.verbosity'),
    parallelToolCalls: setting(typeof parallel === 'boolean' ? parallel : undefined, 'parallel_tool_calls'),
    serviceTier: setting(asString(body['service_tier']), 'service_tier'),
    user: setting(asString(body[user]), user),
    metadata: setting(isRecord(body['metadata']) ? body['metadata'] : undefined, 'metadata'),
  }
}

/** The number alone asks for them, too. */
function logprobsOf(body: JsonObject): Settings['logprobs'] {
  const top = asNumber(body['top_logprobs']) ?? 0
  if (top > 0) return setting(top, 'top_logprobs')
  return setting(asArray(body['include']).includes(LOGPROBS) ? 0 : undefined, 'include', LOGPROBS)
}

function decodeReasoning({ effort, summary, generate_summary: older }: JsonObject): Settings['reasoning'] {
  const shown = asString(summary) ?? asString(older)
  if (!isSet(effort) && shown === undefined) return undefined
  return setting(
    {
      effort: asString(effort),
      budgetTokens: undefined,
      isAdaptive: false,
      summary: shown,
      original: undefined,
    },
    'reasoning',
  )
}

function outputOf(format: unknown): OutputFormat | undefined {
  if (!isSet(format)) return undefined
  const { type, schema, name, description, strict } = asObject(format)
  if (type === 'text') return { kind: 'text' }
  if (type === 'json_object') return { kind: 'json' }
  if (type !== 'json_schema') throw unsupported(`text.format.type ${quoted(type)}`)
  if (!isRecord(schema)) throw new Untranslatable('text.format.schema is missing')
  return {
    kind: 'schema',
    schema,
    name: asString(name),
    description: asString(description),
    isStrict: typeof strict === 'boolean' ? strict : undefined,
  }
}

function decodeTools(list: unknown, notes: TranslationNotes): Pick<ChatRequest, 'tools' | 'namespaces'> {
  const namespaces = new Map<string, NamespacedName>()
  const tools = asArray(list).flatMap((item, index) => {
    const tool = asObject(item)
    const at = `tools[${index}]`
    if (tool['type'] !== 'namespace') return [decodeTool(tool, at, notes)]
    checkFields(tool, { rules: NAMESPACE_FIELDS, path: `${at}.`, notes })
    const namespace = asString(tool['name']) ?? ''
    return asArray(tool['tools']).map((one, inner) =>
      inNamespace(decodeTool(asObject(one), `${at}.tools[${inner}]`, notes), namespace, namespaces),
    )
  })
  return namespaces.size === 0 ? { tools } : { tools, namespaces }
}

/** @throws {Untranslatable} for tools that only the vendor has. */
function decodeTool(tool: JsonObject, at: string, notes: TranslationNotes): Tool {
  const { type, parameters, strict } = tool
  if (type !== 'function') throw unsupported(`${at}.type ${quoted(type)}`)
  checkFields(tool, { rules: TOOL_FIELDS, path: `${at}.`, notes })
  return {
    at,
    name: asString(tool['name']) ?? '',
    description: asString(tool['description']),
    schema: isRecord(parameters) ? parameters : undefined,
    isStrict: typeof strict === 'boolean' ? strict : undefined,
  }
}

function decodeChoice(choice: unknown): Setting<ToolChoice> | undefined {
  if (!isSet(choice)) return undefined
  if (choice === 'auto' || choice === 'none' || choice === 'required') return setting({ mode: choice }, 'tool_choice')
  const { type, name, mode, tools } = asObject(choice)
  if (type === 'function' && typeof name === 'string') return setting({ mode: 'tool', name }, 'tool_choice')
  if (type !== 'allowed_tools') throw unsupported(`tool_choice ${quoted(type ?? choice)}`)
  const names = asArray(tools).map((tool) => asString(asObject(tool)['name']))
  if ((mode !== 'auto' && mode !== 'required') || names.includes(undefined)) {
    throw new Untranslatable('tool_choice of allowed_tools requires mode auto or required, and names of functions')
  }
  return setting({ mode, allowed: new Set(names.filter((one) => one !== undefined)) }, 'tool_choice')
}
