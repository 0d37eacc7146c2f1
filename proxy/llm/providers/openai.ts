// OpenAI.
import type { ModelChoice } from '#api/ir/types.gen.ts'
import type { FormatName } from '#api/llm/formats.ts'
import { type Provider, usualPaths } from './provider.ts'

const SPOKEN: ReadonlySet<FormatName> = new Set(['Completions', 'Responses', 'Embeddings', 'Realtime', 'Rerank'])

export const openai: Provider<ModelChoice> = {
  model: ({ model }) => model,
  formats: () => () => SPOKEN,
  paths: (_, prefix) => usualPaths(prefix),
  keepsClientPath: true,
  prepareHeaders() {},
}
