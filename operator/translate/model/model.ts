// One GwModel that a provider serves, as a backend of its own. An unusable model becomes a backend that rejects.
import type { AIProvider, Authorization, Backend, BackendPayload, RenderedSecret } from '#api/ir/types.gen.ts'
import { MODEL_ROUTES } from '#api/llm/formats.ts'
import { PROVIDER_NAMES, PROVIDERS } from '#api/llm/providers.ts'
import type { Problem } from '#api/problem.ts'
import type { GwModel, ModelPolicies } from '#api/v1alpha1/gwmodel.gen.ts'
import type { BackendFull } from '#api/v1alpha1/shared.gen.ts'
import { renderProvider } from '../backend/ai.ts'
import type { BackendContext } from '../backend/context.ts'
import type { DeliveredBackend } from '../delivered-backend.ts'
import { refusalOf } from '../backend/refusal.ts'
import { GW_GROUP } from '../groups.ts'
import { namespaceOf } from '../object-ref.ts'
import { authorization } from '../policy/authorization.ts'
import { emptyReport, type FieldReport } from '../policy/field.ts'
import { headerModifiers } from '../policy/header-modifiers.ts'
import { fieldScope, type PolicyScope } from '../policy/scope.ts'
import type { ReferenceScope } from '../service/reference.ts'
import { referencesOf, type References } from '../references.ts'
import { areFatal, modelFaults } from './faults.ts'
import { type BackendIdentity, modelIdentity } from './names.ts'
import { chooseProvider } from './provider.ts'
import { joinPayloads } from './payloads.ts'

export interface ModelScopes {
  readonly references: ReferenceScope
  readonly policies: PolicyScope
}

export interface ServedModel {
  readonly provider: AIProvider
  readonly authorization: readonly Authorization[]
  readonly problems: readonly Problem[]
  readonly secrets: readonly RenderedSecret[]
  readonly references: References
  /** The model is invalid, so that it can answer no request. */
  readonly isBroken: boolean
}

/** `name`: of the provider in its backend. `asked`: replaces the model of the request. */
export function serveModel(
  model: GwModel,
  { name, asked }: { readonly name: string; readonly asked: string | undefined },
  scopes: ModelScopes,
): ServedModel {
  const { faults, hasSoundPolicies } = modelFaults(model)
  if (areFatal(faults)) return malformed(name, faults)
  const report = emptyReport()
  const context = { ...contextOf(model, report, scopes), hasSoundPolicies }
  const chosen = chooseProvider(model.spec, name, asked)
  const rules = authorizationOf(model.spec.policies, context)
  const provider =
    'fault' in chosen
      ? refused(name, chosen.fault.message, () => {
          report.problems.push({ ...chosen.fault, reason: 'Invalid', severity: 'error' })
        })
      : renderProvider(
          { provider: { ...chosen.provider, ...backendPolicies(model.spec.policies) }, path: 'spec' },
          context,
        )
  const own = joinPayloads(provider.inlinePolicies, ...rules.denials, headersOf(model.spec.policies, context))
  const isTls = 'provider' in chosen && chosen.isTls
  const inlinePolicies = isTls && own?.tls === undefined ? { ...own, tls: {} } : own
  return {
    provider: {
      ...provider,
      ...('provider' in chosen && chosen.service !== undefined && { service: chosen.service }),
      ...(inlinePolicies !== undefined && { inlinePolicies }),
    },
    authorization: rules.rules,
    problems: [...faults, ...report.problems.map((problem) => inTermsOfModel(problem))],
    secrets: report.secrets,
    references: referencesOf([
      ...(provider.backendRef === undefined ? [] : [provider.backendRef]),
      ...report.references,
    ]),
    isBroken: provider.provider.unsupported !== undefined,
  }
}

function malformed(name: string, problems: readonly Problem[]): ServedModel {
  const message = problems.map((problem) => problem.message).join('\n')
  return {
    provider: { name, provider: { unsupported: { provider: 'none', message } } },
    authorization: [],
    problems,
    secrets: [],
    references: referencesOf([]),
    isBroken: true,
  }
}

