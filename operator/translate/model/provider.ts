// Which provider a GwModel names, in the terms of a GwBackend: the slots are the same, and so is what becomes of them.
import type { ProviderFormat } from '#api/ir/types.gen.ts'
import type { NamedLLMProvider } from '#api/v1alpha1/gwbackend.gen.ts'
import type { GwModelSpec, ModelProvider } from '#api/v1alpha1/gwmodel.gen.ts'
import { parseBaseUrl } from './base-url.ts'

export interface ChosenProvider {
  readonly provider: NamedLLMProvider
  /** The address is called with TLS, unless policies say how. */
  readonly isTls: boolean
}

export interface ProviderFault {
  readonly path: string
  readonly message: string
}

interface Service {
  readonly host: string
  readonly pathPrefix: string
  readonly formats: readonly ProviderFormat[]
}

const CHAT: readonly ProviderFormat[] = [{ type: 'Completions' }]
const CHAT_AND_EMBEDDINGS: readonly ProviderFormat[] = [...CHAT, { type: 'Embeddings' }]
const CHAT_AND_RESPONSES: readonly ProviderFormat[] = [...CHAT, { type: 'Responses' }]
const RERANK: ProviderFormat = { type: 'Rerank' }
/** Beside the other formats, at a path of its own. */
const MESSAGES_APART: ProviderFormat = { type: 'Messages', path: '/anthropic/v1/messages' }

/**
 * Services that speak the formats of OpenAI, some those of Anthropic, at an address of their own. Named above each:
 * its documentation. Addresses were compared with it, those of Fireworks, Mistral, Openrouter, TogetherAI and XAI with
 * client libraries as well or instead (November 2026). Formats: resources supplement, section 1.8. A path replaces the
 * prefix.
 */
const SERVICES: { readonly [P in ModelProvider]?: Service } = {
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
}
/** Has no address of its own; at `baseURL`. */
const OLLAMA: Omit<Service, 'host'> = {
  pathPrefix: '/v1',
  formats: [...CHAT_AND_EMBEDDINGS, { type: 'Responses' }],
}
const TLS_PORT = 443

/** `model`: asked for instead of what the request says. */
export function chooseProvider(
  spec: GwModelSpec,
  name: string,
  model: string | undefined,
): ChosenProvider | { readonly fault: ProviderFault } {
  const asked = model === undefined ? {} : { model }
  const slot = slotOf(spec, asked)
  if ('fault' in slot) return slot
  if (spec.baseURL === undefined) return { provider: { name, ...slot.fields }, isTls: slot.isTls }
  const url = parseBaseUrl(spec.baseURL)
  if ('message' in url) return { fault: { path: 'spec.baseURL', message: url.message } }
  const { host, port, isTls, pathPrefix = slot.pathPrefix } = url
  return { provider: { name, ...slot.fields, host, port, ...(pathPrefix !== undefined && { pathPrefix }) }, isTls }
}

interface Slot {
  readonly fields: Omit<NamedLLMProvider, 'name'>
  readonly isTls: boolean
  /** Beginning of the path when `baseURL` has none. */
  readonly pathPrefix?: string
}

type Asked = { readonly model?: string }

function slotOf(spec: GwModelSpec, asked: Asked): Slot | { readonly fault: ProviderFault } {
  const { provider } = spec
  if (provider === 'OpenAI') return { fields: { p1: asked }, isTls: false, pathPrefix: '/v1' }
  if (provider === 'Anthropic') return { fields: { p4: asked }, isTls: false, pathPrefix: '/v1' }
  if (provider === 'Gemini') return { fields: { p5: asked }, isTls: false }
  if (provider === 'Custom' && spec.custom !== undefined) {
    return { fields: { custom: { ...spec.custom, ...asked } }, isTls: false }
  }
  const service = provider === undefined ? undefined : SERVICES[provider]
  if (service !== undefined) return serviceSlot(service, asked)
  if (provider === 'Ollama' && spec.baseURL !== undefined) return serviceSlot({ host: '', ...OLLAMA }, asked)
  return cloudSlot(spec, asked)
}

function serviceSlot({ host, pathPrefix, formats }: Service, asked: Asked): Slot {
  const custom = { ...asked, formats: formats.map((format) => ({ ...format })) }
  return { fields: { custom, host, port: TLS_PORT, pathPrefix }, isTls: true, pathPrefix }
}

function cloudSlot({ provider, cloudA, cloudB, cloudC }: GwModelSpec, asked: Asked): Slot | { fault: ProviderFault } {
  if (provider === 'VertexAI' && cloudC !== undefined) return { fields: { p6: { ...cloudC, ...asked } }, isTls: false }
  if (provider === 'Bedrock' && cloudA !== undefined) return { fields: { p7: { ...cloudA, ...asked } }, isTls: false }
  if (provider === 'Azure' && cloudB !== undefined) return { fields: { p3: { ...cloudB, ...asked } }, isTls: false }
  const message = `provider ${provider ?? '(none)'} lacks its settings; see the reference of GwModel`
  return { fault: { path: 'spec.provider', message } }
}
