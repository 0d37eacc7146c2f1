// Canonical request to Converse request (data-plane supplement section 3.9). Model and streaming are in the path.
import type { TranslationNotes } from '../../canonical/format.ts'
import type { ChatRequest, Setting, Settings, Tool, ToolChoice } from '../../canonical/request.ts'
import { callableTools } from '../../canonical/tools.ts'
import type { JsonObject } from '../../json.ts'
import { traitsOf } from '../../traits/table.ts'
import type { ModelTraits } from '../../traits/traits.ts'
import { checkSettings, defined, isEmptyObject, unsupported } from '../fields.ts'
import { isThinking, thinkingSettings, type ThinkingSettings } from '../messages/thinking.ts'
import { checkedStopSequences, outputLimit, outputSchema, sampling } from '../model-limits.ts'
import { CachePoints } from './cache.ts'
import { encodeTurns, type EncodedTurns } from './encode-turns.ts'
import { SETTINGS } from './fields.ts'

/** Of a model whose limit is unknown: it only bounds the budget for thinking. */
const MAX_TOKENS_ASSUMED = 32_768

/** @throws {Untranslatable} */
export function encodeRequest(request: ChatRequest, notes: TranslationNotes): JsonObject {
  checkSettings(request, SETTINGS, notes)
  const traits = traitsOf(request.model)
  const points = new CachePoints(traits, notes)
  const tools = isNone(request) ? [] : encodeTools(callableTools(request), points)
  const turns = encodeTurns(request, { points, notes })
  const thoughts = thinkingOf(request, { traits, turns }, notes)
  const config = toolConfig(request, tools, turns)
  return defined({
    messages: turns.messages,
    system: turns.system.length > 0 ? turns.system : undefined,
    inferenceConfig: unlessEmpty(inferenceConfig(request, { traits, thoughts }, notes)),
    toolConfig: config,
    additionalModelRequestFields: unlessEmpty(
      additionalFields(request, { traits, thoughts, hasTools: config !== undefined }),
    ),
    outputConfig: unlessEmpty(outputConfig(request, { traits, thoughts })),
    serviceTier: serviceTier(request.settings.serviceTier),
  })
}

function unlessEmpty(fields: JsonObject): JsonObject | undefined {
  return isEmptyObject(fields) ? undefined : fields
}

interface Model {
  readonly traits: ModelTraits
  readonly thoughts: ThinkingSettings
}

function inferenceConfig({ settings }: ChatRequest, { traits, thoughts }: Model, notes: TranslationNotes): JsonObject {
  // Top-k is a field of the model's own API.
  const common = { ...settings, topK: undefined }
  const { temperature, topP } = sampling(common, { traits, isThinking: isThinking(thoughts) }, notes)
  return defined({
    maxTokens: outputLimit(settings, traits, notes),
    stopSequences: checkedStopSequences(settings),
    temperature,
    topP,
  })
}

/** Fields of the model's own API. @throws {Untranslatable} for models without them. */
function additionalFields(
  { settings }: ChatRequest,
  { traits, thoughts, hasTools }: Model & { readonly hasTools: boolean },
): JsonObject {
  const { topK, parallelToolCalls } = settings
  const fields: JsonObject = {}
  if (thoughts.thinking !== undefined) fields['thinking'] = thoughts.thinking
  if (topK !== undefined && traits.acceptsSampling && !isThinking(thoughts)) {
    if (traits.family === 'Claude') fields['top_k'] = topK.value
    else if (traits.family === 'Nova') fields['inferenceConfig'] = { topK: topK.value }
    else throw unsupported(topK.shown)
  }
  if (parallelToolCalls?.value === false && hasTools) {
    if (traits.family !== 'Claude') throw unsupported(parallelToolCalls.shown)
    fields['tool_choice'] = { type: 'auto', disable_parallel_tool_use: true }
  }
  return fields
}

function encodeTools(tools: readonly Tool[], points: CachePoints): readonly JsonObject[] {
  return tools.flatMap((tool) => {
    const { name, description, schema, isStrict } = tool
    const spec = defined({
      name,
      description: description === '' ? undefined : description,
      inputSchema: { json: schema ?? { type: 'object', properties: {} } },
      strict: isStrict === true ? true : undefined,
    })
    return [{ toolSpec: spec }, ...points.after(tool)]
  })
}

/** The vendor rejects calls and results in the history of a request without tools. */
const PLACEHOLDER = {
  toolSpec: {
    name: 'unavailable_tool',
    description: 'No tool is available. Do not call it.',
    inputSchema: { json: { type: 'object', properties: {} } },
  },
}

function isNone({ toolChoice }: ChatRequest): boolean {
  return toolChoice?.value.mode === 'none'
}

function toolConfig(
  { toolChoice }: ChatRequest,
  tools: readonly JsonObject[],
  { hasToolBlocks }: EncodedTurns,
): JsonObject | undefined {
  if (tools.length > 0) return defined({ tools, toolChoice: toolChoice && choiceOf(toolChoice.value) })
  return hasToolBlocks ? { tools: [PLACEHOLDER] } : undefined
}

function choiceOf(choice: ToolChoice): JsonObject {
  if (choice.mode === 'tool') return { tool: { name: choice.name } }
  return choice.mode === 'required' ? { any: {} } : { auto: {} }
}

/** Of Claude: the settings of its own API. */
function thinkingOf(
  { settings: { reasoning, maxOutputTokens }, toolChoice }: ChatRequest,
  { traits, turns }: { readonly traits: ModelTraits; readonly turns: EncodedTurns },
  notes: TranslationNotes,
): ThinkingSettings {
  if (traits.family !== 'Claude') {
    if (reasoning !== undefined && reasoning.value.effort !== 'none') {
      notes.dropped(reasoning.at, 'only Claude models have a setting for thinking')
    }
    return {}
  }
  const mode = toolChoice?.value.mode
  const context = {
    traits,
    limit: maxOutputTokens?.value ?? traits.maxOutputTokens ?? MAX_TOKENS_ASSUMED,
    isCallForced: mode === 'required' || mode === 'tool',
    answersCallWithoutThoughts: turns.answersCallWithoutThoughts,
  }
  return thinkingSettings(reasoning, context, notes)
}

function outputConfig({ settings: { output } }: ChatRequest, { traits, thoughts }: Model): JsonObject {
  const textFormat = output === undefined ? undefined : encodedSchema(output, traits)
  return defined({ effort: thoughts.effort, textFormat })
}

/** The schema is JSON as text. */
function encodedSchema(output: NonNullable<Settings['output']>, traits: ModelTraits): JsonObject | undefined {
  const asked = outputSchema(output, traits)
  if (asked === undefined) return undefined
  const { schema, name, description } = asked
  return {
    type: 'json_schema',
    structure: { jsonSchema: defined({ schema: JSON.stringify(schema), name, description }) },
  }
}

const SERVICE_TIERS: ReadonlySet<string> = new Set(['default', 'priority', 'flex'])

function serviceTier(tier: Setting<string> | undefined): JsonObject | undefined {
  if (tier === undefined || tier.value === 'auto') return undefined
  if (SERVICE_TIERS.has(tier.value)) return { type: tier.value }
  throw unsupported(`${tier.at} other than auto, default, priority and flex`)
}
