// Canonical request to messages request (data-plane supplement section 3.9).
import type { TranslationNotes } from '../../canonical/format.ts'
import type { ChatRequest, OutputFormat, Setting, Tool } from '../../canonical/request.ts'
import { callableTools } from '../../canonical/tools.ts'
import { asNumber, type JsonObject } from '../../json.ts'
import { traitsOf } from '../../traits/table.ts'
import type { ModelTraits } from '../../traits/traits.ts'
import { checkSettings, defined, unsupported } from '../fields.ts'
import { checkedStopSequences, outputLimit, outputSchema, sampling } from '../model-limits.ts'
import { encodeTurns } from './encode-turns.ts'
import { SETTINGS } from './fields.ts'
import { isThinking, thinkingSettings, type ThinkingSettings } from './thinking.ts'

const MAX_TOKENS_DEFAULT = 4096
/** Room for the thoughts of models that decide how much they think, asked or not. */
const ADAPTIVE_THINKING_TOKENS = 16_384

/** @throws {Untranslatable} */
export function encodeRequest(request: ChatRequest, notes: TranslationNotes): JsonObject {
  checkSettings(request, SETTINGS, notes)
  const { settings, model, isStreaming, cache } = request
  const traits = traitsOf(model)
  const limit = outputLimit(settings, traits, notes)
  const turns = encodeTurns(request, notes)
  const tools = callableTools(request)
  const choice = tools.length === 0 ? undefined : choiceOf(request)
  const { answersCallWithoutThoughts } = turns
  const isCallForced = choice?.['type'] === 'any' || choice?.['type'] === 'tool'
  const context = { traits, limit, isCallForced, answersCallWithoutThoughts }
  const thoughts = thinkingSettings(settings.reasoning, context, notes)
  const { temperature, topP, topK } = sampling(settings, { traits, isThinking: isThinking(thoughts) }, notes)
  const user = settings.user?.value
  return defined({
    model,
    max_tokens: limit ?? defaultLimit(thoughts, traits),
    messages: turns.messages,
    system: turns.system,
    thinking: thoughts.thinking,
    temperature,
    top_p: topP,
    top_k: topK,
    stream: isStreaming ? true : undefined,
    stop_sequences: checkedStopSequences(settings),
    tools: tools.length > 0 ? tools.map(encodeTool) : undefined,
    tool_choice: choice,
    output_config: outputConfig(settings.output, thoughts, traits),
    service_tier: serviceTier(settings.serviceTier),
    cache_control: cache,
    metadata: user === undefined ? undefined : { user_id: user },
  })
}

function defaultLimit({ thinking }: ThinkingSettings, { thinking: form, maxOutputTokens }: ModelTraits): number {
  const budget = asNumber(thinking?.['budget_tokens']) ?? (form === 'Adaptive' ? ADAPTIVE_THINKING_TOKENS : 0)
  // Tokens for thinking are a part of the limit: a budget that leaves no room for the answer comes on top.
  const limit = budget < MAX_TOKENS_DEFAULT ? MAX_TOKENS_DEFAULT : MAX_TOKENS_DEFAULT + budget
  return maxOutputTokens === undefined ? limit : Math.min(limit, maxOutputTokens)
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

function outputConfig(
  output: Setting<OutputFormat> | undefined,
  { effort }: ThinkingSettings,
  traits: ModelTraits,
): JsonObject | undefined {
  const format = output === undefined ? undefined : outputFormat(output, traits)
  return effort === undefined && format === undefined ? undefined : defined({ effort, format })
}

/** Name, description and strictness of the schema are left out: the format holds answers to every schema. */
function outputFormat(output: Setting<OutputFormat>, traits: ModelTraits): JsonObject | undefined {
  const value = outputSchema(output, traits)
  if (value === undefined) return undefined
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
