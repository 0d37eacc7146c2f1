// The formats that are translated, by name.
import type { FormatName, OwnPlainFormat, SentFormatName } from '#api/llm/formats.ts'
import type { ChatFormat, ProviderChat } from '../canonical/format.ts'
import { completionsChat } from './completions/chat.ts'
import { geminiChat } from './gemini/chat.ts'
import { converseChat } from './converse/chat.ts'
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
  GenerateContent: geminiChat,
  GeminiCountTokens: undefined,
}

const PROVIDER_CHATS: { readonly [N in Exclude<SentFormatName, OwnPlainFormat>]: ProviderChat | undefined } = {
  ...CHAT_FORMATS,
  Converse: converseChat,
}

export function chatFormat(name: FormatName): ChatFormat | undefined {
  return CHAT_FORMATS[name]
}

/** The side of the provider. undefined: the format is only forwarded. */
export function providerChat(name: Exclude<SentFormatName, OwnPlainFormat>): ProviderChat | undefined {
  return PROVIDER_CHATS[name]
}
