// LLM backends: one provider, or groups of providers in the order of priority.
import type { AIBackend, AIProvider, AzureProvider, ProviderSettings } from '#api/ir/types.gen.ts'
import { AZURE_HOSTS } from '#api/llm/azure.ts'
import { FORMATS } from '#api/llm/formats.ts'
import { PROVIDER_NAMES, type ProviderName, PROVIDERS } from '#api/llm/providers.ts'
import { pathTo } from '../field-path.ts'
import type { AiBackendFields, NamedProviderFields, ProviderFields } from '../schema/backends.ts'
import { backendSide, refuseMcpPolicies } from './backend-policies.ts'
import type { BuildContext } from './context.ts'
import { defined } from './defined.ts'

export function aiBody(fields: AiBackendFields, path: string, context: BuildContext): AIBackend {
  if (!('groups' in fields)) return { groups: [{ providers: [renderProvider(fields, path, context)] }] }
  const names = new Map<string, string>()
  return {
    groups: fields.groups.map(({ providers }, group) => ({
      providers: providers.map((provider, index) => {
        const at = pathTo(path, 'groups', group, 'providers', index)
        const former = names.get(provider.name)
        if (former !== undefined) context.error(pathTo(at, 'name'), `the name is already used by ${former}`)
        names.set(provider.name, at)
        return renderProvider(provider, at, context)
      }),
    })),
  }
}

/** `path`: of the provider. */
export function renderProvider(fields: NamedProviderFields, path: string, context: BuildContext): AIProvider {
  const { name, provider, hostOverride, pathOverride, pathPrefix, tokenize, policies } = fields
  if (provider.custom !== undefined && hostOverride === undefined) {
    context.error(pathTo(path, 'hostOverride'), 'is required with a custom provider: host:port of its server')
  }
  if (pathOverride !== undefined && pathPrefix !== undefined) {
    context.error(pathTo(path, 'pathPrefix'), 'must not be set together with pathOverride')
  }
  const side = policies === undefined ? undefined : backendSide(policies, pathTo(path, 'policies'), context)
  if (side !== undefined) refuseMcpPolicies(side, pathTo(path, 'policies'), context)
  return {
    name,
    provider: renderSettings(provider),
    ...defined({ hostOverride, pathOverride, pathPrefix, tokenize, inlinePolicies: side?.payload }),
  }
}

type FieldsOf<N extends ProviderName> = NonNullable<ProviderFields[(typeof PROVIDERS)[N]['standaloneField']]>

const AZURE_TYPES = { openAI: 'OpenAI', foundry: 'Foundry' } as const

const SETTINGS: { readonly [N in ProviderName]: (fields: FieldsOf<N>) => NonNullable<ProviderSettings[N]> } = {
  openai: defined,
  'azure-openai': azureOf,
  'azure-foundry': azureOf,
  anthropic: defined,
  gemini: defined,
  vertex: ({ projectId, ...rest }) => ({ projectId, ...defined(rest) }),
  bedrock: ({ model, region, guardrailIdentifier: identifier, guardrailVersion: version }) => ({
    ...defined({ model, region }),
    ...(identifier !== undefined && version !== undefined && { guardrail: { identifier, version } }),
  }),
  custom: ({ model, formats }) => ({
    formats: formats.map(({ type, path }) => ({ type: FORMATS[type], ...defined({ path }) })),
    ...defined({ model }),
  }),
}

/** One field of the file has the settings of both providers of Azure. */
function azureOf({ resourceName, resourceType, projectName, ...rest }: FieldsOf<'azure-foundry'>): AzureProvider {
  const type = AZURE_TYPES[resourceType]
  const host = resourceName.toLowerCase() + AZURE_HOSTS[type]
  return { host, resourceType: type, ...defined({ project: projectName, ...rest }) }
}

/** The schema accepts exactly one provider. */
function renderSettings(fields: ProviderFields): ProviderSettings {
  const name = PROVIDER_NAMES.find((one) => fields[PROVIDERS[one].standaloneField] !== undefined)
  return name === undefined ? {} : { [name]: settingsFrom(name, fields) }
}

function settingsFrom<N extends ProviderName>(name: N, fields: ProviderFields): NonNullable<ProviderSettings[N]> {
  // The compiler does not relate the field name to the settings of that name.
  return SETTINGS[name](fields[PROVIDERS[name].standaloneField] as FieldsOf<N>)
}
