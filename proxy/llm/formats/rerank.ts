// Ranking documents, in the form of Cohere's API of version 2.
import type { Format } from './format.ts'
import { OPENAI } from './openai.ts'

export const rerank: Format = { ...OPENAI, name: 'Rerank', path: '/rerank' }
