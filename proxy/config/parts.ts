// Parts of the proxy that many configurations do not use. They are loaded before the first configuration that needs
// them is compiled, and stay; compiling itself waits for nothing.
import { LatePart } from '#api/late-part.ts'
import { listChanges } from '#api/incremental/list-change.ts'
import { eachOf, type Steps } from '#api/incremental/steps.ts'
import type { Backend, Policy, RenderedConfig, Route } from '#api/ir/types.gen.ts'
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

/** In the order in which they are loaded. */
const PARTS: readonly LatePart<unknown>[] = [LLM, MCP, SERVICE_POLICIES, MCP_GUARDRAILS, OTLP, GRPC]
/** These call services over gRPC. */
const CALLING: ReadonlySet<LatePart<unknown>> = new Set([SERVICE_POLICIES, MCP_GUARDRAILS, OTLP])

/** What the parts get from the environment of the process. */
interface PartSettings {
  readonly otlp: Pick<OtlpEnvironment, 'traces'>
  readonly modelTraits: readonly TraitsRow[]
}

/** For each configuration, before `compileSteps`: the result loads its parts. */
export function partLoader({
  otlp,
  modelTraits,
}: PartSettings): (config: RenderedConfig) => Steps<() => Promise<void>> {
  const needed = new NeededParts(otlp)
  return function* (config) {
    const parts = yield* needed.stepsOf(config)
    return async () => {
      for (const part of parts) await part.load()
      if (parts.includes(LLM)) LLM.get().useTraits(modelTraits)
    }
  }
}

type Items = Pick<RenderedConfig, 'policies' | 'routes' | 'backends'>
type Payload = Parameters<typeof callsServices>[0] & { readonly mcpGuardrails?: unknown }

/** What the configurations of a worker need to be compiled, and what their requests need. */
export class NeededParts {
  readonly #found = new Set<LatePart<unknown>>()
  /** Their parts are found: of thousands of items, the next configuration has few others. */
  #known: Items = { policies: [], routes: [], backends: [] }

  constructor({ traces }: PartSettings['otlp']) {
    if (traces !== undefined) this.#found.add(OTLP)
  }

  /** Those of earlier configurations as well: they stay loaded. */
  *stepsOf({ policies, routes, backends }: Items): Steps<LatePart<unknown>[]> {
    const { policies: knownPolicies, routes: knownRoutes, backends: knownBackends } = this.#known
    yield* eachOf(addedTo(knownPolicies, policies), (policy) => this.#addOfPolicy(policy))
    yield* eachOf(addedTo(knownRoutes, routes), (route) => this.#addOfRoute(route))
    yield* eachOf(addedTo(knownBackends, backends), (backend) => this.#addOfBackend(backend))
    this.#known = { policies, routes, backends }
    const isCalling = [...this.#found].some((part) => CALLING.has(part))
    return PARTS.filter((part) => this.#found.has(part) || (part === GRPC && isCalling))
  }

  #addOfPolicy({ policy: { traffic, backend, frontend } }: Policy): void {
    this.#addOfPayload(traffic)
    this.#addOfPayload(backend)
    if (frontend?.tracing !== undefined || frontend?.accessLog?.otlp !== undefined) this.#found.add(OTLP)
  }

  #addOfRoute({ inlinePolicies, backends }: Route): void {
    this.#addOfPayload(inlinePolicies)
    for (const backend of backends) this.#addOfPayload(backend.inlinePolicies)
  }

  #addOfBackend({ inlinePolicies, ai, models, mcp }: Backend): void {
    if (ai !== undefined || models !== undefined) this.#found.add(LLM)
    if (mcp !== undefined) this.#found.add(MCP)
    this.#addOfPayload(inlinePolicies)
    for (const { providers } of ai?.groups ?? []) for (const one of providers) this.#addOfPayload(one.inlinePolicies)
  }

  #addOfPayload(payload: Payload | undefined): void {
    if (payload === undefined) return
    if (callsServices(payload)) this.#found.add(SERVICE_POLICIES)
    if (payload.mcpGuardrails !== undefined) this.#found.add(MCP_GUARDRAILS)
  }
}

function* addedTo<T>(before: readonly T[], now: readonly T[]): Generator<T> {
  for (const { added } of listChanges(before, now)) yield* added
}
