// Formats of a single provider for requests that are not chats: embeddings, rerank, token counts. Each is one function
// for requests and one for answers; they never stream.
import type { OwnPlainFormat } from '#api/llm/formats.ts'
import type { LlmFacts } from '../../../exchange/facts.ts'
import type { ModelError } from '../../canonical/answer.ts'
import type { TranslationNotes } from '../../canonical/format.ts'
import { asCount, type JsonObject } from '../../json.ts'
import { addReport, EMPTY_REPORT } from '../../usage.ts'
import type { SentFormat } from '../format.ts'

/** What the call has and the answer of the provider may lack. */
export interface PlainSource {
  readonly id: string | undefined
  readonly model: string
  /** The request of the client. */
  readonly asked: JsonObject
  /** Of a header of the response. */
  readonly inputTokens: number | undefined
}

export interface PlainTranslator {
  /** From the request of the client. @throws {Untranslatable} */
  request(body: JsonObject, notes: TranslationNotes): JsonObject
  /** The answer for the client; undefined: not an answer in this format. */
  answer(answer: JsonObject, source: PlainSource): JsonObject | undefined
  /** undefined: not an error in this format. */
  decodeError(body: JsonObject, status: number | undefined): ModelError | undefined
}

/** A format that no client has. */
export interface PlainFormat extends PlainTranslator {
  readonly sent: SentFormat
}

type Own = Pick<SentFormat, 'path' | 'inputTokensHeader'> & { readonly inputTokens?: (answer: JsonObject) => unknown }

const EMBEDDINGS: ReadonlySet<OwnPlainFormat> = new Set([
  'Predict',
  'TitanEmbeddings',
  'CohereEmbeddings',
  'NovaEmbeddings',
])

/** `inputTokens`: reads the number from a response. */
export function plainFormat(name: OwnPlainFormat, { inputTokens, ...own }: Own): SentFormat {
  return {
    name,
    frames: 'Sse',
    idHeader: undefined,
    ...own,
    askForUsage() {},
    observe(facts, answer) {
      observeInput(facts, asCount(inputTokens?.(answer)))
    },
    operation: EMBEDDINGS.has(name) ? 'embeddings' : 'chat',
    recognises: (answer) => typeof inputTokens?.(answer) === 'number',
    hasContent: () => false,
    lastEvent: undefined,
  }
}

export function observeInput(facts: LlmFacts, count: number | undefined): void {
  addReport(facts, { ...EMPTY_REPORT, input: count })
}
