// Embeddings of Vertex AI: `predict` with one instance for each text (data-plane supplement section 3.9).
import { asArray, asCount, asObject, asString } from '../../json.ts'
import { defined } from '../fields.ts'
import { decodeError } from '../gemini/error.ts'
import { embeddingsAnswer, embeddingsRequest } from './embeddings.ts'
import { type PlainFormat, plainFormat } from './plain.ts'

const TASK_DEFAULT = 'RETRIEVAL_QUERY'

export const vertexEmbeddings: PlainFormat = {
  sent: plainFormat('Predict', {
    path: ':predict',
    inputTokens: (answer) => tokensOf(asArray(answer['predictions'])),
  }),
  request(body, notes) {
    const { texts, dimensions } = embeddingsRequest(body, ['task_type', 'title', 'auto_truncate'], notes)
    const { task_type: task = TASK_DEFAULT, title, auto_truncate: autoTruncate } = body
    const parameters = defined({ outputDimensionality: dimensions, autoTruncate })
    return {
      instances: texts.map((content) => defined({ content, task_type: task, title: asString(title) })),
      ...(Object.keys(parameters).length > 0 && { parameters }),
    }
  },
  answer(answer, source) {
    const predictions = asArray(answer['predictions'])
    const vectors = predictions.map((one) => asObject(asObject(one)['embeddings'])['values'])
    return embeddingsAnswer(vectors, source, tokensOf(predictions))
  },
  decodeError,
}

function tokensOf(predictions: readonly unknown[]): number | undefined {
  const counts = predictions.map((one) =>
    asCount(asObject(asObject(asObject(one)['embeddings'])['statistics'])['token_count']),
  )
  return counts.reduce<number | undefined>((sum, count) => (count === undefined ? sum : (sum ?? 0) + count), undefined)
}
