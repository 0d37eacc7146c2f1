// Embeddings of Amazon Bedrock: bodies of InvokeModel for Titan, Cohere and Nova (data-plane supplement section 3.9).
import { asArray, asCount, asObject, type JsonObject } from '../../json.ts'
import { defined, unsupported } from '../fields.ts'
import { decodeError } from '../converse/error.ts'
import { embeddingsAnswer, embeddingsRequest, singleText } from './embeddings.ts'
import { type PlainFormat, plainFormat } from './plain.ts'

const INVOKE = { path: '/invoke', inputTokensHeader: 'x-amzn-bedrock-input-token-count' } as const

const titanTokens = (answer: JsonObject): unknown => answer['inputTextTokenCount']

/** Titan Text Embeddings V2. */
export const titanEmbeddings: PlainFormat = {
  sent: plainFormat('TitanEmbeddings', { ...INVOKE, inputTokens: titanTokens }),
  request(body, notes) {
    const asked = embeddingsRequest(body, ['normalize'], notes)
    return defined({ inputText: singleText(asked), dimensions: asked.dimensions, normalize: body['normalize'] })
  },
  answer: (answer, source) =>
    embeddingsAnswer([answer['embedding']], source, source.inputTokens ?? asCount(titanTokens(answer))),
  decodeError,
}

export const cohereEmbeddings: PlainFormat = {
  sent: plainFormat('CohereEmbeddings', INVOKE),
  request(body, notes) {
    const { model, texts, dimensions } = embeddingsRequest(body, ['input_type', 'truncate'], notes)
    if (dimensions !== undefined && !model.includes('embed-v4')) throw unsupported(`dimensions ${dimensions}`)
    const { input_type = 'search_query', truncate } = body
    return defined({ texts, input_type, truncate, output_dimension: dimensions })
  },
  /** A list, or lists by the type of their numbers. */
  answer({ embeddings }, source) {
    const vectors = Array.isArray(embeddings) ? embeddings : asArray(asObject(embeddings)['float'])
    return embeddingsAnswer(vectors, source, source.inputTokens)
  },
  decodeError,
}

/** Nova Multimodal Embeddings. A text that is too long is an error, as with OpenAI. */
export const novaEmbeddings: PlainFormat = {
  sent: plainFormat('NovaEmbeddings', INVOKE),
  request(body, notes) {
    const asked = embeddingsRequest(body, ['embedding_purpose'], notes)
    const { embedding_purpose: embeddingPurpose = 'GENERIC_INDEX' } = body
    return {
      schemaVersion: 'nova-multimodal-embed-v1',
      taskType: 'SINGLE_EMBEDDING',
      singleEmbeddingParams: defined({
        embeddingPurpose,
        embeddingDimension: asked.dimensions,
        text: { truncationMode: 'NONE', value: singleText(asked) },
      }),
    }
  },
  answer(answer, source) {
    const vectors = asArray(answer['embeddings']).map((one) => asObject(one)['embedding'])
    return embeddingsAnswer(vectors, source, source.inputTokens)
  },
  decodeError,
}
