// The formats by name.
import type { FormatName, SentFormatName } from '#api/llm/formats.ts'
import { anthropicTokenCount } from './anthropic-token-count.ts'
import { completions } from './completions/completions.ts'
import { converse } from './converse/converse.ts'
import { embeddings } from './embeddings.ts'
import type { Format, SentFormat } from './format.ts'
import { geminiCountTokens } from './gemini/count-tokens.ts'
import { generateContent } from './gemini/generate-content.ts'
import { PLAIN_FORMATS } from './plain/table.ts'
import { messages } from './messages/messages.ts'
import { realtime } from './realtime.ts'
import { rerank } from './rerank.ts'
import { responses } from './responses/responses.ts'

export const FORMATS: { readonly [N in FormatName]: Format } = {
  Completions: completions,
  Messages: messages,
  Responses: responses,
  Embeddings: embeddings,
  AnthropicTokenCount: anthropicTokenCount,
  Realtime: realtime,
  Rerank: rerank,
  GenerateContent: generateContent,
  GeminiCountTokens: geminiCountTokens,
}

/** Those in which requests are sent to providers. */
export const SENT_FORMATS: { readonly [N in SentFormatName]: SentFormat } = {
  ...FORMATS,
  Converse: converse,
  ...PLAIN_FORMATS,
}
