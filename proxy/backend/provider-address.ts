// Addresses of model providers that have one of their own (data-plane supplement section 3.3). It is below proxy/llm,
// because endpoints are counted before anything else is known of them.
import type { AIProvider, BedrockProvider, ProviderSettings } from '#api/ir/types.gen.ts'
import { PROVIDER_NAMES, type ProviderName } from '#api/llm/providers.ts'

/** Providers at their own host are called with TLS. */
export const PROVIDER_PORT = 443

type Hosts = { readonly [N in ProviderName]: (settings: NonNullable<ProviderSettings[N]>) => string | undefined }

const HOSTS: Hosts = {
  openai: () => 'api.openai.com',
  'azure-openai': ({ host }) => host,
  'azure-foundry': ({ host }) => host,
  anthropic: () => 'api.anthropic.com',
  gemini: () => 'generativelanguage.googleapis.com',
  vertex: ({ region }) => vertexHost(region),
  bedrock: (settings) => `bedrock-runtime.${bedrockRegion(settings)}.amazonaws.com`,
  custom: () => undefined,
}

const REGION_DEFAULT = 'us-east-1'

export function bedrockRegion({ region }: BedrockProvider): string {
  return region ?? REGION_DEFAULT
}

/** `us` and `eu` are several regions, with hosts of their own. */
function vertexHost(region: string | undefined): string {
  if (region === undefined || region === 'global') return 'aiplatform.googleapis.com'
  if (region === 'us' || region === 'eu') return `aiplatform.${region}.rep.googleapis.com`
  return `${region}-aiplatform.googleapis.com`
}

/** Rerank is another service of these clouds. undefined: the host is that of all requests. */
export function rerankHost({ provider, hostOverride, backendRef }: AIProvider): string | undefined {
  if (hostOverride !== undefined || backendRef !== undefined) return undefined
  if (provider.vertex !== undefined) return 'discoveryengine.googleapis.com'
  return provider.bedrock && `bedrock-agent-runtime.${bedrockRegion(provider.bedrock)}.amazonaws.com`
}

/** undefined: the provider has no host of its own, or is broken. */
export function providerHost({ provider }: AIProvider): string | undefined {
  for (const name of PROVIDER_NAMES) {
    const host = hostOf(name, provider)
    if (host !== undefined) return host
  }
  return undefined
}

function hostOf(name: ProviderName, provider: ProviderSettings): string | undefined {
  const settings = provider[name]
  // The compiler does not connect the two: the settings are those that the function of the same name takes.
  const host = HOSTS[name] as (settings: unknown) => string | undefined
  return settings === undefined ? undefined : host(settings)
}
