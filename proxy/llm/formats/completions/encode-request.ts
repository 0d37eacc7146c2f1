// Canonical request to chat-completions request.
import type { TranslationNotes } from '../../canonical/format.ts'
import type { ChatRequest, OutputFormat, Setting, Settings, Tool, ToolChoice } from '../../canonical/request.ts'
import { callableTools } from '../../canonical/tools.ts'
import type { JsonObject } from '../../json.ts'
import { CACHE_HINT_REASON, checkSettings, defined } from '../fields.ts'
import { openAiEffort, openAiStrict, openAiUser } from '../openai-settings.ts'
import { encodeMessages } from './encode-messages.ts'
import { SETTINGS } from './fields.ts'

/** @throws {Untranslatable} */
export function encodeRequest(request: ChatRequest, notes: TranslationNotes): JsonObject {
  checkSettings(request, SETTINGS, notes)
  const { settings, model, isStreaming, toolChoice } = request
  const tools = callableTools(request)
  if (request.cache !== undefined) notes.dropped('cache_control', CACHE_HINT_REASON)
  return defined({
    model,
    messages: encodeMessages(request, notes),
    ...sampling(settings),
    ...logprobsOf(settings),
    reasoning_effort: openAiEffort(settings.reasoning, notes),
    response_format: settings.output === undefined ? undefined : outputFormat(settings.output, notes),
    user: openAiUser(settings.user, notes),
    ...(tools.length > 0 && {
      tools: tools.map((tool) => encodeTool(tool, notes)),
      tool_choice: toolChoice === undefined ? undefined : choiceOf(toolChoice.value),
      parallel_tool_calls: settings.parallelToolCalls?.value,
    }),
    ...(isStreaming && { stream: true, stream_options: { include_usage: true } }),
  })
}

const SAME_VALUE = {
  max_completion_tokens: 'maxOutputTokens',
  temperature: 'temperature',
  top_p: 'topP',
  stop: 'stopSequences',
  seed: 'seed',
  frequency_penalty: 'frequencyPenalty',
  presence_penalty: 'presencePenalty',
  logit_bias: 'logitBias',
  verbosity: 'verbosity',
  service_tier: 'serviceTier',
} as const

function sampling(settings: Settings): JsonObject {
  return Object.fromEntries(Object.entries(SAME_VALUE).map(([field, name]) => [field, settings[name]?.value]))
}

function logprobsOf({ logprobs }: Settings): JsonObject {
  if (logprobs === undefined) return {}
  return { logprobs: true, ...(logprobs.value > 0 && { top_logprobs: logprobs.value }) }
}

function outputFormat({ value: format, at }: Setting<OutputFormat>, notes: TranslationNotes): JsonObject {
  if (format.kind === 'text') return { type: 'text' }
  if (format.kind === 'json') return { type: 'json_object' }
  const { schema, name, description } = format
  return {
    type: 'json_schema',
    json_schema: defined({ name: name ?? SCHEMA_NAME, description, strict: openAiStrict(format, at, notes), schema }),
  }
}

/** The format requires a name. */
const SCHEMA_NAME = 'response'

function encodeTool({ at, name, description, schema, isStrict, cache }: Tool, notes: TranslationNotes): JsonObject {
  if (cache !== undefined) notes.dropped(`${at}.cache_control`, CACHE_HINT_REASON)
  return { type: 'function', function: defined({ name, description, parameters: schema, strict: isStrict }) }
}

function choiceOf(choice: ToolChoice): unknown {
  return choice.mode === 'tool' ? { type: 'function', function: { name: choice.name } } : choice.mode
}
