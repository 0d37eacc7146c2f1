// GenerateContent request to the canonical form. The call adds `model` and `stream`, which are in the path.
import { isRecord } from '#api/json.ts'
import type { TranslationNotes } from '../../canonical/format.ts'
import type { ChatRequest, OutputFormat, Reasoning, Settings, Tool, ToolChoice } from '../../canonical/request.ts'
import { asArray, asNumber, asString, type JsonObject } from '../../json.ts'
import { checkFields, checkKnownFields, checkRequestFields, quoted, setting, unsupported } from '../fields.ts'
import { decodeContents, decodeSystem } from './decode-contents.ts'
import { jsonSchema } from './decode-schema.ts'
import { fieldsOf, listOf } from './names.ts'
import {
  CALLING_FIELDS,
  CONFIG_FIELDS,
  DECLARATION_FIELDS,
  REQUEST_FIELDS,
  THINKING_FIELDS,
  TOOL_CONFIG_FIELDS,
  TOOL_FIELDS,
} from './request-fields.ts'

/** @throws {Untranslatable} */
export function decodeRequest(request: JsonObject, notes: TranslationNotes): ChatRequest {
  const body = fieldsOf(request)
  checkRequestFields(body, REQUEST_FIELDS, notes)
  const config = fieldsOf(body['generationConfig'])
  checkKnownFields(config, { rules: CONFIG_FIELDS, path: 'generationConfig.', notes })
  return {
    model: asString(body['model']) ?? '',
    isStreaming: body['stream'] === true,
    turns: [...decodeSystem(body['systemInstruction'], notes), ...decodeContents(body['contents'], notes)],
    turnsAt: 'contents',
    tools: decodeTools(body['tools'], notes),
    toolChoice: setting(choiceOf(fieldsOf(body['toolConfig']), notes), 'toolConfig.functionCallingConfig'),
    settings: {
      ...settingsOf(config, notes),
      serviceTier: setting(serviceTierOf(body['serviceTier']), 'serviceTier'),
    },
    cache: undefined,
  }
}

const NUMBERS = {
  maxOutputTokens: 'maxOutputTokens',
  temperature: 'temperature',
  topP: 'topP',
  topK: 'topK',
  seed: 'seed',
  frequencyPenalty: 'frequencyPenalty',
  presencePenalty: 'presencePenalty',
  candidates: 'candidateCount',
} as const satisfies { readonly [N in keyof Settings]: string }

function settingsOf(config: JsonObject, notes: TranslationNotes): Settings {
  const numbers = Object.entries(NUMBERS).map(([name, field]) => [
    name,
    setting(asNumber(config[field]), `generationConfig.${field}`),
  ])
  const stop = asArray(config['stopSequences']).filter((one) => typeof one === 'string')
  return {
    // The names are those of the table, whose values are numbers.
    ...(Object.fromEntries(numbers) as { readonly [N in keyof typeof NUMBERS]: Settings[N] }),
    stopSequences: setting(stop.length === 0 ? undefined : stop, 'generationConfig.stopSequences'),
    images: imagesOf(config),
    logprobs: logprobsOf(config),
    reasoning: setting(reasoningOf(config['thinkingConfig'], notes), 'generationConfig.thinkingConfig'),
    output: outputOf(config),
  }
}

function imagesOf({ responseModalities }: JsonObject): Settings['images'] {
  const hasImages = asArray(responseModalities).some((one) => /^image$/i.test(String(one)))
  return setting(hasImages ? true : undefined, 'generationConfig.responseModalities', 'IMAGE')
}

/** The number alone asks for them, too. */
function logprobsOf(config: JsonObject): Settings['logprobs'] {
  const top = asNumber(config['logprobs']) ?? 0
  if (top > 0) return setting(top, 'generationConfig.logprobs')
  return setting(config['responseLogprobs'] === true ? 0 : undefined, 'generationConfig.responseLogprobs', true)
}

