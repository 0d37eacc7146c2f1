// Gemini API of Google (data-plane supplement section 3.3).
import type { ModelChoice } from '#api/ir/types.gen.ts'
import type { SentFormatName } from '#api/llm/formats.ts'
import { bearerToken } from './bearer-token.ts'
import type { Provider } from './provider.ts'

/** Its endpoint with the format of chat completions loses the signatures that its models require of calls. */
const SPOKEN: ReadonlySet<SentFormatName> = new Set(['GenerateContent', 'GeminiCountTokens', 'Embeddings'])
const BASE_PATH = '/v1beta'

export const gemini: Provider<ModelChoice> = {
  model: ({ model }) => model,
  formats: () => () => SPOKEN,
  paths(_, prefix) {
    const base = (prefix ?? '').replace(/\/+$/, '') + BASE_PATH
    return ({ modelPath, path }, model, isStreaming) =>
      modelPath === undefined ? `${base}/openai${path}` : base + modelPath.pathOf(model, isStreaming)
  },
  keepsClientPath: true,
  /** A count of more than contents has the whole request in it, which names the model. */
  finish(body, _settings, { model, sent }) {
    if (sent !== 'GeminiCountTokens' || !['systemInstruction', 'tools'].some((name) => Object.hasOwn(body, name)))
      return
    const request = { ...body, model: model.includes('/') ? model : `models/${model}` }
    for (const name of Object.keys(body)) delete body[name]
    body['generateContentRequest'] = request
  },
  /** API keys move to the field that the Gemini API has for them; other bearer tokens are of OAuth. */
  prepareHeaders(headers, credential, sent) {
    if (sent?.modelPath === undefined || credential !== 'Key') return
    const key = bearerToken(headers)
    // The credential of a policy replaces the key of the client.
    if (key !== undefined) headers.remove('x-goog-api-key')
    if (key?.startsWith('AIza') !== true) return
    headers.remove('authorization')
    headers.set('x-goog-api-key', key)
  },
}
