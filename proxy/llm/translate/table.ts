// Which formats a request can be sent in, by the format of the client (data-plane supplement section 3.2).
import type { FormatName } from '#api/llm/formats.ts'
import type { Format } from '../formats/format.ts'
import { FORMATS } from '../formats/table.ts'
import { completionsToMessages } from './completions-to-messages.ts'
import type { Translation } from './translation.ts'

type Way = Translation | 'Unchanged'

/** In the order of preference. */
const WAYS: { readonly [From in FormatName]: readonly Way[] } = {
  Completions: ['Unchanged', completionsToMessages],
  Messages: ['Unchanged'],
  Responses: ['Unchanged'],
  Embeddings: ['Unchanged'],
  AnthropicTokenCount: ['Unchanged'],
  Realtime: ['Unchanged'],
  Rerank: ['Unchanged'],
}

/** How requests of a client reach a provider. */
export interface Conversion {
  readonly client: Format
  readonly sent: Format
  /** undefined: both are the same, and bodies are forwarded unchanged. */
  readonly translation: Translation | undefined
}

/** undefined: the provider speaks no format that a request of the client can be sent in. */
export function conversionFrom(client: Format, spoken: ReadonlySet<FormatName>): Conversion | undefined {
  if (client.transport !== 'Message') return undefined
  for (const way of WAYS[client.name]) {
    const name = way === 'Unchanged' ? client.name : way.to
    if (spoken.has(name)) return { client, sent: FORMATS[name], translation: way === 'Unchanged' ? undefined : way }
  }
  return undefined
}
