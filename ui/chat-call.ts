// Calls of a model through the gateway.
import { ApiError, type TraceEvent } from './api.ts'
import { CHAT_FORMATS, type ChatContent, type ChatFormat } from './chat-formats.ts'
import { type ChatMessage, EMPTY_ANSWER } from './chat-message.ts'
import { callGateway, type GatewayAnswer, linesOf, textOf } from './gateway-call.ts'

export interface ChatRequest extends ChatContent {
  readonly url: string
  readonly format: ChatFormat
  /** Empty: none. */
  readonly key: string
}

export interface ChatOptions {
  readonly signal: AbortSignal
  /** The message so far. */
  readonly onMessage: (message: ChatMessage) => void
  readonly onEvent: (event: TraceEvent) => void
  /** A line of the response as it arrived. */
  readonly onRaw: (line: string) => void
}

/** The models that `GET /v1/models` of the gateway lists. @throws {ApiError} */
export async function listModels(
  { url, key }: Pick<ChatRequest, 'url' | 'key'>,
  signal: AbortSignal,
): Promise<string[]> {
  const answer = await callGateway(
    { url: withPath(url, '/v1/models'), method: 'GET', headers: authorization(key) },
    { signal, onEvent: () => undefined },
  )
  const { data = [] } = jsonOf(answer.status, await textOf(answer)) as {
    readonly data?: readonly { readonly id?: string }[]
  }
  return data.flatMap(({ id }) => (id === undefined ? [] : [id]))
}

/** The URL with the path of a format in place of that of another one. */
export function withPath(url: string, path: string): string {
  const former = CHAT_FORMATS.find((format) => url.endsWith(format.path))
  return former === undefined ? url : `${url.slice(0, -former.path.length)}${path}`
}

/** Resolves when the response has ended. @throws {ApiError} */
export async function sendChat(
  { url, format, key, ...content }: ChatRequest,
  { signal, onMessage, onEvent, onRaw }: ChatOptions,
): Promise<ChatMessage> {
  const body = JSON.stringify(format.bodyOf(content))
  const headers = [
    ['content-type', 'application/json'],
    ...format.headers.map(([name, value]) => [name, value]),
    ...authorization(key),
  ]
  const answer = await callGateway({ url, method: 'POST', headers, body }, { signal, onEvent })
  if (answer.status === 200 && content.isStream) return streamed(answer, format, { onMessage, onRaw })
  const text = await textOf(answer)
  onRaw(text)
  const message = format.messageOf(jsonOf(answer.status, text))
  onMessage(message)
  return message
}

function authorization(key: string): [string, string][] {
  return key === '' ? [] : [['authorization', `Bearer ${key}`]]
}

function jsonOf(status: number, text: string): unknown {
  if (status !== 200) throw new ApiError(`the gateway answered ${status}: ${text}`)
  try {
    return JSON.parse(text)
  } catch {
    throw new ApiError('the response is not JSON')
  }
}

async function streamed(
  { body }: GatewayAnswer,
  format: ChatFormat,
  { onMessage, onRaw }: Pick<ChatOptions, 'onMessage' | 'onRaw'>,
): Promise<ChatMessage> {
  let message = EMPTY_ANSWER
  for await (const line of linesOf(body)) {
    if (line !== '') onRaw(line)
    const data = line.startsWith('data:') ? line.slice('data:'.length).trim() : ''
    if (data === '' || data === '[DONE]') continue
    const event = JSON.parse(data) as { readonly error?: unknown; readonly type?: unknown } // checked by the format
    const isFailure = event.type === 'error' || event.type === 'response.failed'
    if (isFailure || (event.error !== undefined && event.error !== null)) {
      throw new ApiError(`the stream ended with an error: ${data}`)
    }
    const next = format.next(message, event)
    if (next !== message) onMessage(next)
    message = next
  }
  return message
}