/** A budget of 0 switches thinking off; the model decides with -1 (data-plane supplement section 3.9). */
function reasoningOf(value: unknown, notes: TranslationNotes): Reasoning | undefined {
  if (!isRecord(value)) return undefined
  const config = fieldsOf(value)
  checkKnownFields(config, { rules: THINKING_FIELDS, path: 'generationConfig.thinkingConfig.', notes })
  const budget = asNumber(config['thinkingBudget'])
  const level = asString(config['thinkingLevel'])?.toLowerCase()
  const effort = level === 'thinking_level_unspecified' ? undefined : level
  return {
    effort: budget === 0 ? 'none' : effort,
    budgetTokens: budget !== undefined && budget > 0 ? budget : undefined,
    isAdaptive: budget !== undefined && budget < 0,
    summary: config['includeThoughts'] === true ? 'auto' : undefined,
    original: undefined,
  }
}

/** @throws {Untranslatable} */
function outputOf(config: JsonObject): Settings['output'] {
  const type = (asString(config['responseMimeType']) ?? 'text/plain').toLowerCase()
  const { responseJsonSchema, responseSchema } = config
  if (type === 'text/plain') return undefined
  if (type !== 'application/json') throw unsupported(`generationConfig.responseMimeType ${quoted(type)}`)
  if (isRecord(responseJsonSchema)) {
    return setting(schemaOutput(responseJsonSchema), 'generationConfig.responseJsonSchema')
  }
  if (!isRecord(responseSchema)) return setting({ kind: 'json' }, 'generationConfig.responseMimeType')
  const at = 'generationConfig.responseSchema'
  return setting(schemaOutput(jsonSchema(responseSchema, at)), at)
}

function schemaOutput(schema: JsonObject): OutputFormat {
  return { kind: 'schema', schema, name: undefined, description: undefined, isStrict: 'ifPossible' }
}

/** @throws {Untranslatable} for tools that only the vendor has. */
function decodeTools(tools: unknown, notes: TranslationNotes): readonly Tool[] {
  return listOf(tools).flatMap((one, index) => {
    const tool = fieldsOf(one)
    const path = `tools[${index}].`
    checkKnownFields(tool, { rules: TOOL_FIELDS, path, notes })
    return listOf(tool['functionDeclarations']).map((declaration, place) =>
      decodeDeclaration(fieldsOf(declaration), `${path}functionDeclarations[${place}]`, notes),
    )
  })
}

function decodeDeclaration(declaration: JsonObject, at: string, notes: TranslationNotes): Tool {
  checkFields(declaration, { rules: DECLARATION_FIELDS, path: `${at}.`, notes })
  const { parameters, parametersJsonSchema } = declaration
  const schema = isRecord(parametersJsonSchema)
    ? parametersJsonSchema
    : isRecord(parameters)
      ? jsonSchema(parameters, `${at}.parameters`)
      : undefined
  return {
    at,
    name: asString(declaration['name']) ?? '',
    description: asString(declaration['description']),
    schema,
    isStrict: undefined,
  }
}

/** `VALIDATED`: calls fit their schemas, which other vendors promise at most for the whole request. */
const MODES: ReadonlyMap<string, 'auto' | 'none' | 'required'> = new Map([
  ['MODE_UNSPECIFIED', 'auto'],
  ['AUTO', 'auto'],
  ['VALIDATED', 'auto'],
  ['ANY', 'required'],
  ['NONE', 'none'],
])

/** @throws {Untranslatable} */
function choiceOf(config: JsonObject, notes: TranslationNotes): ToolChoice | undefined {
  checkKnownFields(config, { rules: TOOL_CONFIG_FIELDS, path: 'toolConfig.', notes })
  const at = 'toolConfig.functionCallingConfig'
  if (!isRecord(config['functionCallingConfig'])) return undefined
  const calling = fieldsOf(config['functionCallingConfig'])
  checkKnownFields(calling, { rules: CALLING_FIELDS, path: `${at}.`, notes })
  const name = (asString(calling['mode']) ?? 'AUTO').toUpperCase()
  const mode = MODES.get(name)
  if (mode === undefined) throw unsupported(`${at}.mode ${quoted(name)}`)
  const allowed = asArray(calling['allowedFunctionNames']).filter((one) => typeof one === 'string')
  const [only] = allowed
  if (only === undefined || mode === 'none') return { mode }
  if (mode === 'required' && allowed.length === 1) return { mode: 'tool', name: only }
  return { mode, allowed: new Set(allowed) }
}

function serviceTierOf(value: unknown): string | undefined {
  const tier = asString(value)?.toLowerCase().replace('service_tier_', '')
  if (tier === undefined || tier === 'unspecified') return undefined
  return tier === 'standard' ? 'default' : tier
}
