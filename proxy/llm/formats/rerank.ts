// Ranking documents, in the form of Cohere's API of version 2.
import { asArray, asObject } from '../json.ts'
import type { Format } from './format.ts'
import { OPENAI } from './openai.ts'

export const rerank: Format = {
  ...OPENAI,
  name: 'Rerank',
  path: '/rerank',
  recognises: ({ results }) => asObject(asArray(results)[0])['relevance_score'] !== undefined,
}
