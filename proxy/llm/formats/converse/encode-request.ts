// Canonical request to Converse request (data-plane supplement section 3.9). Model and streaming are in the path.
import type { TranslationNotes } from '../../canonical/format.ts'
import type { ChatRequest, Setting, Settings, Tool, ToolChoice } from '../../canonical/request.ts'
import { callableTools } from '../../canonical/tools.ts'
import type { JsonObject } from '../../json.ts'
import { checkSettings, defined, isEmptyObject, unsupported } from '../fields.ts'
import { budgetOf } from '../messages/thinking.ts'
import { CachePoints } from './cache.ts'
import { encodeTurns, type EncodedTurns } from './encode-turns.ts'
import { SETTINGS } from './fields.ts'
import { isClaude, isNova } from './traits.ts'

const TEMPERATURE_MAX = 1
/** Of a model whose limit is unknown: it only bounds the budget for thinking. */
const MAX_TOKENS_ASSUMED = 32_768

/** @throws {Untranslatable} */
export function encodeRequest(request: ChatRequest, notes: TranslationNotes): JsonObject {
  checkSettings(request, SETTINGS, notes)
  const points = new CachePoints(request.model, notes)
  const tools = isNone(request) ? [] : encodeTools(callableTools(request), points)
  const turns = encodeTurns(request, { points, notes })
  const thinking = thinkingOf(request, turns, notes)
  const config = toolConfig(request, tools, turns)
  return defined({
    messages: turns.messages,
    system: turns.system.length > 0 ? turns.system : undefined,
    inferenceConfig: unlessEmpty(inferenceConfig(request, thinking, notes)),
    toolConfig: config,
    additionalModelRequestFields: unlessEmpty(additionalFields(request, thinking, config !== undefined)),
    outputConfig: unlessEmpty(outputConfig(request)),
    serviceTier: serviceTier(request.settings.serviceTier),
  })
}

function unlessEmpty(fields: JsonObject): JsonObject | undefined {
  return isEmptyObject(fields) ? undefined : fields
}

function inferenceConfig(
  { settings }: ChatRequest,
  thinking: JsonObject | undefined,
  notes: TranslationNotes,
): JsonObject {
  const { maxOutputTokens, temperature, topP, stopSequences: stop } = settings
  if (stop?.value.some((text) => text.trim() === '') === true) throw unsupported(`${stop.at} with white space alone`)
  const limits = { maxTokens: maxOutputTokens?.value, stopSequences: stop?.value }
  // Sampling parameters are rejected together with thinking.
  if (isThinking(thinking)) return defined(limits)
  if (temperature !== undefined && temperature.value > TEMPERATURE_MAX) {
    notes.dropped(temperature.at, `the part over ${TEMPERATURE_MAX}, the maximum of the provider`)
  }
  const clamped = temperature === undefined ? undefined : Math.min(temperature.value, TEMPERATURE_MAX)
  return defined({ ...limits, temperature: clamped, topP: topP?.value })
}

function isThinking(thinking: JsonObject | undefined): boolean {
  return thinking !== undefined && thinking['type'] !== 'disabled'
}

/** Fields of the model's own API. @throws {Untranslatable} for models without them. */
function additionalFields(
  { model, settings }: ChatRequest,
  thinking: JsonObject | undefined,
  hasTools: boolean,
): JsonObject {
  const { topK, parallelToolCalls } = settings
  const fields: JsonObject = {}
  if (thinking !== undefined) fields['thinking'] = thinking
  if (topK !== undefined && !isThinking(thinking)) {
    if (isClaude(model)) fields['top_k'] = topK.value
    else if (isNova(model)) fields['inferenceConfig'] = { topK: topK.value }
    else throw unsupported(topK.shown)
  }
  if (parallelToolCalls?.value === false && hasTools) {
    if (!isClaude(model)) throw unsupported(parallelToolCalls.shown)
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

/** Of Claude. Thinking of a messages client has precedence; else it is a hint, dropped if the vendor rejects it. */
function thinkingOf(request: ChatRequest, turns: EncodedTurns, notes: TranslationNotes): JsonObject | undefined {
  const { reasoning, maxOutputTokens } = request.settings
  if (reasoning === undefined) return undefined
  const { original, effort } = reasoning.value
  if (isClaude(request.model) && original !== undefined) return original.thinking
  const budget = budgetOf(reasoning.value, maxOutputTokens?.value ?? MAX_TOKENS_ASSUMED)
  const obstacle = obstacleTo(request, budget, turns)
  if (obstacle === undefined) return { type: 'enabled', budget_tokens: budget }
  if (effort !== 'none') notes.dropped(reasoning.at, obstacle)
  return undefined
}

/** Why the vendor would reject thinking; undefined: it accepts it. */
function obstacleTo(
  { model, toolChoice }: ChatRequest,
  budget: number | undefined,
  { answersCallWithoutThoughts }: EncodedTurns,
): string | undefined {
  if (!isClaude(model)) return 'only Claude models have a setting for thinking'
  if (budget === undefined) return 'the limit of output tokens leaves no room'
  const mode = toolChoice?.value.mode
  if (mode !== 'required' && mode !== 'tool' && !answersCallWithoutThoughts) return undefined
  return 'thinking allows no forced call, and requires the thoughts before a call'
}

function outputConfig({ model, settings: { output, reasoning } }: ChatRequest): JsonObject {
  const effort = isClaude(model) ? reasoning?.value.original?.effort : undefined
  return defined({ effort, textFormat: output === undefined ? undefined : textFormat(output) })
}

/** The schema is JSON as text. */
function textFormat({ value, at }: NonNullable<Settings['output']>): JsonObject | undefined {
  if (value.kind === 'text') return undefined
  if (value.kind === 'json') throw unsupported(`${at} other than text and json_schema`)
  const { schema, name, description } = value
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
