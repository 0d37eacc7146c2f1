// One translation between two formats: that of the client, and that of the provider.
import type { SentFormatName } from '#api/llm/formats.ts'
import type { SseEvent } from '../../http/sse.ts'
import type { AnswerContext, TranslationNotes } from '../canonical/format.ts'
import type { JsonObject } from '../json.ts'
import type { ToolNames } from './tool-names.ts'

export interface Translation {
  /** Format of the provider. */
  readonly to: SentFormatName
  /** `answer` reads the request of the client. Absent: it does not. */
  readonly keepsRequest?: true
  /** `notes` gets the fields that are dropped, `names` the tools that are renamed. @throws {Untranslatable} */
  request(request: JsonObject, notes: TranslationNotes, names?: ToolNames): JsonObject
  /** undefined: not an answer in the format of the provider. `createdSeconds`: for formats that demand a time. */
  answer(answer: JsonObject, createdSeconds: number, source?: AnswerSource): JsonObject | undefined
  /** `status`: of HTTP. undefined: not an error in the format of the provider. */
  error(error: JsonObject, status: number | undefined): JsonObject | undefined
  stream(options: StreamOptions): StreamTranslator
  /** A complete answer as events: for a client that asked for a stream and a provider that sent none. */
  answerAsStream(answer: JsonObject, options: StreamOptions): string
}

export interface StreamOptions extends AnswerContext {
  readonly source?: AnswerSource | undefined
}

/** What the call has and the answer of the provider may lack. */
export interface AnswerSource {
  /** Of the answer; undefined: none is given. */
  readonly id: string | undefined
  readonly model: string
  readonly names: ToolNames
  /** Gets the parts of the answer that the format of the client does not have. */
  readonly notes?: TranslationNotes | undefined
  /** The request of the client, where the translation keeps it. */
  readonly asked?: JsonObject | undefined
  /** Of a header of the response. */
  readonly inputTokens?: number | undefined
}

export interface StreamTranslator {
  /** Text to send for one event; empty for events that have no counterpart. */
  event(event: SseEvent): string
  /** Text to send when the provider's stream ends; an error event when it ended early. */
  end(): string
  readonly isFailed: boolean
  /** The answer has ended: nothing may follow it. */
  readonly isComplete: boolean
}
