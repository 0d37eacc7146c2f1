// Credentials of providers without a policy of their own (data-plane supplement section 3.3).
import { expect, it } from 'vitest'
import type { AIProvider, BackendAuth } from '#api/ir/types.gen.ts'
import { PROVIDER_NAMES } from '#api/llm/providers.ts'
import type { BackendEnvironment } from '../backend/handler.ts'
import type { EffectiveBackend } from '../chain/effective.ts'
import { compileAiBackend } from './backend.ts'
import { defaultAuth } from './providers/table.ts'

const PROVIDERS = {
  azure: { 'azure-openai': { host: 'res.openai.azure.com', resourceType: 'OpenAI' } },
  vertex: { vertex: { projectId: 'p' } },
  anthropic: { anthropic: {} },
  bedrock: { bedrock: {} },
} as const satisfies Readonly<Record<string, AIProvider['provider']>>

/** `auth` of the policies whose filters run for the provider. */
function authOf(provider: keyof typeof PROVIDERS, own: Pick<EffectiveBackend, 'auth' | 'deny'>): unknown {
  const policies: EffectiveBackend = { mcpAuthorization: [], ...own }
  const seen: EffectiveBackend[] = []
  // Only what is called.
  const environment = {
    sectionPolicies: () => policies,
    resolveAddress: () => ({}),
    health: () => undefined,
    filters: (effective: EffectiveBackend) => {
      seen.push(effective)
      return { request: [], response: [] }
    },
  } as unknown as BackendEnvironment
  compileAiBackend({ groups: [{ providers: [{ name: 'p', provider: PROVIDERS[provider] }] }] }, policies, environment)
  expect(seen).toHaveLength(1)
  return seen[0]?.auth
}

it('are those of the environment for a provider of a cloud, unless a policy sets auth', () => {
  expect(authOf('vertex', {})).toEqual({ cloudC: { type: 'AccessToken' } })
  expect(authOf('azure', {})).toEqual({ cloudB: {} })
  const key: BackendAuth = { key: { secret: 'n/key' } }
  expect(authOf('vertex', { auth: key })).toBe(key)
})

it('are signed for the region of the provider, unless the policy has one', () => {
  expect(authOf('bedrock', {})).toEqual({ cloudA: { region: 'us-east-1' } })
  expect(authOf('bedrock', { auth: { cloudA: { serviceName: 's' } } })).toEqual({
    cloudA: { region: 'us-east-1', serviceName: 's' },
  })
  expect(authOf('bedrock', { auth: { cloudA: { region: 'r' } } })).toEqual({ cloudA: { region: 'r' } })
})

it('are those of the client for other providers', () => {
  expect(authOf('anthropic', {})).toBeUndefined()
})

it('depend on the cloud', () => {
  expect(Object.fromEntries(PROVIDER_NAMES.map((name) => [name, defaultAuth(name)]))).toEqual({
    openai: undefined,
    'azure-openai': { cloudB: {} },
    'azure-foundry': { cloudB: {} },
    anthropic: undefined,
    gemini: undefined,
    vertex: { cloudC: { type: 'AccessToken' } },
    bedrock: { cloudA: {} },
    custom: undefined,
  })
})
