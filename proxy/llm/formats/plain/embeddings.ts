// Requests for embeddings of clients of OpenAI, and their answers.
import type { TranslationNotes } from '../../canonical/format.ts'
import { asNumber, asString, type JsonObject } from '../../json.ts'
import { Untranslatable } from '../../translate/untranslatable.ts'
import { checkRequestFields, type FieldRules, isFalse } from '../fields.ts'
import type { PlainSource } from './plain.ts'

const RULES: FieldRules = {
  model: 'mapped',
  input: 'mapped',
  dimensions: 'mapped',
  encoding_format: (value) => value === 'float' || value === 'base64',
  user: { dropped: 'the provider has no field for the end user' },
  stream: isFalse,
}

export interface EmbeddingsRequest {
  readonly model: string
  readonly texts: readonly string[]
  readonly dimensions: number | undefined
}

/** `own`: fields of the provider that the client may add. @throws {Untranslatable} */
export function embeddingsRequest(
  body: JsonObject,
  own: readonly string[],
  notes: TranslationNotes,
): EmbeddingsRequest {
  checkRequestFields(body, { ...RULES, ...Object.fromEntries(own.map((name) => [name, 'mapped' as const])) }, notes)
  const { input, dimensions } = body
  const texts = Array.isArray(input) ? (input as readonly unknown[]) : [input]
  if (texts.length === 0 || !texts.every((text) => typeof text === 'string')) {
    throw new Untranslatable('input must be a text or a list of texts for this provider')
  }
  return { model: asString(body['model']) ?? '', texts, dimensions: asNumber(dimensions) }
}

/** For models that take one text in a request. @throws {Untranslatable} */
export function singleText({ texts: [text, ...more] }: EmbeddingsRequest): string {
  if (text === undefined || more.length > 0) throw new Untranslatable('input must be a single text for this model')
  return text
}

/** undefined: not vectors. `inputTokens`: undefined if the provider does not report them. */
export function embeddingsAnswer(
  vectors: readonly unknown[],
  { model, asked }: PlainSource,
  inputTokens: number | undefined,
): JsonObject | undefined {
  if (vectors.length === 0 || !vectors.every(isVector)) return undefined
  const isBase64 = asked['encoding_format'] === 'base64'
  const data = vectors.map((vector, index) => ({
    object: 'embedding',
    index,
    embedding: isBase64 ? Buffer.from(Float32Array.from(vector).buffer).toString('base64') : vector,
  }))
  const tokens = inputTokens ?? 0
  return { object: 'list', data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } }
}

function isVector(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'number')
}
