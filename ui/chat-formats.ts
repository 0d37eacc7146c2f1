// The formats in which clients talk to models: requests from messages, and messages from responses and their streams.
import { type ChatMessage, dataUrl, EMPTY_ANSWER, withCall, withText } from './chat-message.ts'

export interface ChatContent {
  readonly model: string
  readonly messages: readonly ChatMessage[]
  /** As in chat completions; empty: none. */
  readonly tools: readonly unknown[]
  readonly isStream: boolean
}

export interface ChatFormat {
  readonly name: string
  readonly path: string
  readonly headers: readonly (readonly [string, string])[]
  bodyOf(content: ChatContent): object
  /** Of a response without a stream. */
  messageOf(response: unknown): ChatMessage
  /** The message after an event of a stream. */
  next(message: ChatMessage, event: unknown): ChatMessage
}

type Fields = Readonly<Record<string, unknown>>

const ANSWER_TOKENS_MAX = 4096

const completions: ChatFormat = {
  name: 'Chat completions',
  path: '/v1/chat/completions',
  headers: [],
  bodyOf: ({ model, messages, tools, isStream }) => ({
    model,
    messages: messages.map(completionsMessage),
    stream: isStream,
    ...(tools.length > 0 && { tools }),
  }),
  messageOf(response) {
    const { content, tool_calls: calls } = fieldsOf(fieldsOf(listOf(fieldsOf(response)['choices'])[0])['message'])
    return listOf(calls).reduce<ChatMessage>(
      (message, call, at) => withCall(message, at, completionsCall(call)),
      withText(EMPTY_ANSWER, textOf(content)),
    )
  },
  next(message, event) {
    const { content, tool_calls: parts } = fieldsOf(fieldsOf(listOf(fieldsOf(event)['choices'])[0])['delta'])
    return listOf(parts).reduce<ChatMessage>(
      (all, part) => {
        const { index } = fieldsOf(part)
        return withCall(all, typeof index === 'number' ? index : 0, completionsCall(part))
      },
      withText(message, textOf(content)),
    )
  },
}

function completionsMessage({ role, text, images, calls, callId }: ChatMessage): object {
  if (role === 'tool') return { role, tool_call_id: callId, content: text }
  if (role === 'assistant') {
    const toolCalls = calls.map(({ id, name, arguments: json }) => {
      return { id, type: 'function', function: { name, arguments: json } }
    })
    return { role, content: text === '' ? null : text, ...(calls.length > 0 && { tool_calls: toolCalls }) }
  }
  if (images.length === 0) return { role, content: text }
  const parts = images.map((image) => ({ type: 'image_url', image_url: { url: dataUrl(image) } }))
  return { role, content: [{ type: 'text', text }, ...parts] }
}

function completionsCall(call: unknown): { id?: string; name?: string; arguments?: string } {
  const { id, function: called } = fieldsOf(call)
  const { name, arguments: json } = fieldsOf(called)
  return {
    ...(typeof id === 'string' && { id }),
    ...(typeof name === 'string' && { name }),
    ...(typeof json === 'string' && { arguments: json }),
  }
}

const anthropic: ChatFormat = {
  name: 'Messages',
  path: '/v1/messages',
  headers: [['anthropic-version', '2023-06-01']],
  bodyOf: ({ model, messages, tools, isStream }) => ({
    model,
    max_tokens: ANSWER_TOKENS_MAX,
    messages: joined(messages.map(anthropicMessage)),
    stream: isStream,
    ...(tools.length > 0 && {
      tools: functionsOf(tools).map(({ parameters, ...tool }) => ({ ...tool, input_schema: parameters })),
    }),
  }),
  messageOf(response) {
    return listOf(fieldsOf(response)['content']).reduce<ChatMessage>(
      (message, block) => withBlock(message, fieldsOf(block)),
      EMPTY_ANSWER,
    )
  },
  next(message, event) {
    const { type, content_block: block, delta } = fieldsOf(event)
    // Its arguments follow in parts.
    if (type === 'content_block_start') return withBlock(message, { ...fieldsOf(block), input: undefined })
    if (type !== 'content_block_delta') return message
    const { text, partial_json: json } = fieldsOf(delta)
    if (typeof json === 'string') return withCall(message, message.calls.length - 1, { arguments: json })
    return withText(message, textOf(text))
  },
}

