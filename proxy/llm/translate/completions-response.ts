// Messages response to chat-completions response: whole answers and errors. Streams are in completions-stream.ts.
import { asNumber, asObject, asString, type JsonObject } from '../json.ts'

const FINISH_REASON: ReadonlyMap<string, string> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['pause_turn', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
])

export function finishReason(stopReason: unknown): string {
  return FINISH_REASON.get(asString(stopReason) ?? '') ?? 'stop'
}

/**
 * undefined: not an answer of the messages format. `createdSeconds`: the format demands a time that the other does not
 * have.
 */
export function messagesToCompletions(message: JsonObject, createdSeconds: number): JsonObject | undefined {
  if ((message['type'] ?? 'message') !== 'message' || !Array.isArray(message['content'])) return undefined
  return {
    id: message['id'],
    object: 'chat.completion',
    created: createdSeconds,
    model: message['model'],
    choices: [
      {
        index: 0,
        message: replyOf(message['content']),
        logprobs: null,
        finish_reason: finishReason(message['stop_reason']),
      },
    ],
    usage: completionsUsage(asObject(message['usage'])),
  }
}

function replyOf(content: readonly unknown[]): JsonObject {
  const texts: string[] = []
  const reasoning: string[] = []
  const toolCalls: JsonObject[] = []
  for (const item of content) {
    const block = asObject(item)
    if (block['type'] === 'text') texts.push(asString(block['text']) ?? '')
    else if (block['type'] === 'thinking') reasoning.push(asString(block['thinking']) ?? '')
    else if (block['type'] === 'tool_use') toolCalls.push(toolCall(block))
  }
  const reply: JsonObject = { role: 'assistant', content: texts.length === 0 ? null : texts.join(''), refusal: null }
  if (reasoning.length > 0) reply['reasoning_content'] = reasoning.join('')
  if (toolCalls.length > 0) reply['tool_calls'] = toolCalls
  return reply
}

function toolCall(block: JsonObject): JsonObject {
  return {
    id: block['id'],
    type: 'function',
    function: { name: block['name'], arguments: JSON.stringify(block['input'] ?? {}) },
  }
}

/** Prompt tokens include cache reads and writes, which the messages format counts apart. */
export function completionsUsage(usage: JsonObject): JsonObject {
  const cached = asNumber(usage['cache_read_input_tokens']) ?? 0
  const prompt = (asNumber(usage['input_tokens']) ?? 0) + cached + (asNumber(usage['cache_creation_input_tokens']) ?? 0)
  const completion = asNumber(usage['output_tokens']) ?? 0
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached },
  }
}

/** undefined: the body is not an error of the messages format. */
export function messagesErrorToCompletions(body: JsonObject): JsonObject | undefined {
  const error = asObject(body['error'])
  const message = asString(error['message'])
  if (message === undefined) return undefined
  return { error: { message, type: asString(error['type']) ?? 'api_error', param: null, code: null } }
}
