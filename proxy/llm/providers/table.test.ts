// Requests to each provider: host, path and format, by the format of the client.
import { describe, expect, it } from 'vitest'
import type { AIProvider } from '#api/ir/types.gen.ts'
import { type ProviderName, PROVIDERS } from '#api/llm/providers.ts'
import { providerHost, rerankHost } from '../../backend/provider-address.ts'
import { FORMATS } from '../formats/table.ts'
import { isServed, type ProviderProfile, providerProfile } from './table.ts'

type Asked = Readonly<Record<string, string>>

/** Format and path of what is sent, by the format of the client. */
function asked(profile: ProviderProfile, model = 'the-model'): Asked {
  return Object.fromEntries(
    Object.values(FORMATS).flatMap(({ name }) => {
      const sent = profile.conversion(name, model)?.sent
      return sent === undefined ? [] : [[name, `${sent.name} ${profile.path(sent, model, false)}`]]
    }),
  )
}

function profileOf(settings: AIProvider['provider'], more: Partial<AIProvider> = {}): ProviderProfile {
  const profile = providerProfile({ name: 'p', provider: settings, ...more })
  if (profile === undefined) throw new Error('the provider is not served')
  return profile
}

const CUSTOM: AIProvider['provider'] = {
  custom: { formats: [{ type: 'Messages', path: '/own' }, { type: 'Rerank' }, { type: 'Realtime' }] },
}

const CASES: { readonly [N in ProviderName]: readonly [AIProvider['provider'], string | undefined, Asked] } = {
  openai: [
    { openai: { model: 'm' } },
    'api.openai.com',
    {
      Completions: 'Completions /v1/chat/completions',
      Messages: 'Completions /v1/chat/completions',
      Responses: 'Responses /v1/responses',
      GenerateContent: 'Completions /v1/chat/completions',
      Embeddings: 'Embeddings /v1/embeddings',
      Rerank: 'Rerank /v1/rerank',
      Realtime: 'Realtime /v1/realtime',
    },
  ],
  'azure-openai': [
    { 'azure-openai': { host: 'res.openai.azure.com', resourceType: 'OpenAI' } },
    'res.openai.azure.com',
    {
      Completions: 'Completions /openai/v1/chat/completions',
      Messages: 'Completions /openai/v1/chat/completions',
      Responses: 'Responses /openai/v1/responses',
      GenerateContent: 'Completions /openai/v1/chat/completions',
      Embeddings: 'Embeddings /openai/v1/embeddings',
      Rerank: 'Rerank /openai/v1/rerank',
    },
  ],
  'azure-foundry': [
    { 'azure-foundry': { host: 'res.services.ai.azure.com', resourceType: 'Foundry' } },
    'res.services.ai.azure.com',
    {
      Completions: 'Completions /api/projects/res/openai/v1/chat/completions',
      Messages: 'Completions /api/projects/res/openai/v1/chat/completions',
      Responses: 'Responses /api/projects/res/openai/v1/responses',
      GenerateContent: 'Completions /api/projects/res/openai/v1/chat/completions',
      Embeddings: 'Embeddings /api/projects/res/openai/v1/embeddings',
      Rerank: 'Rerank /api/projects/res/openai/v1/rerank',
    },
  ],
  anthropic: [
    { anthropic: { model: 'm' } },
    'api.anthropic.com',
    {
      Completions: 'Messages /v1/messages',
      Messages: 'Messages /v1/messages',
      Responses: 'Messages /v1/messages',
      GenerateContent: 'Messages /v1/messages',
      AnthropicTokenCount: 'AnthropicTokenCount /v1/messages/count_tokens',
    },
  ],
  gemini: [
    { gemini: { model: 'm' } },
    'generativelanguage.googleapis.com',
    {
      Completions: 'GenerateContent /v1beta/models/the-model:generateContent',
      Messages: 'GenerateContent /v1beta/models/the-model:generateContent',
      Responses: 'GenerateContent /v1beta/models/the-model:generateContent',
      Embeddings: 'Embeddings /v1beta/openai/embeddings',
      GenerateContent: 'GenerateContent /v1beta/models/the-model:generateContent',
      GeminiCountTokens: 'GeminiCountTokens /v1beta/models/the-model:countTokens',
      AnthropicTokenCount: 'GeminiCountTokens /v1beta/models/the-model:countTokens',
    },
  ],
  vertex: [
    { vertex: { projectId: 'my-project', region: 'europe-west4' } },
    'europe-west4-aiplatform.googleapis.com',
    {
      Completions: 'Completions /v1/projects/my-project/locations/europe-west4/endpoints/openapi/chat/completions',
      Messages: 'Completions /v1/projects/my-project/locations/europe-west4/endpoints/openapi/chat/completions',
      Responses: 'Completions /v1/projects/my-project/locations/europe-west4/endpoints/openapi/chat/completions',
      GenerateContent: 'Completions /v1/projects/my-project/locations/europe-west4/endpoints/openapi/chat/completions',
      Embeddings: 'Predict /v1/projects/my-project/locations/europe-west4/publishers/google/models/the-model:predict',
      Rerank: 'Rank /v1/projects/my-project/locations/europe-west4/rankingConfigs/default_ranking_config:rank',
    },
  ],
  bedrock: [
    { bedrock: { region: 'eu-west-1' } },
    'bedrock-runtime.eu-west-1.amazonaws.com',
    {
      Completions: 'Converse /model/the-model/converse',
      Messages: 'Converse /model/the-model/converse',
      Responses: 'Converse /model/the-model/converse',
      GenerateContent: 'Converse /model/the-model/converse',
      Embeddings: 'TitanEmbeddings /model/the-model/invoke',
      Rerank: 'BedrockRerank /rerank',
    },
  ],
  custom: [
    CUSTOM,
    undefined,
    {
      Completions: 'Messages /own',
      Messages: 'Messages /own',
      Responses: 'Messages /own',
      GenerateContent: 'Messages /own',
      Rerank: 'Rerank /v1/rerank',
      Realtime: 'Realtime /v1/realtime',
    },
  ],
}

