// The `ai` backend: providers in groups of equal priority. In a group, a broken provider does not affect the others.
import type { AIProvider, BackendReference, ModelChoice, ProviderGroup, ProviderSettings } from '#api/ir/types.gen.ts'
import { type ProviderName, PROVIDERS, providerIn, type SlotSettings } from '#api/llm/providers.ts'
import type { FieldPath } from '#api/problem.ts'
import type { AIBackend, LLMProvider, NamedLLMProvider } from '#api/v1alpha1/gwbackend.gen.ts'
import { isWithin } from '#api/validate/understood.ts'
import { emptyReport, type FieldReport } from '../policy/field.ts'
import { translateInline } from '../policy/inline.ts'
import { resolveReference } from '../service/reference.ts'
import { azureByEndpoint, azureByResource, endpointHost } from './azure.ts'
import { type BackendBody, type BackendContext, isBroken, withPolicies } from './context.ts'
import { hostFault } from './host-fault.ts'

/** Policies name the only provider of a backend by this. */
const SINGLE_PROVIDER_NAME = 'backend'

type ProviderContext = Omit<BackendContext, 'backend'>

interface PlacedProvider {
  readonly provider: NamedLLMProvider
  readonly path: FieldPath
}

export function renderAi(ai: AIBackend, context: BackendContext): BackendBody | undefined {
  const placed: PlacedProvider[][] =
    ai.provider === undefined
      ? (ai.groups ?? []).map(({ providers }, group) =>
          providers.map((provider, index) => ({ provider, path: `spec.ai.groups[${group}].providers[${index}]` })),
        )
      : [[{ provider: { name: SINGLE_PROVIDER_NAME, ...ai.provider }, path: 'spec.ai.provider' }]]
  const total = placed.flat().length
  const reports = new Map<PlacedProvider, FieldReport>()
  const groups = placed.map((group): ProviderGroup => ({
    providers: group.map((one) => {
      const own = emptyReport()
      reports.set(one, own)
      return renderProvider(one, { ...context, report: own })
    }),
  }))
  const broken = [...reports.values()].filter(isBroken).length
  // The whole backend is broken only if no provider in it can answer.
  const isDead = broken === total
  for (const own of reports.values()) {
    context.report.problems.push(
      ...own.problems.map((problem) => (isDead ? problem : { ...problem, severity: 'warning' as const })),
    )
    if (isBroken(own)) continue
    context.report.secrets.push(...own.secrets)
    context.report.references.push(...own.references)
  }
  if (isDead) return undefined
  const refs = groups.flatMap(({ providers }) => providers.flatMap(({ backendRef }) => backendRef ?? []))
  return { fields: { ai: { groups } }, parts: [], refs }
}

/** Also for models, which are not GwBackends. */
export function renderProvider({ provider, path }: PlacedProvider, context: ProviderContext): AIProvider {
  const { name, host, port, pathPrefix } = provider
  const { report: own } = context
  own.problems.push(...context.faults.filter((one) => isWithin(one.path, path)), ...hostFault(host, `${path}.host`))
  own.problems.push(...hostFault(provider.p2 && endpointHost(provider.p2.endpoint), `${path}.p2.endpoint`))
  if (isBroken(own)) return unsupported(name, undefined, own)
  const chosen = providerIn(provider)
  const settings = settingsOf({ provider, path }, chosen, own)
  const backendRef = customReference(provider, `${path}.custom.backendRef`, context)
  const inline = translateInline(provider.policies, { path: `${path}.policies`, place: 'provider' }, context)
  if (isBroken(own)) return unsupported(name, chosen, own)
  return {
    name,
    provider: settings,
    ...(host !== undefined && port !== undefined && { hostOverride: { host, port } }),
    ...(backendRef !== undefined && { backendRef }),
    ...(provider.path !== undefined && { pathOverride: provider.path }),
    ...(pathPrefix !== undefined && { pathPrefix }),
    ...withPolicies(inline),
  }
}

function unsupported(name: string, chosen: ProviderName | undefined, { problems }: FieldReport): AIProvider {
  return { name, provider: { unsupported: refusal(chosen, problems.map(({ message }) => message).join('\n')) } }
}

function refusal(chosen: ProviderName | undefined, message: string): NonNullable<ProviderSettings['unsupported']> {
  return { provider: chosen ?? 'none', message }
}

/** The settings of each provider that the proxy gets. */
const SETTINGS: { readonly [N in ProviderName]: (settings: SlotSettings<N>) => NonNullable<ProviderSettings[N]> } = {
  openai: modelOf,
  'azure-openai': azureByEndpoint,
  'azure-foundry': azureByResource,
  anthropic: modelOf,
  gemini: modelOf,
  vertex: ({ model, projectId, region }) => ({
    projectId,
    ...(region !== undefined && { region }),
    ...modelOf({ model }),
  }),
  bedrock: ({ model, region, guardrail }) => ({
    ...modelOf({ model }),
    ...(region !== undefined && { region }),
    ...(guardrail !== undefined && { guardrail: { identifier: guardrail.identifier, version: guardrail.version } }),
  }),
  custom: ({ model, formats }) => ({
    ...modelOf({ model }),
    formats: formats.map(({ type, path }) => ({ type, ...(path !== undefined && { path }) })),
  }),
}

function settingsOf(
  { provider, path }: PlacedProvider,
  chosen: ProviderName | undefined,
  own: FieldReport,
): ProviderSettings {
  if (chosen !== undefined) return { [chosen]: renderedSettings(chosen, provider) }
  const message = 'no provider is set'
  own.problems.push({ path, reason: 'NotYetProgrammed', message, severity: 'error' })
  return { unsupported: refusal(chosen, message) }
}

/** `provider` has settings for the name. */
function renderedSettings<N extends ProviderName>(name: N, provider: LLMProvider): NonNullable<ProviderSettings[N]> {
  // The compiler cannot relate the type of a field to the type of its settings.
  return SETTINGS[name](provider[PROVIDERS[name].slot] as SlotSettings<N>)
}

function modelOf({ model }: { readonly model?: string | undefined }): ModelChoice {
  return model === undefined ? {} : { model }
}

function customReference(
  { custom }: LLMProvider,
  path: FieldPath,
  { source, references, report }: ProviderContext,
): BackendReference | undefined {
  if (custom?.backendRef === undefined) return undefined
  const { group, kind, name, port } = custom.backendRef
  const resolved = resolveReference(
    {
      name,
      ...(group !== undefined && { group }),
      ...(kind !== undefined && { kind }),
      ...(port !== undefined && { port }),
    },
    source,
    references,
  )
  if (resolved.invalid !== undefined) report.problems.push({ path, ...resolved.invalid, severity: 'error' })
  return resolved.ref
}
