// The model providers and what users call each of them. Code, configuration and logs use the names of this table; the
// fields of the resources (`p1` to `p7`) appear nowhere else. Docs: docs/contributing/adding-a-provider.md.
import type { LLMProvider } from '../v1alpha1/gwbackend.gen.ts'
import type { GwModelSpec, ModelProvider } from '../v1alpha1/gwmodel.gen.ts'

/** Field of an LLM provider of a GwBackend that selects the provider. */
export type ProviderSlot = Extract<keyof LLMProvider, `p${number}` | 'custom'>

interface ProviderEntry {
  readonly slot: ProviderSlot
  /** Name in messages. */
  readonly title: string
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
  /** false: the operator rejects the provider, and the proxy answers 501. */
  readonly isServed: boolean
}

export const PROVIDERS = {
  openai: {
    slot: 'p1',
    title: 'OpenAI',
    modelProvider: 'OpenAI',
    modelSettings: undefined,
    basePath: '/v1',
    ambientAuth: undefined,
    standaloneField: 'openAI',
    telemetryName: 'openai',
    modelField: 'model',
    isServed: true,
  },
  'azure-openai': {
    slot: 'p2',
    title: 'Azure OpenAI',
    modelProvider: undefined,
    modelSettings: undefined,
    basePath: undefined,
    ambientAuth: 'cloudB',
    standaloneField: 'azure',
    telemetryName: 'azure',
    modelField: 'deploymentName',
    isServed: true,
  },
  'azure-foundry': {
    slot: 'p3',
    title: 'Azure AI Foundry',
    modelProvider: 'Azure',
    modelSettings: 'cloudB',
    basePath: undefined,
    ambientAuth: 'cloudB',
    standaloneField: 'azure',
    telemetryName: 'azure',
    modelField: 'model',
    isServed: true,
  },
  anthropic: {
    slot: 'p4',
    title: 'Anthropic',
    modelProvider: 'Anthropic',
    modelSettings: undefined,
    basePath: '/v1',
    ambientAuth: undefined,
    standaloneField: 'anthropic',
    telemetryName: 'anthropic',
    modelField: 'model',
    isServed: true,
  },
  gemini: {
    slot: 'p5',
    title: 'Google Gemini',
    modelProvider: 'Gemini',
    modelSettings: undefined,
    basePath: undefined,
    ambientAuth: undefined,
    standaloneField: 'gemini',
    telemetryName: 'gcp.gemini',
    modelField: 'model',
    isServed: true,
  },
  vertex: {
    slot: 'p6',
    title: 'Google Vertex AI',
    modelProvider: 'VertexAI',
    modelSettings: 'cloudC',
    basePath: undefined,
    ambientAuth: 'cloudC',
    standaloneField: 'vertex',
    telemetryName: 'gcp.vertex_ai',
    modelField: 'model',
    isServed: false,
  },
  bedrock: {
    slot: 'p7',
    title: 'AWS Bedrock',
    modelProvider: 'Bedrock',
    modelSettings: 'cloudA',
    basePath: undefined,
    ambientAuth: 'cloudA',
    standaloneField: 'bedrock',
    telemetryName: 'aws.bedrock',
    modelField: 'model',
    isServed: true,
  },
  custom: {
    slot: 'custom',
    title: 'Custom',
    modelProvider: 'Custom',
    modelSettings: 'custom',
    basePath: undefined,
    ambientAuth: undefined,
    standaloneField: 'custom',
    telemetryName: 'custom',
    modelField: 'model',
    isServed: true,
  },
} as const satisfies Readonly<Record<string, ProviderEntry>>

export type ProviderName = keyof typeof PROVIDERS

/** Providers that the rendered configuration can name. */
export type ServedProvider = {
  [N in ProviderName]: (typeof PROVIDERS)[N]['isServed'] extends true ? N : never
}[ProviderName]

// Object.keys loses the type of the keys, which are exactly the names.
export const PROVIDER_NAMES = Object.keys(PROVIDERS) as readonly ProviderName[]

export function isServedProvider(name: ProviderName): name is ServedProvider {
  return PROVIDERS[name].isServed
}

/** The settings that a GwBackend has for the provider. */
export type SlotSettings<N extends ProviderName> = NonNullable<LLMProvider[(typeof PROVIDERS)[N]['slot']]>

/** undefined: none is set. */
export function providerIn(provider: LLMProvider): ProviderName | undefined {
  return PROVIDER_NAMES.find((name) => provider[PROVIDERS[name].slot] !== undefined)
}
