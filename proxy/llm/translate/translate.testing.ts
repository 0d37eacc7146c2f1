// Translations by name, for tests.
import type { FormatName, SentFormatName } from '#api/llm/formats.ts'
import type { TranslationNotes } from '../canonical/format.ts'
import { FORMATS } from '../formats/table.ts'
import type { JsonObject } from '../json.ts'
import { conversionFrom } from './table.ts'
import type { StreamOptions, StreamTranslator, Translation } from './translation.ts'

/** Adds `field: reason` to `fields`. */
export function notesIn(fields: string[]): TranslationNotes {
  return { dropped: (field, reason) => void fields.push(`${field}: ${reason}`) }
}

/** For a client with the first format, and a provider that has only the second. */
export function translationOf(client: FormatName, to: SentFormatName): Translation {
  const translation = conversionFrom(FORMATS[client], new Set([to]))?.translation
  if (translation === undefined) throw new Error(`no translation from ${client} to ${to}`)
  return translation
}

const COMPLETIONS_TO_MESSAGES = translationOf('Completions', 'Messages')

export function completionsToMessages(body: JsonObject): JsonObject {
  return COMPLETIONS_TO_MESSAGES.request(body, notesIn([]))
}

export function messagesToCompletions(message: JsonObject, createdSeconds: number): JsonObject | undefined {
  return COMPLETIONS_TO_MESSAGES.answer(message, createdSeconds)
}

export function messagesErrorToCompletions(error: JsonObject): JsonObject | undefined {
  return COMPLETIONS_TO_MESSAGES.error(error, undefined)
}

export function messagesStreamToCompletions(options: StreamOptions): StreamTranslator {
  return COMPLETIONS_TO_MESSAGES.stream(options)
}
