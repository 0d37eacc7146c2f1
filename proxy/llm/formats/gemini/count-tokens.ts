// Counting the tokens of a GenerateContent request. No policy changes what is counted (data-plane supplement section
// 3.9).
import { observeCount } from '../count.ts'
import type { Format } from '../format.ts'
import { BASE_PATH } from './client-headers.ts'
import { generateContent } from './generate-content.ts'
import { modelPath } from './model-path.ts'
import { countUrl } from './url.ts'

/** The answer never streams. */
export const geminiCountTokens: Format = {
  ...generateContent,
  name: 'GeminiCountTokens',
  path: ':countTokens',
  url: countUrl,
  modelPath: { base: BASE_PATH, pathOf: (model) => modelPath(model, 'countTokens') },
  enrich: undefined,
  params: () => undefined,
  observe: observeCount('totalTokens'),
  recognises: ({ totalTokens }) => typeof totalTokens === 'number',
  lastEvent: undefined,
}
