// Canonical request to messages request (data-plane supplement section 3.9).
import type { TranslationNotes } from '../../canonical/format.ts'
import type { ChatRequest, OutputFormat, Setting, Tool } from '../../canonical/request.ts'
import { callableTools } from '../../canonical/tools.ts'
import { asNumber, type JsonObject } from '../../json.ts'
import { checkSettings, defined, unsupported } from '../fields.ts'
import { encodeTurns, type EncodedTurns } from './encode-turns.ts'
import { SETTINGS } from './fields.ts'
import { budgetOf } from './thinking.ts'

const MAX_TOKENS_DEFAULT = 4096
/** Other formats allow 2. */
const TEMPERATURE_MAX = 1

/** @throws {Untranslatable} */
export function encodeRequest(request: ChatRequest, notes: TranslationNotes): JsonObject {
  checkSettings(request, SETTINGS, notes)
  const { settings, model, isStreaming, cache } = request
  const limit = settings.maxOutputTokens?.value
  const turns = encodeTurns(request, notes)
  const tools = callableTools(request)
  const choice = tools.length === 0 ? undefined : choiceOf(request)
  const thinking = thinkingOf(request, { limit, turns, choice }, notes)
  const user = settings.user?.value
  return defined({
    model,
    max_tokens: limit ?? defaultLimit(thinking),
    messages: turns.messages,
    system: turns.system,
    thinking,
    // Sampling parameters are rejected together with thinking.
    ...((thinking === undefined || thinking['type'] === 'disabled') && sampling(request, notes)),
    stream: isStreaming ? true : undefined,
    stop_sequences: stopSequences(settings.stopSequences),
    tools: tools.length > 0 ? tools.map(encodeTool) : undefined,
    tool_choice: choice,
    output_config: outputConfig(request),
    service_tier: serviceTier(settings.serviceTier),
    cache_control: cache,
    metadata: user === undefined ? undefined : { user_id: user },
  })
}

/** Tokens for thinking are a part of the limit: a budget that leaves no room for the answer comes on top. */
function defaultLimit(thinking: JsonObject | undefined): number {
  const budget = asNumber(thinking?.['budget_tokens']) ?? 0
  return budget < MAX_TOKENS_DEFAULT ? MAX_TOKENS_DEFAULT : MAX_TOKENS_DEFAULT + budget
}

function sampling({ settings }: ChatRequest, notes: TranslationNotes): JsonObject {
  const { temperature, topP, topK } = settings
  if (temperature !== undefined && temperature.value > TEMPERATURE_MAX) {
    notes.dropped(temperature.at, `the part over ${TEMPERATURE_MAX}, the maximum of the provider`)
  }
  return {
    temperature: temperature === undefined ? undefined : Math.min(temperature.value, TEMPERATURE_MAX),
    top_p: topP?.value,
    top_k: topK?.value,
  }
}

function stopSequences(stop: Setting<readonly string[]> | undefined): readonly string[] | undefined {
  if (stop?.value.some((text) => text.trim() === '') === true) {
    throw unsupported(`${stop.at} with white space alone`)
  }
  return stop?.value
}

function encodeTool({ name, description, schema, isStrict, cache }: Tool): JsonObject {
  return defined({
    name,
    description,
    input_schema: schema ?? { type: 'object', properties: {} },
    strict: isStrict,
    cache_control: cache,
  })
}

function choiceOf({ toolChoice, settings }: ChatRequest): JsonObject | undefined {
  const choice = toolChoice?.value
  const encoded =
    choice === undefined
      ? undefined
      : choice.mode === 'tool'
        ? { type: 'tool', name: choice.name }
        : { type: choice.mode === 'required' ? 'any' : choice.mode }
  if (settings.parallelToolCalls?.value !== false || choice?.mode === 'none') return encoded
  return { ...(encoded ?? { type: 'auto' }), disable_parallel_tool_use: true }
}

interface ThinkingContext {
  /** Of output tokens, if the client sets one. */
  readonly limit: number | undefined
  readonly turns: EncodedTurns
  readonly choice: JsonObject | undefined
}

/** Thinking of the client in this format has precedence; else it is a hint, dropped if the vendor rejects it. */
function thinkingOf(
  { settings: { reasoning } }: ChatRequest,
  { limit, turns, choice }: ThinkingContext,
  notes: TranslationNotes,
): JsonObject | undefined {
  if (reasoning === undefined) return undefined
  const { original } = reasoning.value
  if (original !== undefined) return original.thinking
  const budget = budgetOf(reasoning.value, limit ?? Number.POSITIVE_INFINITY)
  if (budget === undefined) {
    if (reasoning.value.effort !== 'none') notes.dropped(reasoning.at, 'the limit of output tokens leaves no room')
    return undefined
  }
  const isForced = choice?.['type'] === 'any' || choice?.['type'] === 'tool'
  if (isForced || turns.answersCallWithoutThoughts) {
    notes.dropped(reasoning.at, 'thinking allows no forced call, and requires the thoughts before a call')
    return undefined
  }
  return { type: 'enabled', budget_tokens: budget }
}

function outputConfig({ settings: { output, reasoning } }: ChatRequest): JsonObject | undefined {
  const effort = reasoning?.value.original?.effort
  const format = output === undefined ? undefined : outputFormat(output)
  return effort === undefined && format === undefined ? undefined : defined({ effort, format })
}

/** Name, description and strictness of the schema are left out: the format holds answers to every schema. */
function outputFormat({ value, at }: Setting<OutputFormat>): JsonObject | undefined {
  if (value.kind === 'text') return undefined
  if (value.kind === 'json') throw unsupported(`${at} other than text and json_schema`)
  return { type: 'json_schema', schema: value.schema }
}

const SERVICE_TIERS: ReadonlyMap<string, string> = new Map([
  ['auto', 'auto'],
  ['default', 'standard_only'],
  // Capacity that was bought in advance is used with `auto`.
  ['priority', 'auto'],
])

function serviceTier(tier: Setting<string> | undefined): string | undefined {
  if (tier === undefined) return undefined
  const known = SERVICE_TIERS.get(tier.value)
  if (known !== undefined) return known
  throw unsupported(`${tier.at} other than auto, default and priority`)
}
