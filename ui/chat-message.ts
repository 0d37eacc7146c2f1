// Messages of a chat, whatever format the API has.
export interface ChatMessage {
  readonly role: 'user' | 'assistant' | 'tool'
  readonly text: string
  /** Of a user. */
  readonly images: readonly ChatImage[]
  /** Of an assistant. */
  readonly calls: readonly ToolCall[]
  /** Of the result of a tool. */
  readonly callId?: string
  /** Of an answer: tokens, cost, times. */
  readonly use?: string
}

export interface ChatImage {
  readonly name: string
  /** Media type. */
  readonly type: string
  /** In base64. */
  readonly data: string
}

export interface ToolCall {
  readonly id: string
  readonly name: string
  /** JSON. */
  readonly arguments: string
}

export const EMPTY_ANSWER: ChatMessage = { role: 'assistant', text: '', images: [], calls: [] }

export function userMessage(text: string, images: readonly ChatImage[]): ChatMessage {
  return { role: 'user', text, images, calls: [] }
}

export function toolResult(callId: string, text: string): ChatMessage {
  return { role: 'tool', text, images: [], calls: [], callId }
}

export function dataUrl({ type, data }: ChatImage): string {
  return `data:${type};base64,${data}`
}

/** The message with more text at its end. */
export function withText(message: ChatMessage, text: string | null | undefined): ChatMessage {
  return typeof text === 'string' ? { ...message, text: message.text + text } : message
}

/** The message with a part of its call at this position; texts are appended. */
export function withCall(message: ChatMessage, at: number, part: Partial<ToolCall>): ChatMessage {
  const calls = Array.from({ length: Math.max(message.calls.length, at + 1) }, (_, index): ToolCall => {
    return message.calls[index] ?? { id: '', name: '', arguments: '' }
  })
  const former = calls[at]
  if (former === undefined) return message
  calls[at] = {
    id: part.id ?? former.id,
    name: former.name + (part.name ?? ''),
    arguments: former.arguments + (part.arguments ?? ''),
  }
  return { ...message, calls }
}