describe('a provider', () => {
  it.each(Object.entries(CASES))('%s is asked at its host and paths', (name, [settings, host, paths]) => {
    const profile = profileOf(settings)
    expect(asked(profile)).toEqual(paths)
    expect([profile.defaultHost, providerHost({ name: 'p', provider: settings })]).toEqual([host, host])
    expect(profile.telemetryName).toBe(Object.entries(PROVIDERS).find(([one]) => one === name)?.[1].telemetryName)
  })

  it('has other formats for Claude', () => {
    const azure = { host: 'res.services.ai.azure.com', resourceType: 'Foundry' } as const
    expect(asked(profileOf({ 'azure-foundry': azure }), 'claude-opus-4-1')).toEqual({
      Completions: 'Messages /anthropic/v1/messages',
      Messages: 'Messages /anthropic/v1/messages',
      Responses: 'Messages /anthropic/v1/messages',
      GenerateContent: 'Messages /anthropic/v1/messages',
      AnthropicTokenCount: 'AnthropicTokenCount /anthropic/v1/messages/count_tokens',
    })
  })

  it('has the name of its service in telemetry', () => {
    expect(profileOf(CUSTOM, { service: 'groq' }).telemetryName).toBe('groq')
  })

  it.each<[string, string | undefined, AIProvider['provider'], Partial<AIProvider>?]>([
    ['Vertex AI', 'discoveryengine.googleapis.com', { vertex: { projectId: 'p', region: 'eu' } }],
    ['Bedrock', 'bedrock-agent-runtime.us-east-1.amazonaws.com', { bedrock: {} }],
    ['Bedrock at another host', undefined, { bedrock: {} }, { hostOverride: { host: 'h', port: 1 } }],
    ['OpenAI', undefined, { openai: {} }],
  ])('%s has its own host for rerank: %s', (_, host, provider, more) => {
    expect(rerankHost({ name: 'p', provider, ...more })).toBe(host)
  })

  it('is called at the prefix or path of the user', () => {
    expect(asked(profileOf({ anthropic: {} }, { pathPrefix: '/own/' }))).toMatchObject({
      Messages: 'Messages /own/messages',
    })
    expect(asked(profileOf({ anthropic: {} }, { pathOverride: '/all' }))).toMatchObject({ Messages: 'Messages /all' })
    expect(asked(profileOf(CUSTOM, { pathPrefix: '/own' }))).toMatchObject({
      Messages: 'Messages /own',
      Rerank: 'Rerank /own/rerank',
    })
  })

  it('with a format whose path names the model is called at the beginning that the user sets', () => {
    const formats = (path?: string): AIProvider['provider'] => ({
      custom: { formats: [{ type: 'GenerateContent', ...(path !== undefined && { path }) }] },
    })
    const pathOf = (profile: ProviderProfile): string | undefined => asked(profile)['GenerateContent']
    const end = '/models/the-model:generateContent'
    expect(pathOf(profileOf(formats()))).toBe(`GenerateContent /v1beta${end}`)
    expect(pathOf(profileOf(formats(), { pathPrefix: '/own/' }))).toBe(`GenerateContent /own${end}`)
    expect(pathOf(profileOf(formats('/v1')))).toBe(`GenerateContent /v1${end}`)
  })

  it('that is not supported has no profile and no host', () => {
    const provider: AIProvider = { name: 'p', provider: { unsupported: { provider: 'none', message: 'm' } } }
    expect([providerProfile(provider), providerHost(provider)]).toEqual([undefined, undefined])
    const backend = { key: 'k', name: { namespace: 'n', name: 'b' } }
    expect(isServed({ ...backend, ai: { groups: [{ providers: [provider] }] } })).toBe(false)
    expect(isServed({ ...backend, ai: { groups: [{ providers: [provider, { name: 'q', provider: CUSTOM }] }] } })).toBe(
      true,
    )
    expect([isServed(undefined), isServed({ ...backend, unsupported: 'm' }), isServed(backend)]).toEqual([
      false,
      false,
      true,
    ])
  })
})
