// The formats by name.
import type { FormatName } from '#api/llm/formats.ts'
import { anthropicTokenCount } from './anthropic-token-count.ts'
import { completions } from './completions/completions.ts'
import { embeddings } from './embeddings.ts'
import type { Format } from './format.ts'
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
}
