// The model providers and what users call each of them. Code, configuration and logs use the names of this table; the
// fields of the resources (`p1` to `p7`) appear nowhere else. Docs: docs/contributing/adding-a-provider.md.
import type { LLMProvider } from '../v1alpha1/gwbackend.gen.ts'
import type { GwModelSpec, ModelProvider } from '../v1alpha1/gwmodel.gen.ts'

/** Field of an LLM provider of a GwBackend that selects the provider. */
export type ProviderSlot = Extract<keyof LLMProvider, `p${number}` | 'custom'>

interface ProviderEntry {
  readonly slot: ProviderSlot
  /** `provider` of a GwModel; undefined: only a GwBackend can select the provider. */
  readonly modelProvider: ModelProvider | undefined
  /** Field of a GwModel with the settings that the provider requires; undefined: none. */
  readonly modelSettings: Extract<keyof GwModelSpec, 'cloudA' | 'cloudB' | 'cloudC' | 'custom'> | undefined
  /** Beginning of the path after `baseURL` of a GwModel if the URL has no path; undefined: set by the provider. */
  readonly basePath: string | undefined
  /**
   * Block of `auth` that applies, with credentials of the environment of the proxy, where no policy sets `auth`
   * (data-plane supplement section 3.3); undefined: the backend gets what the client sent.
   */
  readonly ambientAuth: 'cloudA' | 'cloudB' | 'cloudC' | undefined
  /** Field in a standalone file. */
  readonly standaloneField: string
  /** `gen_ai.provider.name` in logs, metrics and spans. */
  readonly telemetryName: string
  /** Field of the slot that overrides the model of the request. */
  readonly modelField: 'model' | 'deploymentName'
}

export const PROVIDERS = {
  openai: {
    slot: 'p1',
    modelProvider: 'OpenAI',
    modelSettings: undefined,
    basePath: '/v1',
    ambientAuth: undefined,
    standaloneField: 'openAI',
    telemetryName: 'openai',
    modelField: 'model',
  },
  'azure-openai': {
    slot: 'p2',
    modelProvider: undefined,
    modelSettings: undefined,
    basePath: undefined,
    ambientAuth: 'cloudB',
    standaloneField: 'azure',
    telemetryName: 'azure',
    modelField: 'deploymentName',
  },
  'azure-foundry': {
    slot: 'p3',
    modelProvider: 'Azure',
    modelSettings: 'cloudB',
    basePath: undefined,
    ambientAuth: 'cloudB',
    standaloneField: 'azure',
    telemetryName: 'azure',
    modelField: 'model',
  },
  anthropic: {
    slot: 'p4',
    modelProvider: 'Anthropic',
    modelSettings: undefined,
    basePath: '/v1',
    ambientAuth: undefined,
    standaloneField: 'anthropic',
    telemetryName: 'anthropic',
    modelField: 'model',
  },
  gemini: {
    slot: 'p5',
    modelProvider: 'Gemini',
    modelSettings: undefined,
    basePath: undefined,
    ambientAuth: undefined,
    standaloneField: 'gemini',
    telemetryName: 'gcp.gemini',
    modelField: 'model',
  },
  vertex: {
    slot: 'p6',
    modelProvider: 'VertexAI',
    modelSettings: 'cloudC',
    basePath: undefined,
    ambientAuth: 'cloudC',
    standaloneField: 'vertex',
    telemetryName: 'gcp.vertex_ai',
    modelField: 'model',
  },
  bedrock: {
    slot: 'p7',
    modelProvider: 'Bedrock',
    modelSettings: 'cloudA',
    basePath: undefined,
    ambientAuth: 'cloudA',
    standaloneField: 'bedrock',
    telemetryName: 'aws.bedrock',
    modelField: 'model',
  },
  custom: {
    slot: 'custom',
    modelProvider: 'Custom',
    modelSettings: 'custom',
    basePath: undefined,
    ambientAuth: undefined,
    standaloneField: 'custom',
    telemetryName: 'custom',
    modelField: 'model',
  },
} as const satisfies Readonly<Record<string, ProviderEntry>>

export type ProviderName = keyof typeof PROVIDERS

// Object.keys loses the type of the keys, which are exactly the names.
export const PROVIDER_NAMES = Object.keys(PROVIDERS) as readonly ProviderName[]

/** The settings that a GwBackend has for the provider. */
export type SlotSettings<N extends ProviderName> = NonNullable<LLMProvider[(typeof PROVIDERS)[N]['slot']]>

/** undefined: none is set. */
export function providerIn(provider: LLMProvider): ProviderName | undefined {
  return PROVIDER_NAMES.find((name) => provider[PROVIDERS[name].slot] !== undefined)
}
