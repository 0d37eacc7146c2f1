// The formats that are translated, by name.
import type { FormatName } from '#api/llm/formats.ts'
import type { ChatFormat } from '../canonical/format.ts'
import { completionsChat } from './completions/chat.ts'
import { messagesChat } from './messages/chat.ts'
import { responsesChat } from './responses/chat.ts'

/** undefined: the format is only forwarded. */
const CHAT_FORMATS: { readonly [N in FormatName]: ChatFormat | undefined } = {
  Completions: completionsChat,
  Messages: messagesChat,
  Responses: responsesChat,
  Embeddings: undefined,
  AnthropicTokenCount: undefined,
  Realtime: undefined,
  Rerank: undefined,
}

export function chatFormat(name: FormatName): ChatFormat | undefined {
  return CHAT_FORMATS[name]
}
