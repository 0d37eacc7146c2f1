// One GwBackend in rendered form. A backend that cannot be used becomes one that answers with 500 or 501: requests for
// it never go to another backend.
import type { Backend, RenderedSecret } from '#api/ir/types.gen.ts'
import type { Problem } from '#api/problem.ts'
import type { AgentCoreBackend, GwBackend } from '#api/v1alpha1/gwbackend.gen.ts'
import { GW_GROUP } from '../groups.ts'
import { keyOf, namespaceOf } from '../object-ref.ts'
import { emptyReport } from '../policy/field.ts'
import { fieldScope, type PolicyScope } from '../policy/scope.ts'
import { translateInline } from '../policy/inline.ts'
import { referencesOf, type References } from '../references.ts'
import { renderAi } from './ai.ts'
import { backendFaults, isOfProvider } from './body-faults.ts'
import { type BackendBody, type BackendContext, isBroken, withPolicies } from './context.ts'
import { agentRuntimeFault } from './agent-runtime-fault.ts'
import { hostFault } from './host-fault.ts'
import { renderMcp } from './mcp.ts'
import { refusalOf } from './refusal.ts'

export interface BackendTranslation {
  readonly backend: GwBackend
  /** The backend and its generated parts. */
  readonly rendered: readonly Backend[]
  readonly secrets: readonly RenderedSecret[]
  readonly references: References
  readonly problems: readonly Problem[]
  readonly isUsable: boolean
}

export function translateBackend(backend: GwBackend, scope: PolicyScope): BackendTranslation {
  const report = emptyReport()
  const { faults, hasSoundPolicies } = backendFaults(backend)
  const context: BackendContext = {
    backend,
    source: { group: GW_GROUP, kind: 'GwBackend', namespace: namespaceOf(backend) },
    references: scope.references,
    scope: fieldScope(backend, new Set(['GwBackend']), scope),
    report,
    faults,
    hasSoundPolicies,
  }
  report.problems.push(...faults.filter(({ path }) => !isOfProvider(path)))
  // What is in it may be anything.
  const body = isBroken(report) ? undefined : renderBody(context)
  const place = (['ai', 'mcp'] as const).find((kind) => backend.spec[kind] !== undefined) ?? 'backend'
  const inlinePolicies = translateInline(backend.spec.policies, { path: 'spec.policies', place }, context)
  if (isBroken(report) || body === undefined) return unusable(backend, report.problems)
  return {
    backend,
    rendered: [{ ...identity(backend), ...body.fields, ...withPolicies(inlinePolicies) }, ...body.parts],
    secrets: report.secrets,
    references: referencesOf([...body.refs, ...report.references]),
    problems: report.problems,
    isUsable: true,
  }
}

/** The translation of a backend that does not match the schema. */
export function unusable(backend: GwBackend, problems: readonly Problem[]): BackendTranslation {
  return {
    backend,
    rendered: [{ ...identity(backend), ...refusalOf(problems) }],
    secrets: [],
    references: { services: [], backends: [] },
    problems,
    isUsable: false,
  }
}

function identity(backend: GwBackend): Pick<Backend, 'key' | 'name'> {
  return { key: keyOf(backend), name: { namespace: namespaceOf(backend), name: backend.metadata.name } }
}

function renderBody(context: BackendContext): BackendBody | undefined {
  const { spec } = context.backend
  context.report.problems.push(
    ...hostFault(spec.static?.host, 'spec.static.host'),
    ...hostFault(spec.a2a?.host, 'spec.a2a.host'),
    ...agentRuntimeFault(spec.cloudService?.agentCore?.agentRuntimeRef),
  )
  if (spec.static !== undefined) return { fields: { static: renderStatic(spec.static) }, parts: [], refs: [] }
  if (spec.a2a !== undefined) return { fields: { static: renderStatic(spec.a2a), a2a: true }, parts: [], refs: [] }
  if (spec.dynamicForwardProxy !== undefined) return { fields: { dynamic: {} }, parts: [], refs: [] }
  if (spec.ai !== undefined) return renderAi(spec.ai, context)
  if (spec.mcp !== undefined) return renderMcp(spec.mcp, context)
  if (spec.cloudService?.agentCore !== undefined) return renderAgentCore(spec.cloudService.agentCore)
  context.report.problems.push({
    path: 'spec',
    reason: 'NotYetProgrammed',
    message: 'spec sets no backend; set exactly one of static, a2a, ai, mcp, dynamicForwardProxy, cloudService',
    severity: 'error',
  })
  return undefined
}

function renderAgentCore({ agentRuntimeRef, qualifier }: AgentCoreBackend): BackendBody {
  return {
    fields: { agentCore: { agentRuntimeRef, ...(qualifier !== undefined && { qualifier }) } },
    parts: [],
    refs: [],
  }
}

function renderStatic({ host, port, unixPath }: NonNullable<GwBackend['spec']['static']>): Backend['static'] & object {
  if (unixPath !== undefined) return { unixPath }
  return { ...(host !== undefined && { host }), ...(port !== undefined && { port }) }
}
