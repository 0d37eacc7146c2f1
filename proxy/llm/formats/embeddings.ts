// Embeddings of OpenAI.
import type { Format } from './format.ts'
import { OPENAI } from './openai.ts'

export const embeddings: Format = { ...OPENAI, name: 'Embeddings', path: '/embeddings', operation: 'embeddings' }
