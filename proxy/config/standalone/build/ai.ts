// LLM backends: one provider, or groups of providers in the order of priority.
import type { AIBackend, AIProvider, ProviderFormat, ProviderSettings } from '#api/ir/types.gen.ts'
import { pathTo } from '../field-path.ts'
import type { AiBackendFields, NamedProviderFields, ProviderFields } from '../schema/backends.ts'
import { backendSide } from './backend-policies.ts'
import type { BuildContext } from './context.ts'
import { defined } from './defined.ts'

type FormatName = NonNullable<ProviderFields['custom']>['formats'][number]['type']

const FORMATS: { readonly [K in FormatName]: ProviderFormat['type'] } = {
  completions: 'Completions',
  messages: 'Messages',
  responses: 'Responses',
  embeddings: 'Embeddings',
  anthropicTokenCount: 'AnthropicTokenCount',
  realtime: 'Realtime',
  rerank: 'Rerank',
}

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

function renderProvider(fields: NamedProviderFields, path: string, context: BuildContext): AIProvider {
  const { name, provider, hostOverride, pathOverride, pathPrefix, policies } = fields
  if (provider.custom !== undefined && hostOverride === undefined) {
    context.error(pathTo(path, 'hostOverride'), 'is required with a custom provider: host:port of its server')
  }
  if (pathOverride !== undefined && pathPrefix !== undefined) {
    context.error(pathTo(path, 'pathPrefix'), 'must not be set beside pathOverride')
  }
  const side = policies === undefined ? undefined : backendSide(policies, pathTo(path, 'policies'), context)
  if (side !== undefined && side.mcpRules.length > 0) {
    context.error(pathTo(path, 'policies', 'mcpAuthorization'), 'has an effect only on an mcp backend')
  }
  return {
    name,
    provider: renderSettings(provider),
    ...defined({ hostOverride, pathOverride, pathPrefix, inlinePolicies: side?.payload }),
  }
}

function renderSettings({ openAI, anthropic, custom }: ProviderFields): ProviderSettings {
  if (openAI !== undefined) return { p1: defined(openAI) }
  if (anthropic !== undefined) return { p4: defined(anthropic) }
  const formats = custom?.formats.map(({ type, path }) => ({ type: FORMATS[type], ...defined({ path }) })) ?? []
  return { custom: { formats, ...defined({ model: custom?.model }) } }
}
