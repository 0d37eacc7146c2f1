// Tools of a chat-completions request, and which of them the model may or must call, in the messages format.
import { isRecord } from '#api/json.ts'
import { asArray, asObject, asString, type JsonObject } from '../json.ts'
import { checkFields, FUNCTION_FIELDS } from './completions-fields.ts'
import { Untranslatable } from './untranslatable.ts'

export interface ConvertedTools {
  readonly tools: readonly JsonObject[]
  readonly choice: JsonObject | undefined
}

/** @throws {Untranslatable} */
export function convertTools(body: JsonObject): ConvertedTools {
  const all = asArray(body['tools']).map((tool, at) => convertTool(asObject(tool), `tools[${at}]`))
  const { choice, allowed } = convertChoice(body['tool_choice'])
  const tools = allowed === undefined ? all : all.filter((tool) => allowed.has(tool['name']))
  if (allowed !== undefined && tools.length < allowed.size) {
    throw new Untranslatable('tool_choice.allowed_tools names a tool that is not in tools')
  }
  if (tools.length === 0) {
    if (isForced(choice)) throw new Untranslatable('tool_choice requires a tool, but tools is empty')
    return { tools, choice: undefined }
  }
  const isSerial = body['parallel_tool_calls'] === false
  if (!isSerial || choice?.['type'] === 'none') return { tools, choice }
  return { tools, choice: { ...(choice ?? { type: 'auto' }), disable_parallel_tool_use: true } }
}

/** Whether the model must call a tool. */
export function isForced(choice: JsonObject | undefined): boolean {
  return choice?.['type'] === 'any' || choice?.['type'] === 'tool'
}

function convertTool(tool: JsonObject, path: string): JsonObject {
  if ((tool['type'] ?? 'function') !== 'function') {
    throw new Untranslatable(`${path}.type ${JSON.stringify(tool['type'])} is not supported by this provider`)
  }
  const fn = asObject(tool['function'])
  checkFields(fn, FUNCTION_FIELDS, `${path}.function.`)
  const { name, description, parameters, strict } = fn
  const mark = tool['cache_control'] ?? fn['cache_control'] ?? undefined
  return {
    name,
    ...(typeof description === 'string' && { description }),
    input_schema: isRecord(parameters) ? parameters : { type: 'object', properties: {} },
    ...(typeof strict === 'boolean' && { strict }),
    ...(mark !== undefined && { cache_control: mark }),
  }
}

interface Choice {
  readonly choice: JsonObject | undefined
  /** undefined: all of them. */
  readonly allowed?: ReadonlySet<unknown>
}

function convertChoice(choice: unknown): Choice {
  if (choice === null || choice === undefined) return { choice: undefined }
  if (choice === 'auto' || choice === 'none') return { choice: { type: choice } }
  if (choice === 'required') return { choice: { type: 'any' } }
  const { type, allowed_tools: allowed } = asObject(choice)
  if (type === 'allowed_tools') return allowedTools(asObject(allowed))
  const name = asString(asObject(asObject(choice)['function'])['name'])
  if (name === undefined)
    throw new Untranslatable(`tool_choice ${kindOf(choice, type)}is not supported by this provider`)
  return { choice: { type: 'tool', name } }
}

function allowedTools({ mode, tools }: JsonObject): Choice {
  const names = asArray(tools).map((tool) => asString(asObject(asObject(tool)['function'])['name']))
  if ((mode !== 'auto' && mode !== 'required') || names.includes(undefined)) {
    throw new Untranslatable('tool_choice.allowed_tools requires mode auto or required, and names of functions')
  }
  return { choice: { type: mode === 'auto' ? 'auto' : 'any' }, allowed: new Set(names) }
}

function kindOf(choice: unknown, type: unknown): string {
  const kind = typeof choice === 'string' ? choice : type
  return typeof kind === 'string' ? `${JSON.stringify(kind.slice(0, KIND_CHARS_MAX))} ` : ''
}

const KIND_CHARS_MAX = 64
