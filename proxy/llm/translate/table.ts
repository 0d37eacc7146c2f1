// Which formats a request can be sent in, by the format of the client (data-plane supplement section 3.2).
import type { FormatName, SentFormatName } from '#api/llm/formats.ts'
import type { Format, SentFormat } from '../formats/format.ts'
import { SENT_FORMATS } from '../formats/table.ts'
import { chatFormat, providerChat } from '../formats/chat-table.ts'
import type { ModelError } from '../canonical/answer.ts'
import type { StreamDecoder } from '../canonical/format.ts'
import { PLAIN, type PlainTarget } from '../formats/plain/table.ts'
import { plainTranslation } from './plain.ts'
import { translationBetween } from './between.ts'
import type { JsonObject } from '../json.ts'
import type { Translation } from './translation.ts'

/** In the order of preference; the format itself stands for requests that are forwarded unchanged. */
const WAYS: { readonly [From in FormatName]: readonly SentFormatName[] } = {
  Completions: ['GenerateContent', 'Completions', 'Messages', 'Responses', 'Converse'],
  Messages: ['Messages', 'Completions', 'Responses', 'GenerateContent', 'Converse'],
  Responses: ['Responses', 'Completions', 'Messages', 'GenerateContent', 'Converse'],
  Embeddings: ['Embeddings', 'Predict', 'TitanEmbeddings', 'CohereEmbeddings', 'NovaEmbeddings'],
  AnthropicTokenCount: ['AnthropicTokenCount', 'GeminiCountTokens', 'BedrockCountTokens'],
  Realtime: ['Realtime'],
  Rerank: ['Rerank', 'Rank', 'BedrockRerank'],
  GenerateContent: ['GenerateContent', 'Completions', 'Messages', 'Responses', 'Converse'],
  GeminiCountTokens: ['GeminiCountTokens'],
}

/** How requests of a client reach a provider. */
export interface Conversion {
  readonly client: Format
  readonly sent: SentFormat
  /** undefined: both are the same, and bodies are forwarded unchanged. */
  readonly translation: Translation | undefined
}

/** undefined: the provider speaks no format that a request of the client can be sent in. */
export function conversionFrom(client: Format, spoken: ReadonlySet<SentFormatName>): Conversion | undefined {
  const name = WAYS[client.name].find((one) => spoken.has(one))
  if (name === undefined) return undefined
  return {
    client,
    sent: SENT_FORMATS[name],
    translation: name === client.name ? undefined : translationTo(name, client),
  }
}

/** For the streams of a provider; undefined: the format has none. */
export function streamDecoder(sent: SentFormatName): StreamDecoder | undefined {
  return isPlain(sent) ? undefined : providerChat(sent)?.decodeStream()
}

/** An error that a provider sends in place of an answer, with status 200. */
export function errorInAnswer(sent: SentFormatName, body: JsonObject): ModelError | undefined {
  return isPlain(sent) ? undefined : providerChat(sent)?.decodeError(body, undefined)
}

function isPlain(name: SentFormatName): name is PlainTarget {
  return Object.hasOwn(PLAIN, name)
}

function translationTo(to: SentFormatName, client: Format): Translation | undefined {
  if (isPlain(to)) return plainTranslation(to, client)
  const [decoder, encoder] = [chatFormat(client.name), providerChat(to)]
  if (decoder === undefined || encoder === undefined) throw new Error(`no translation from ${client.name} to ${to}`)
  return translationBetween({ client: decoder, provider: encoder, to })
}
