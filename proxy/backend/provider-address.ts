// Addresses of model providers that have one of their own (data-plane supplement section 3.3). It is below proxy/llm,
// because endpoints are counted before anything else is known of them.
import type { AIProvider, BedrockProvider, ProviderSettings } from '#api/ir/types.gen.ts'
import { isServedProvider, PROVIDER_NAMES, type ServedProvider } from '#api/llm/providers.ts'

/** Providers at their own host are called with TLS. */
export const PROVIDER_PORT = 443

type Hosts = { readonly [N in ServedProvider]: (settings: NonNullable<ProviderSettings[N]>) => string | undefined }

const HOSTS: Hosts = {
  openai: () => 'api.openai.com',
  'azure-openai': ({ host }) => host,
  'azure-foundry': ({ host }) => host,
  anthropic: () => 'api.anthropic.com',
  gemini: () => 'generativelanguage.googleapis.com',
  bedrock: (settings) => `bedrock-runtime.${bedrockRegion(settings)}.amazonaws.com`,
  custom: () => undefined,
}

const SERVED = PROVIDER_NAMES.filter(isServedProvider)

const REGION_DEFAULT = 'us-east-1'

export function bedrockRegion({ region }: BedrockProvider): string {
  return region ?? REGION_DEFAULT
}

/** undefined: the provider has no host of its own, or this version cannot call it. */
export function providerHost({ provider }: AIProvider): string | undefined {
  for (const name of SERVED) {
    const host = hostOf(name, provider)
    if (host !== undefined) return host
  }
  return undefined
}

function hostOf(name: ServedProvider, provider: ProviderSettings): string | undefined {
  const settings = provider[name]
  // The compiler does not connect the two: the settings are those that the function of the same name takes.
  const host = HOSTS[name] as (settings: unknown) => string | undefined
  return settings === undefined ? undefined : host(settings)
}
