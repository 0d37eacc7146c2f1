// Calls of a model through the gateway, in the format of chat completions.
import { ApiError, type TraceEvent } from './api.ts'
import { callGateway, type GatewayAnswer, linesOf, textOf } from './gateway-call.ts'

export interface ChatMessage {
  readonly role: string
  readonly content: string | null
  readonly tool_calls?: readonly ToolCall[]
}

export interface ToolCall {
  readonly id?: string | undefined
  readonly type: 'function'
  readonly function: { readonly name: string; readonly arguments: string }
}

export interface ChatRequest {
  readonly url: string
  /** Empty: none. */
  readonly key: string
  readonly model: string
  readonly messages: readonly ChatMessage[]
  /** In the format of the API; empty: none. */
  readonly tools: readonly unknown[]
  readonly isStream: boolean
}

export interface ChatOptions {
  readonly signal: AbortSignal
  /** The message so far. */
  readonly onMessage: (message: ChatMessage) => void
  readonly onEvent: (event: TraceEvent) => void
}

/** Of the OpenAI API; parts that a provider leaves out are missing. */
interface Choice {
  readonly message?: Partial<ChatMessage>
  readonly delta?: {
    readonly content?: string | null
    readonly tool_calls?: readonly {
      readonly index?: number
      readonly id?: string
      readonly function?: { readonly name?: string; readonly arguments?: string }
    }[]
  }
}

/** The models that `GET /v1/models` of the gateway lists. @throws {ApiError} */
export async function listModels(
  { url, key }: Pick<ChatRequest, 'url' | 'key'>,
  signal: AbortSignal,
): Promise<string[]> {
  const list = new URL(url.replace(/\/chat\/completions$/, '/models')).href
  const answer = await callGateway(
    { url: list, method: 'GET', headers: authorization(key) },
    { signal, onEvent: () => undefined },
  )
  const { data = [] } = (await jsonOf(answer)) as { readonly data?: readonly { readonly id?: string }[] }
  return data.flatMap(({ id }) => (id === undefined ? [] : [id]))
}

/** Resolves when the response has ended. @throws {ApiError} */
export async function sendChat(
  request: ChatRequest,
  { signal, onMessage, onEvent }: ChatOptions,
): Promise<ChatMessage> {
  const { url, key, model, messages, tools, isStream } = request
  const body = JSON.stringify({ model, messages, stream: isStream, ...(tools.length > 0 && { tools }) })
  const headers = [['content-type', 'application/json'], ...authorization(key)]
  const answer = await callGateway({ url, method: 'POST', headers, body }, { signal, onEvent })
  if (answer.status !== 200 || !isStream) {
    const { choices: [choice] = [] } = (await jsonOf(answer)) as { readonly choices?: readonly Choice[] }
    const message = { role: 'assistant', content: null, ...choice?.message }
    onMessage(message)
    return message
  }
  return streamed(answer, onMessage)
}

function authorization(key: string): [string, string][] {
  return key === '' ? [] : [['authorization', `Bearer ${key}`]]
}

async function jsonOf(answer: GatewayAnswer): Promise<unknown> {
  const text = await textOf(answer)
  if (answer.status !== 200) throw new ApiError(`the gateway answered ${answer.status}: ${text}`)
  try {
    return JSON.parse(text)
  } catch {
    throw new ApiError('the response is not JSON')
  }
}

async function streamed({ body }: GatewayAnswer, onMessage: ChatOptions['onMessage']): Promise<ChatMessage> {
  let message: ChatMessage = { role: 'assistant', content: null }
  for await (const line of linesOf(body)) {
    const data = line.startsWith('data:') ? line.slice('data:'.length).trim() : ''
    if (data === '' || data === '[DONE]') continue
    const { choices: [choice] = [], error } = JSON.parse(data) as {
      readonly choices?: readonly Choice[]
      readonly error?: unknown
    }
    if (error !== undefined) throw new ApiError(`the stream ended with an error: ${JSON.stringify(error)}`)
    if (choice?.delta === undefined) continue
    message = withDelta(message, choice.delta)
    onMessage(message)
  }
  return message
}

type Delta = NonNullable<Choice['delta']>
type CallPart = NonNullable<Delta['tool_calls']>[number]

function withDelta(message: ChatMessage, { content, tool_calls: parts = [] }: Delta): ChatMessage {
  const calls = [...(message.tool_calls ?? [])]
  for (const part of parts) calls[part.index ?? 0] = withPart(calls[part.index ?? 0], part)
  return {
    role: 'assistant',
    content: typeof content === 'string' ? (message.content ?? '') + content : message.content,
    ...(calls.length > 0 && { tool_calls: calls }),
  }
}

function withPart(former: ToolCall | undefined, { id = former?.id, function: part = {} }: CallPart): ToolCall {
  const { name = '', arguments: text = '' } = former?.function ?? {}
  return {
    id,
    type: 'function',
    function: { name: name + (part.name ?? ''), arguments: text + (part.arguments ?? '') },
  }
}
