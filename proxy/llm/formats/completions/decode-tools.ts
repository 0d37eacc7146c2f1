// Tools of a chat-completions request, and which of them the model may or must call.
import { isRecord } from '#api/json.ts'
import type { TranslationNotes } from '../../canonical/format.ts'
import type { Setting, Tool, ToolChoice } from '../../canonical/request.ts'
import { asArray, asObject, asString, type JsonObject } from '../../json.ts'
import { Untranslatable } from '../../translate/untranslatable.ts'
import { checkFields, isSet, markOf, quoted, setting, unsupported } from '../fields.ts'
import { FUNCTION_FIELDS } from './fields.ts'

/** @throws {Untranslatable} */
export function decodeTools(tools: readonly unknown[], notes: TranslationNotes): readonly Tool[] {
  return tools.map((tool, index) => decodeTool(asObject(tool), `tools[${index}]`, notes))
}

function decodeTool(tool: JsonObject, at: string, notes: TranslationNotes): Tool {
  const type = tool['type'] ?? 'function'
  if (type !== 'function') throw unsupported(`${at}.type ${quoted(type)}`)
  const fn = asObject(tool['function'])
  checkFields(fn, { rules: FUNCTION_FIELDS, path: `${at}.function.`, notes })
  const { parameters, strict } = fn
  return {
    at,
    name: asString(fn['name']) ?? '',
    description: asString(fn['description']),
    schema: isRecord(parameters) ? parameters : undefined,
    isStrict: typeof strict === 'boolean' ? strict : undefined,
    cache: markOf(tool) ?? markOf(fn),
  }
}

/** @throws {Untranslatable} */
export function decodeToolChoice(choice: unknown): Setting<ToolChoice> | undefined {
  if (!isSet(choice)) return undefined
  if (choice === 'auto' || choice === 'none' || choice === 'required') return setting({ mode: choice }, 'tool_choice')
  const { type, allowed_tools: allowed, function: fn } = asObject(choice)
  if (type === 'allowed_tools') return setting(allowedTools(asObject(allowed)), 'tool_choice.allowed_tools')
  const name = asString(asObject(fn)['name'])
  if (name !== undefined) return setting({ mode: 'tool', name }, 'tool_choice')
  const kind = typeof choice === 'string' ? choice : type
  throw unsupported(`tool_choice${typeof kind === 'string' ? ` ${quoted(kind)}` : ''}`)
}

function allowedTools({ mode, tools }: JsonObject): ToolChoice {
  const names = asArray(tools).map((tool) => asString(asObject(asObject(tool)['function'])['name']))
  if ((mode !== 'auto' && mode !== 'required') || names.includes(undefined)) {
    throw new Untranslatable('tool_choice.allowed_tools requires mode auto or required, and names of functions')
  }
  return { mode, allowed: new Set(names.filter((name) => name !== undefined)) }
}