function anthropicMessage({ role, text, images, calls, callId }: ChatMessage): { role: string; content: object[] } {
  const texts = text === '' ? [] : [{ type: 'text', text }]
  if (role === 'tool') return { role: 'user', content: [{ type: 'tool_result', tool_use_id: callId, content: text }] }
  if (role === 'assistant') {
    const uses = calls.map(({ id, name, arguments: json }) => ({ type: 'tool_use', id, name, input: parsed(json) }))
    return { role, content: [...texts, ...uses] }
  }
  const pictures = images.map(({ type, data }) => {
    return { type: 'image', source: { type: 'base64', media_type: type, data } }
  })
  return { role, content: [...pictures, ...texts] }
}

/** Results of several tools are one message of the user. */
function joined(messages: readonly { role: string; content: object[] }[]): object[] {
  const all: { role: string; content: object[] }[] = []
  for (const message of messages) {
    const last = all.at(-1)
    if (last?.role === message.role) last.content.push(...message.content)
    else all.push(message)
  }
  return all
}

function withBlock(message: ChatMessage, { type, text, id, name, input }: Fields): ChatMessage {
  if (type === 'text') return withText(message, textOf(text))
  if (type !== 'tool_use') return message
  const json = input === undefined ? {} : { arguments: JSON.stringify(input) }
  return withCall(message, message.calls.length, { id: textOf(id) ?? '', name: textOf(name) ?? '', ...json })
}

const responses: ChatFormat = {
  name: 'Responses',
  path: '/v1/responses',
  headers: [],
  bodyOf: ({ model, messages, tools, isStream }) => ({
    model,
    input: messages.flatMap(responsesItems),
    stream: isStream,
    store: false,
    ...(tools.length > 0 && { tools: functionsOf(tools).map((tool) => ({ type: 'function', ...tool })) }),
  }),
  messageOf(response) {
    return listOf(fieldsOf(response)['output']).reduce<ChatMessage>((message, item) => {
      const { type, content } = fieldsOf(item)
      if (type === 'function_call') return withItem(message, fieldsOf(item))
      return listOf(content).reduce<ChatMessage>((all, part) => withText(all, textOf(fieldsOf(part)['text'])), message)
    }, EMPTY_ANSWER)
  },
  next(message, event) {
    const { type, delta, item } = fieldsOf(event)
    if (type === 'response.output_text.delta') return withText(message, textOf(delta))
    // Its arguments follow in parts.
    if (type === 'response.output_item.added') return withItem(message, { ...fieldsOf(item), arguments: '' })
    if (type !== 'response.function_call_arguments.delta' || message.calls.length === 0) return message
    return withCall(message, message.calls.length - 1, { arguments: textOf(delta) ?? '' })
  },
}

function responsesItems({ role, text, images, calls, callId }: ChatMessage): object[] {
  if (role === 'tool') return [{ type: 'function_call_output', call_id: callId, output: text }]
  if (role === 'user') {
    const pictures = images.map((image) => ({ type: 'input_image', image_url: dataUrl(image) }))
    return [{ role, content: [{ type: 'input_text', text }, ...pictures] }]
  }
  return [
    ...(text === '' ? [] : [{ role, content: [{ type: 'output_text', text }] }]),
    ...calls.map(({ id, name, arguments: json }) => ({ type: 'function_call', call_id: id, name, arguments: json })),
  ]
}

function withItem(message: ChatMessage, { type, call_id: id, name, arguments: json }: Fields): ChatMessage {
  if (type !== 'function_call') return message
  const call = { id: textOf(id) ?? '', name: textOf(name) ?? '', arguments: textOf(json) ?? '' }
  return withCall(message, message.calls.length, call)
}

export const CHAT_FORMATS: readonly ChatFormat[] = [completions, anthropic, responses]

/** The functions of tools as in chat completions. */
function functionsOf(tools: readonly unknown[]): { name: unknown; description?: unknown; parameters: unknown }[] {
  return tools.map((tool) => {
    const { name, description, parameters = { type: 'object' } } = fieldsOf(fieldsOf(tool)['function'])
    return { name, ...(description !== undefined && { description }), parameters }
  })
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json === '' ? '{}' : json)
  } catch {
    // As the model wrote it: the provider reports it.
    return json
  }
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
