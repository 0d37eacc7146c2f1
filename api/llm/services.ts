// Services that speak the formats of OpenAI or Anthropic at an address of their own: GwModel providers without code.
import type { ProviderFormat } from '../ir/types.gen.ts'
import type { ModelProvider } from '../v1alpha1/gwmodel.gen.ts'
import type { ProviderName, PROVIDERS } from './providers.ts'

export interface Service {
  /** undefined: has no public address; a GwModel names its own in `baseURL`. */
  readonly host: string | undefined
  readonly pathPrefix: string
  readonly formats: readonly ProviderFormat[]
}

const CHAT: readonly ProviderFormat[] = [{ type: 'Completions' }]
const CHAT_AND_EMBEDDINGS: readonly ProviderFormat[] = [...CHAT, { type: 'Embeddings' }]
const CHAT_AND_RESPONSES: readonly ProviderFormat[] = [...CHAT, { type: 'Responses' }]
const RERANK: ProviderFormat = { type: 'Rerank' }
/** In addition to the other formats, at its own path. */
const MESSAGES_APART: ProviderFormat = { type: 'Messages', path: '/anthropic/v1/messages' }

export type ServiceName = Exclude<ModelProvider, (typeof PROVIDERS)[ProviderName]['modelProvider']>

/**
 * Named above each: its documentation. Addresses were compared with it, those of Fireworks, Mistral, Openrouter,
 * TogetherAI and XAI with client libraries as well or instead (November 2026). Formats: resources supplement,
 * section 1.8. A path of a format replaces the prefix.
 */
export const SERVICES: { readonly [N in ServiceName]: Service } = {
  // https://docs.cohere.com/docs/compatibility-api
  Cohere: {
    host: 'api.cohere.ai',
    pathPrefix: '/compatibility/v1',
    formats: [...CHAT_AND_EMBEDDINGS, { type: 'Rerank', path: '/v2/rerank' }],
  },
  // https://docs.baseten.co/reference/inference-api/chat-completions
  Baseten: { host: 'inference.baseten.co', pathPrefix: '/v1', formats: [...CHAT, { type: 'Messages' }] },
  // https://inference-docs.cerebras.ai
  Cerebras: { host: 'api.cerebras.ai', pathPrefix: '/v1', formats: CHAT },
  // https://deepinfra.com/docs/advanced/openai_api
  Deepinfra: {
    host: 'api.deepinfra.com',
    pathPrefix: '/v1/openai',
    formats: [...CHAT_AND_EMBEDDINGS, MESSAGES_APART],
  },
  // https://api-docs.deepseek.com (with /v1 for the sake of OpenAI clients), and its guide to the Anthropic API
  Deepseek: { host: 'api.deepseek.com', pathPrefix: '/v1', formats: [...CHAT, MESSAGES_APART] },
  // https://console.groq.com/docs/openai
  Groq: { host: 'api.groq.com', pathPrefix: '/openai/v1', formats: CHAT_AND_RESPONSES },
  // https://huggingface.co/changelog/inference-providers-openai-compatible
  Huggingface: { host: 'router.huggingface.co', pathPrefix: '/v1', formats: CHAT_AND_RESPONSES },
  // https://docs.mistral.ai/api
  Mistral: { host: 'api.mistral.ai', pathPrefix: '/v1', formats: CHAT_AND_EMBEDDINGS },
  // https://openrouter.ai/docs/api-reference/overview
  Openrouter: {
    host: 'openrouter.ai',
    pathPrefix: '/api/v1',
    formats: [...CHAT_AND_EMBEDDINGS, { type: 'Messages' }, { type: 'Responses' }, RERANK],
  },
  // https://docs.together.ai/docs/openai-api-compatibility
  TogetherAI: { host: 'api.together.xyz', pathPrefix: '/v1', formats: [...CHAT_AND_EMBEDDINGS, RERANK] },
  // https://docs.x.ai/docs/api-reference
  XAI: { host: 'api.x.ai', pathPrefix: '/v1', formats: [...CHAT_AND_RESPONSES, { type: 'Realtime' }] },
  // https://docs.fireworks.ai/tools-sdks/openai-compatibility
  Fireworks: {
    host: 'api.fireworks.ai',
    pathPrefix: '/inference/v1',
    formats: [...CHAT_AND_EMBEDDINGS, { type: 'Messages' }, { type: 'Responses' }, RERANK],
  },
  Ollama: {
    host: undefined,
    pathPrefix: '/v1',
    formats: [...CHAT_AND_EMBEDDINGS, { type: 'Responses' }],
  },
}

// Object.keys loses the type of the keys, which are exactly the names.
export const SERVICE_NAMES = Object.keys(SERVICES) as readonly ServiceName[]

/** `gen_ai.provider.name` in logs, metrics and spans, and name in standalone files. */
export function serviceId(name: ServiceName): string {
  return name.toLowerCase()
}

export function isService(provider: ModelProvider): provider is ServiceName {
  return Object.hasOwn(SERVICES, provider)
}
