// Rerank requests in the form of Cohere for Vertex AI and Amazon Bedrock (data-plane supplement section 3.9).
import { isRecord } from '#api/json.ts'
import type { TranslationNotes } from '../../canonical/format.ts'
import { asArray, asNumber, asObject, asString, type JsonObject } from '../../json.ts'
import { Untranslatable } from '../../translate/untranslatable.ts'
import { decodeError as decodeAwsError } from '../converse/error.ts'
import { checkRequestFields, defined, type FieldRules, isFalse } from '../fields.ts'
import { decodeError as decodeGoogleError } from '../gemini/error.ts'
import { type PlainFormat, plainFormat, type PlainSource } from './plain.ts'

const RULES: FieldRules = {
  model: 'mapped',
  query: 'mapped',
  documents: 'mapped',
  top_n: 'mapped',
  return_documents: 'mapped',
  max_tokens_per_doc: { dropped: 'the provider limits the tokens of a document itself' },
  stream: isFalse,
}

interface RerankRequest {
  readonly model: string
  readonly query: string
  /** Each is a text or an object. */
  readonly documents: readonly unknown[]
  readonly topN: number | undefined
}

/** @throws {Untranslatable} */
function rerankRequest(body: JsonObject, notes: TranslationNotes): RerankRequest {
  checkRequestFields(body, RULES, notes)
  const query = asString(body['query'])
  const documents = asArray(body['documents'])
  if (query === undefined) throw new Untranslatable('query must be a text')
  if (documents.length === 0) throw new Untranslatable('documents must be a list of texts or objects')
  return { model: asString(body['model']) ?? '', query, documents, topN: asNumber(body['top_n']) }
}

/** The text of a document; undefined: it has other members. */
function textOf(document: unknown): string | undefined {
  if (typeof document === 'string') return document
  return isRecord(document) && Object.keys(document).length === 1 ? asString(document['text']) : undefined
}

interface Result {
  readonly index: number | undefined
  readonly score: number | undefined
}

/** undefined: a result names no document of the request. */
function rerankAnswer(results: readonly Result[], { id, asked }: PlainSource): JsonObject | undefined {
  const documents = asArray(asked['documents'])
  const hasDocuments = asked['return_documents'] === true
  const out: JsonObject[] = []
  for (const { index, score } of results) {
    if (index === undefined || score === undefined || !(index in documents)) return undefined
    const document = documents[index]
    out.push({
      index,
      relevance_score: score,
      ...(hasDocuments && { document: typeof document === 'string' ? { text: document } : document }),
    })
  }
  return defined({ id, results: out })
}

/** The Ranking API of Google, which is not a model of Vertex AI itself. */
export const vertexRank: PlainFormat = {
  sent: plainFormat('Rank', { path: ':rank' }),
  request(body, notes) {
    const { model, query, documents, topN } = rerankRequest(body, notes)
    return defined({
      model,
      query,
      records: documents.map(recordOf),
      topN,
      ignoreRecordDetailsInResponse: true,
    })
  },
  answer({ records }, source) {
    if (!Array.isArray(records)) return undefined
    const results = records.map((record): Result => {
      const { id, score } = asObject(record)
      return { index: /^\d{1,9}$/.test(asString(id) ?? '') ? Number(id) : undefined, score: asNumber(score) }
    })
    return rerankAnswer(results, source)
  },
  decodeError: decodeGoogleError,
}

/** The id of a record is the place of its document. @throws {Untranslatable} */
function recordOf(document: unknown, index: number): JsonObject {
  const { title, text } = asObject(document)
  const content = asString(document) ?? asString(text)
  if (content === undefined) throw new Untranslatable(`documents[${index}] must be a text, or an object with text`)
  return defined({ id: String(index), title: asString(title), content })
}

/** `modelArn` is the model of the request until the provider adds its region. */
export const bedrockRerank: PlainFormat = {
  sent: plainFormat('BedrockRerank', { path: '/rerank' }),
  request(body, notes) {
    const { model, query, documents, topN } = rerankRequest(body, notes)
    return {
      queries: [{ type: 'TEXT', textQuery: { text: query } }],
      sources: documents.map(sourceOf),
      rerankingConfiguration: {
        type: 'BEDROCK_RERANKING_MODEL',
        bedrockRerankingConfiguration: {
          modelConfiguration: { modelArn: model },
          numberOfResults: topN ?? documents.length,
        },
      },
    }
  },
  answer({ results }, source) {
    if (!Array.isArray(results)) return undefined
    return rerankAnswer(
      results.map((result): Result => {
        const { index, relevanceScore } = asObject(result)
        return { index: asNumber(index), score: asNumber(relevanceScore) }
      }),
      source,
    )
  },
  decodeError: decodeAwsError,
}

function sourceOf(document: unknown): JsonObject {
  const text = textOf(document)
  const inlineDocumentSource =
    text === undefined ? { type: 'JSON', jsonDocument: document } : { type: 'TEXT', textDocument: { text } }
  return { type: 'INLINE', inlineDocumentSource }
}
