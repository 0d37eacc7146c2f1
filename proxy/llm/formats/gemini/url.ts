// URLs of Gemini requests: the path names the model and the method, and the query the framing of a stream and, in many
// programs, the key.
import { queryParameter, withoutQueryParameter } from '../../../auth/request-fields.ts'
import type { FormatUrl } from '../format.ts'
import { generateMethod, isStreamMethod, modelPath, readModelPath } from './model-path.ts'

/** Of all APIs of Google (https://cloud.google.com/apis/docs/system-parameters); `alt` is in the sent path. */
const FRAMING = ['alt', '$alt'] as const
const KEY = 'key'
const OF_GOOGLE = [...FRAMING, 'fields', '$fields', 'prettyPrint', '$prettyPrint', 'quotaUser', '$.xgafv'] as const

export const generateUrl: FormatUrl = {
  read(path, query) {
    const parts = readModelPath(path)
    if (parts === undefined) return undefined
    const isSse = FRAMING.some((name) => queryParameter(query, name) === 'sse')
    return {
      model: parts.model,
      isStreaming: isStreamMethod(parts.method),
      framing: isSse ? 'Sse' : 'JsonArray',
    }
  },
  withModel(path, model) {
    const parts = readModelPath(path)
    return parts === undefined ? path : parts.base + modelPath(model, parts.method)
  },
  sentPath: (path, { model, isStreaming }) =>
    (readModelPath(path)?.base ?? '') + modelPath(model, generateMethod(isStreaming)),
  sentQuery(query, { isTranslated, isPlaced, headers }) {
    if (query === '') return query
    const rest = (isTranslated ? OF_GOOGLE : FRAMING).reduce((kept, name) => withoutQueryParameter(kept, name), query)
    const key = queryParameter(rest, KEY)
    if (key === undefined || isPlaced) return rest
    if (!headers.has('x-goog-api-key') && !headers.has('authorization')) headers.set('x-goog-api-key', key)
    return withoutQueryParameter(rest, KEY)
  },
}

export const countUrl: FormatUrl = {
  ...generateUrl,
  read(path) {
    const parts = readModelPath(path)
    return parts && { model: parts.model, isStreaming: false, framing: 'Sse' }
  },
  sentPath: (path, { model }) => generateUrl.withModel(path, model),
}
