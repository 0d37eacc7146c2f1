// Google Vertex AI: models of Google, Claude, and models with the formats of OpenAI (data-plane supplement sections 3.2
// and 3.3).
import { isRecord } from '#api/json.ts'
import type { VertexProvider } from '#api/ir/types.gen.ts'
import type { SentFormatName } from '#api/llm/formats.ts'
import { asObject, type JsonObject } from '../json.ts'
import { modelPath as googlePath } from '../formats/gemini/model-path.ts'
import { claudeModel, familyOf, googleModel, type ModelFamily } from './google-models.ts'
import type { Provider } from './provider.ts'

const SPOKEN: { readonly [F in ModelFamily]: ReadonlySet<SentFormatName> } = {
  Claude: new Set(['Messages', 'AnthropicTokenCount']),
  // As in gemini.ts, without chat completions.
  Gemini: new Set(['GenerateContent', 'GeminiCountTokens', 'Predict', 'Rank']),
  Other: new Set(['Completions', 'Predict', 'Rank']),
}

const LOCATION_DEFAULT = 'global'
const ANTHROPIC_VERSION = 'vertex-2023-10-16'
/** Of clients of Anthropic: the version is in the body. */
const REMOVED = ['anthropic-version', 'x-api-key'] as const

export const vertex: Provider<VertexProvider> = {
  model: ({ model }) => model,
  formats: () => (model) => SPOKEN[familyOf(model)],
  paths({ projectId, region = LOCATION_DEFAULT }, prefix) {
    const own = (prefix ?? '').replace(/\/+$/, '')
    const base = `${own}/v1/projects/${encodeURIComponent(projectId)}/locations/${encodeURIComponent(region)}`
    const claude = `${base}/publishers/anthropic/models`
    return ({ name, path, modelPath }, model, isStreaming) => {
      if (name === 'AnthropicTokenCount') return `${claude}/count-tokens:rawPredict`
      if (name === 'Messages') return `${claude}/${segment(claudeModel(model))}:${claudeMethod(isStreaming)}`
      if (modelPath !== undefined) {
        return `${base}/publishers/google${modelPath.pathOf(googleModel(model), isStreaming)}`
      }
      if (name === 'Rank') return `${base}/rankingConfigs/default_ranking_config${path}`
      if (name === 'Predict') return `${base}/publishers/google${googlePath(googleModel(model), 'predict')}`
      return `${base}/endpoints/openapi${path}`
    }
  },
  keepsClientPath: false,
  ownQuery: new Set(['alt', 'key', 'beta']),
  prepareHeaders(headers, credential, sent) {
    if (sent === undefined || credential === 'Placed') return
    for (const name of REMOVED) headers.remove(name)
    if (headers.has('authorization')) headers.remove('x-goog-api-key')
  },
  finish(body, _settings, { model, sent }) {
    if (sent === 'Messages' || sent === 'AnthropicTokenCount') finishClaude(body, model, sent)
  },
}

function claudeMethod(isStreaming: boolean): string {
  return isStreaming ? 'streamRawPredict' : 'rawPredict'
}

/** `@` may stand in a path. */
function segment(model: string): string {
  return encodeURIComponent(model).replaceAll('%40', '@')
}

/** The model of messages is in the path. Vertex AI rejects the fields that are removed. */
function finishClaude(body: JsonObject, model: string, sent: 'Messages' | 'AnthropicTokenCount'): void {
  if (sent === 'Messages') delete body['model']
  else body['model'] = claudeModel(model)
  body['anthropic_version'] = ANTHROPIC_VERSION
  delete body['output_format']
  for (const name of ['cache_control', 'system', 'tools', 'messages']) {
    if (!Object.hasOwn(body, name)) continue
    body[name] = name === 'cache_control' ? withoutScope(body[name]) : eachWithoutScope(body[name])
  }
}

/** The same value if nothing in it has a scope. */
function eachWithoutScope(list: unknown): unknown {
  if (!Array.isArray(list)) return list
  const items = list as readonly unknown[]
  const changed = items.map(blockWithoutScope)
  return changed.every((item, index) => item === items[index]) ? list : changed
}

/** A message, a tool or a block of content; results of tools contain blocks. Input of tools is not changed. */
function blockWithoutScope(block: unknown): unknown {
  if (!isRecord(block)) return block
  const { cache_control: mark, content } = block
  const [newMark, newContent] = [withoutScope(mark), eachWithoutScope(content)]
  if (newMark === mark && newContent === content) return block
  return {
    ...block,
    ...(newMark !== mark && { cache_control: newMark }),
    ...(newContent !== content && { content: newContent }),
  }
}

function withoutScope(mark: unknown): unknown {
  if (!isRecord(mark) || !Object.hasOwn(mark, 'scope')) return mark
  const { scope: _, ...rest } = asObject(mark)
  return rest
}
