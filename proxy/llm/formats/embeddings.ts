// Embeddings of OpenAI.
import { asArray, asObject } from '../json.ts'
import type { Format } from './format.ts'
import { OPENAI } from './openai.ts'

export const embeddings: Format = {
  ...OPENAI,
  name: 'Embeddings',
  path: '/embeddings',
  operation: 'embeddings',
  recognises: ({ data }) => asObject(asArray(data)[0])['object'] === 'embedding',
}
