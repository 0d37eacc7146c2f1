// Canonical request to responses request. Nothing is stored: the whole history is in each request.
import type { TranslationNotes } from '../../canonical/format.ts'
import type { ChatRequest, OutputFormat, Setting, Tool, ToolChoice } from '../../canonical/request.ts'
import { callableTools } from '../../canonical/tools.ts'
import type { JsonObject } from '../../json.ts'
import { CACHE_HINT_REASON, checkSettings, defined } from '../fields.ts'
import { openAiEffort, openAiStrict, openAiUser } from '../openai-settings.ts'
import { encodeInput } from './encode-input.ts'
import { LOGPROBS, SETTINGS } from './fields.ts'

/** @throws {Untranslatable} */
export function encodeRequest(request: ChatRequest, notes: TranslationNotes): JsonObject {
  checkSettings(request, SETTINGS, notes)
  const { settings, model, isStreaming, toolChoice } = request
  const tools = callableTools(request)
  if (request.cache !== undefined) notes.dropped('cache_control', CACHE_HINT_REASON)
  return defined({
    model,
    ...encodeInput(request, notes),
    store: false,
    max_output_tokens: settings.maxOutputTokens?.value,
    temperature: settings.temperature?.value,
    top_p: settings.topP?.value,
    ...includedIn(request, notes),
    text: textOf(request, notes),
    service_tier: settings.serviceTier?.value,
    metadata: settings.metadata?.value,
    user: openAiUser(settings.user, notes),
    ...(tools.length > 0 && {
      tools: tools.map((tool) => encodeTool(tool, notes)),
      tool_choice: toolChoice === undefined ? undefined : choiceOf(toolChoice.value),
      parallel_tool_calls: settings.parallelToolCalls?.value,
    }),
    ...(isStreaming && { stream: true }),
  })
}

/** Reasoning and probabilities of tokens, and both in `include`. */
function includedIn(request: ChatRequest, notes: TranslationNotes): JsonObject {
  const reasoning = reasoningOf(request, notes)
  const { logprobs } = request.settings
  // Encrypted reasoning comes back with the next request; models without reasoning reject the request for it.
  const include = [
    ...(Object.keys(reasoning).length === 0 ? [] : ['reasoning.encrypted_content']),
    ...(logprobs === undefined ? [] : [LOGPROBS]),
  ]
  return {
    ...reasoning,
    ...(include.length > 0 && { include }),
    ...(logprobs !== undefined && logprobs.value > 0 && { top_logprobs: logprobs.value }),
  }
}

function reasoningOf({ settings: { reasoning } }: ChatRequest, notes: TranslationNotes): JsonObject {
  const effort = openAiEffort(reasoning, notes)
  const summary = reasoning?.value.summary
  if (effort === undefined && summary === undefined) return {}
  return { reasoning: defined({ effort, summary }) }
}

function textOf({ settings: { output, verbosity } }: ChatRequest, notes: TranslationNotes): JsonObject | undefined {
  if (output === undefined && verbosity === undefined) return undefined
  return defined({
    format: output === undefined ? undefined : outputFormat(output, notes),
    verbosity: verbosity?.value,
  })
}

function outputFormat({ value: format, at }: Setting<OutputFormat>, notes: TranslationNotes): JsonObject {
  if (format.kind === 'text') return { type: 'text' }
  if (format.kind === 'json') return { type: 'json_object' }
  const { schema, name, description } = format
  const strict = openAiStrict(format, at, notes)
  return defined({ type: 'json_schema', name: name ?? SCHEMA_NAME, description, strict, schema })
}

/** The format requires a name. */
const SCHEMA_NAME = 'response'

/** Unlike in other formats, tools are strict if nothing else is set. */
function encodeTool({ at, name, description, schema, isStrict, cache }: Tool, notes: TranslationNotes): JsonObject {
  if (cache !== undefined) notes.dropped(`${at}.cache_control`, CACHE_HINT_REASON)
  return defined({ type: 'function', name, description, parameters: schema ?? null, strict: isStrict ?? false })
}

function choiceOf(choice: ToolChoice): unknown {
  return choice.mode === 'tool' ? { type: 'function', name: choice.name } : choice.mode
}