/** The backend of a model that a provider serves. */
export function modelBackend(model: GwModel, served: ServedModel): DeliveredBackend {
  const { provider, secrets, references, isBroken, problems } = served
  const identity = modelIdentity(model)
  if (isBroken) return { rendered: [unusableBackend(identity, problems)], secrets: [], references: referencesOf([]) }
  return { rendered: [providersBackend(identity, [[provider]])], secrets, references }
}

export function providersBackend(identity: BackendIdentity, groups: readonly (readonly AIProvider[])[]): Backend {
  return {
    ...identity,
    ai: { groups: groups.map((providers) => ({ providers: [...providers] })) },
    inlinePolicies: { ai: { routes: { ...MODEL_ROUTES } } },
  }
}

export function unusableBackend(identity: BackendIdentity, problems: readonly Problem[]): Backend {
  return { ...identity, ...refusalOf(problems) }
}

type ProviderContext = Omit<BackendContext, 'backend'>

function contextOf(
  model: GwModel,
  report: FieldReport,
  { references, policies }: ModelScopes,
): Omit<ProviderContext, 'hasSoundPolicies'> {
  return {
    source: { group: GW_GROUP, kind: 'GwModel', namespace: namespaceOf(model) },
    references,
    scope: fieldScope(model, new Set(['GwModel']), policies),
    report,
    faults: [],
  }
}

function refused(name: string, message: string, report: () => void): AIProvider {
  report()
  return { name, provider: { unsupported: { provider: 'none', message } } }
}

/** The fields that a GwBackend has as well, in its order. */
function backendPolicies(policies: ModelPolicies | undefined): { policies?: BackendFull } {
  if (policies === undefined) return {}
  const { transformations, promptGuard, auth, health, tls, tunnel } = policies
  const ai = {
    ...(transformations !== undefined && { transformations }),
    ...(promptGuard !== undefined && { promptGuard }),
  }
  const shared: BackendFull = {
    ...(Object.keys(ai).length > 0 && { ai }),
    ...(auth !== undefined && { auth }),
    ...(health !== undefined && { health }),
    ...(tls !== undefined && { tls }),
    ...(tunnel !== undefined && { tunnel }),
  }
  return Object.keys(shared).length === 0 ? {} : { policies: shared }
}

interface Rules {
  readonly rules: readonly Authorization[]
  readonly denials: readonly BackendPayload[]
}

function authorizationOf(policies: ModelPolicies | undefined, { scope, report }: ProviderContext): Rules {
  if (policies?.authorization === undefined) return { rules: [], denials: [] }
  const path = 'spec.policies.authorization'
  const context = { path, field: 'policies.authorization', scope, report, moment: 'model' } as const
  const payloads = authorization.translate(policies.authorization, context).map(({ payload }) => payload)
  return {
    rules: payloads.flatMap((payload) => ('authorization' in payload ? (payload.authorization ?? []) : [])),
    denials: payloads.flatMap(({ deny }) => (deny === undefined ? [] : [{ deny }])),
  }
}

function headersOf(
  policies: ModelPolicies | undefined,
  { scope, report }: ProviderContext,
): BackendPayload | undefined {
  if (policies?.headers === undefined) return undefined
  const context = { path: 'spec.policies.headers', field: 'policies.headers', scope, report, moment: 'model' } as const
  const { requestHeaderModifier, responseHeaderModifier } = Object.assign(
    {},
    ...headerModifiers.translate(policies.headers, context).map(({ payload }) => payload),
  )
  return {
    ...(requestHeaderModifier !== undefined && { requestHeaderModifier }),
    ...(responseHeaderModifier !== undefined && { responseHeaderModifier }),
  }
}

/** What GwBackend calls `policies.ai.promptGuard`, or the field of a provider, has another name here. */
function inTermsOfModel(problem: Problem): Problem {
  const { path, message } = problem
  return {
    ...problem,
    path: SLOT_PATHS.has(path) ? 'spec.provider' : path.replace('spec.policies.ai.', 'spec.policies.'),
    message: message.replace('policies.ai.', 'policies.'),
  }
}

/** `custom` is a field of models as well. */
const SLOT_PATHS: ReadonlySet<string> = new Set(
  PROVIDER_NAMES.filter((name) => name !== 'custom').map((name) => `spec.${PROVIDERS[name].slot}`),
)
