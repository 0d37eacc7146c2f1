// Gemini API of Google (data-plane supplement section 3.3).
import type { ModelChoice } from '#api/ir/types.gen.ts'
import type { SentFormatName } from '#api/llm/formats.ts'
import { modelPath } from '../formats/gemini/model-path.ts'
import { bearerToken } from './bearer-token.ts'
import type { Provider } from './provider.ts'

const SPOKEN: ReadonlySet<SentFormatName> = new Set(['GenerateContent', 'Completions', 'Embeddings'])
const BASE_PATH = '/v1beta'

export const gemini: Provider<ModelChoice> = {
  model: ({ model }) => model,
  formats: () => () => SPOKEN,
  paths(_, prefix) {
    const base = (prefix ?? '').replace(/\/+$/, '') + BASE_PATH
    return (format, model, isStreaming) =>
      format.name === 'GenerateContent' ? base + modelPath(model, isStreaming) : `${base}/openai${format.path}`
  },
  keepsClientPath: true,
  /** API keys move to the field that the Gemini API has for them; other bearer tokens are of OAuth. */
  prepareHeaders(headers, credential, sent) {
    if (sent?.name !== 'GenerateContent' || credential !== 'Key') return
    const key = bearerToken(headers)
    if (key?.startsWith('AIza') !== true) return
    headers.remove('authorization')
    headers.set('x-goog-api-key', key)
  },
}
