// The part of a format that translates: one object in each `formats/<format>/`. No other code depends on what a format
// looks like. Docs: docs/contributing/adding-a-provider.md.
import type { SseEvent } from '../../http/sse.ts'
import type { JsonObject } from '../json.ts'
import type { AnswerEvent, ModelError } from './answer.ts'
import type { ChatRequest } from './request.ts'

/** A format that clients use. */
export interface ClientChat {
  /** Answers may have images. */
  readonly hasImages: boolean
  /** @throws {Untranslatable} with the name of the field that no other format can express. */
  decodeRequest(body: JsonObject, notes: TranslationNotes): ChatRequest
  encodeAnswer(events: readonly AnswerEvent[], context: AnswerContext): JsonObject
  encodeStream(context: AnswerContext): StreamEncoder
  /** `status`: of HTTP; undefined within a stream. */
  encodeError(error: ModelError, status: number | undefined): JsonObject
}

/** A format that providers use. */
export interface ProviderChat {
  /** @throws {Untranslatable} with the client's name of the field that this format cannot express. */
  encodeRequest(request: ChatRequest, notes: TranslationNotes): JsonObject
  /** The name that the provider accepts in place of a tool's name; absent: it accepts every name. */
  readonly toolName?: ((name: string) => string) | undefined
  /** undefined: not an answer in this format. */
  decodeAnswer(body: JsonObject): readonly AnswerEvent[] | undefined
  decodeStream(): StreamDecoder
  /** `status`: of HTTP. undefined: not an error in this format. */
  decodeError(body: JsonObject, status: number | undefined): ModelError | undefined
}

export interface ChatFormat extends ClientChat, ProviderChat {}

/** Fields of a request, and parts of an answer, that were dropped, and why: for log and trace. */
export interface TranslationNotes {
  dropped(field: string, reason: string): void
}

export interface AnswerContext {
  /** Seconds since 1970, for formats that demand a time. */
  readonly createdSeconds: number
  /** The client requested an event with the usage, or its format always has one. */
  readonly includeUsage: boolean
}

export interface StreamDecoder {
  event(event: SseEvent): readonly AnswerEvent[]
  /** The provider closed the stream; an `error` event where the answer is not complete. */
  end(): readonly AnswerEvent[]
}

export interface StreamEncoder {
  /** Bytes to send as text; empty where the format has nothing for the event. Nothing follows `finish` or `error`. */
  event(event: AnswerEvent): string
}
