// Canonical request to GenerateContent request (data-plane supplement section 3.9). The path has the model and whether
// the answer is a stream.
import type { TranslationNotes } from '../../canonical/format.ts'
import type { ChatRequest, OutputFormat, Setting, Settings, Tool, ToolChoice } from '../../canonical/request.ts'
import { callableTools } from '../../canonical/tools.ts'
import { asObject, type JsonObject } from '../../json.ts'
import { CACHE_HINT_REASON, checkSettings, defined, unsupported } from '../fields.ts'
import { encodeContents } from './encode-contents.ts'
import { SETTINGS } from './fields.ts'
import { googleSchema, SchemaBudget } from './schema.ts'
import { thinkingConfig } from './thinking.ts'

/** @throws {Untranslatable} */
export function encodeRequest(request: ChatRequest, notes: TranslationNotes): JsonObject {
  checkSettings(request, SETTINGS, notes)
  const { settings, toolChoice, cache } = request
  if (cache !== undefined) notes.dropped('cache_control', CACHE_HINT_REASON)
  const parallel = request.settings.parallelToolCalls
  // Coding agents send it for all models that they do not know, and answer several calls as well.
  if (parallel?.value === false) notes.dropped(parallel.at, 'the model may make several calls at a time')
  const { contents, system } = encodeContents(request, notes)
  const tools = callableTools(request)
  const schemas = new SchemaBudget()
  const config = generationConfig(request, schemas, notes)
  return defined({
    contents,
    systemInstruction: system,
    ...(tools.length > 0 && {
      tools: [{ functionDeclarations: tools.map((tool) => declaration(tool, schemas, notes)) }],
      toolConfig: toolChoice === undefined ? undefined : { functionCallingConfig: callingConfig(toolChoice.value) },
    }),
    generationConfig: Object.keys(config).length === 0 ? undefined : config,
    serviceTier: serviceTier(settings.serviceTier),
  })
}

const SAME_VALUE = {
  maxOutputTokens: 'maxOutputTokens',
  temperature: 'temperature',
  topP: 'topP',
  topK: 'topK',
  stopSequences: 'stopSequences',
  seed: 'seed',
  frequencyPenalty: 'frequencyPenalty',
  presencePenalty: 'presencePenalty',
} as const satisfies { readonly [N in string]: keyof Settings }

function generationConfig(
  { settings, model }: ChatRequest,
  schemas: SchemaBudget,
  notes: TranslationNotes,
): JsonObject {
  const { reasoning, output, logprobs, images } = settings
  return defined({
    ...Object.fromEntries(Object.entries(SAME_VALUE).map(([field, name]) => [field, settings[name]?.value])),
    // The vendor has no images alone.
    responseModalities: images === undefined ? undefined : ['TEXT', 'IMAGE'],
    ...(logprobs !== undefined && {
      responseLogprobs: true,
      logprobs: logprobs.value > 0 ? logprobs.value : undefined,
    }),
    thinkingConfig: reasoning === undefined ? undefined : thinkingConfig(reasoning, model, notes),
    ...(output !== undefined && outputFields(output, schemas)),
  })
}

/** Name, description and strictness of the schema are left out: the vendor holds answers to every schema. */
function outputFields({ value, at }: Setting<OutputFormat>, schemas: SchemaBudget): JsonObject {
  if (value.kind === 'text') return {}
  const responseMimeType = 'application/json'
  return value.kind === 'json'
    ? { responseMimeType }
    : { responseMimeType, responseSchema: googleSchema(value.schema, at, schemas) }
}

function declaration(
  { at, name, description, schema, isStrict, cache }: Tool,
  schemas: SchemaBudget,
  notes: TranslationNotes,
): JsonObject {
  if (cache !== undefined) notes.dropped(`${at}.cache_control`, CACHE_HINT_REASON)
  if (isStrict === true) notes.dropped(`${at}.strict`, 'the provider does not promise arguments that fit the schema')
  const parameters = schema === undefined ? {} : googleSchema(schema, at, schemas)
  // The vendor rejects an object without properties.
  const isEmpty = Object.keys(asObject(parameters['properties'])).length === 0
  return defined({ name, description, parameters: isEmpty ? undefined : parameters })
}

const MODES = { auto: 'AUTO', none: 'NONE', required: 'ANY' } as const

/** Names only where a call is required: the vendor rejects them otherwise, and other tools are left out. */
function callingConfig(choice: ToolChoice): JsonObject {
  if (choice.mode === 'tool') return { mode: 'ANY', allowedFunctionNames: [choice.name] }
  return { mode: MODES[choice.mode] }
}

const SERVICE_TIERS: ReadonlyMap<string, string | undefined> = new Map([
  ['auto', undefined],
  ['default', 'standard'],
  ['flex', 'flex'],
  ['priority', 'priority'],
])

function serviceTier(tier: Setting<string> | undefined): string | undefined {
  if (tier === undefined || SERVICE_TIERS.has(tier.value)) return SERVICE_TIERS.get(tier?.value ?? '')
  throw unsupported(`${tier.at} other than auto, default, flex and priority`)
}
