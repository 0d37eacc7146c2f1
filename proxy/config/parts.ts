// Parts of the proxy that many configurations do not use. They are loaded before the first configuration that needs
// them is compiled, and stay; compiling itself waits for nothing.
import { LatePart } from '#api/late-part.ts'
import type { RenderedConfig } from '#api/ir/types.gen.ts'
import type { TraitsRow } from '../llm/traits/traits.ts'
import { MCP_GUARDRAILS } from '../mcp/guardrails/late-guardrails.ts'
import type { OtlpEnvironment } from '../otlp/environment.ts'
import { OTLP } from '../otlp/late-otlp.ts'
import { callsServices, SERVICE_POLICIES } from '../policy/service-policies.ts'

export const LLM = new LatePart('llm', async () => {
  const [backend, failures, models, providers, traits] = await Promise.all([
    import('../llm/backend.ts'),
    import('../llm/failure-body.ts'),
    import('../llm/models.ts'),
    import('../llm/providers/table.ts'),
    import('../llm/traits/table.ts'),
  ])
  return { ...backend, ...failures, ...models, ...providers, ...traits }
})

export const MCP = new LatePart('mcp', () => import('../mcp/backend.ts'))

/** For calls of `SERVICE_POLICIES`, `MCP_GUARDRAILS` and `OTLP`. */
export const GRPC = new LatePart('gRPC', () => import('../grpc/client.ts'))

/** What the parts get from the environment of the process. */
interface PartSettings {
  readonly otlp: OtlpEnvironment
  readonly modelTraits: readonly TraitsRow[]
}

/** Before `compileSteps` with the same configuration. */
export async function loadParts(config: RenderedConfig, { otlp, modelTraits }: PartSettings): Promise<void> {
  const parts = partsFor(config, otlp)
  for (const part of parts) await part.load()
  if (parts.includes(LLM)) LLM.get().useTraits(modelTraits)
}

/** What `compileSteps` needs for a configuration, and what its requests need. */
export function partsFor(
  config: Pick<RenderedConfig, 'policies' | 'routes' | 'backends'>,
  { traces }: Pick<OtlpEnvironment, 'traces'>,
): LatePart<unknown>[] {
  const { backends } = config
  const servicePolicies = hasPayload(config, callsServices) ? [SERVICE_POLICIES] : []
  const guardrails = hasPayload(config, ({ mcpGuardrails }) => mcpGuardrails !== undefined) ? [MCP_GUARDRAILS] : []
  const otlp = traces !== undefined || hasExports(config) ? [OTLP] : []
  return [
    ...(backends.some(({ ai, models }) => ai !== undefined || models !== undefined) ? [LLM] : []),
    ...(backends.some(({ mcp }) => mcp !== undefined) ? [MCP] : []),
    ...servicePolicies,
    ...guardrails,
    ...otlp,
    ...(servicePolicies.length + guardrails.length + otlp.length > 0 ? [GRPC] : []),
  ]
}

function hasPayload(
  { policies, routes, backends }: Pick<RenderedConfig, 'policies' | 'routes' | 'backends'>,
  test: (payload: Parameters<typeof callsServices>[0] & { readonly mcpGuardrails?: unknown }) => boolean,
): boolean {
  return (
    policies.some(({ policy: { traffic = {}, backend = {} } }) => test(traffic) || test(backend)) ||
    routes.some(
      (route) =>
        test(route.inlinePolicies ?? {}) ||
        (route.backends ?? []).some(({ inlinePolicies = {} }) => test(inlinePolicies)),
    ) ||
    backends.some(
      ({ inlinePolicies = {}, ai }) =>
        test(inlinePolicies) ||
        (ai?.groups ?? []).some(({ providers }) => providers.some((provider) => test(provider.inlinePolicies ?? {}))),
    )
  )
}

function hasExports({ policies }: Pick<RenderedConfig, 'policies'>): boolean {
  return policies.some(
    ({ policy: { frontend } }) => frontend?.tracing !== undefined || frontend?.accessLog?.otlp !== undefined,
  )
}
