// All GwPolicies: what each emits at which Gateway, who wins where two set one field of one target, and what to report.
import type { Policy, RenderedSecret } from '#api/ir/types.gen.ts'
import type { Problem } from '#api/problem.ts'
import { understood } from '#api/validate/understood.ts'
import type { GwPolicy } from '#api/v1alpha1/gwpolicy.gen.ts'
import type { Remember } from '../memory.ts'
import { namespaceOf, nameKey } from '../object-ref.ts'
import { claim, type Claims } from './claims.ts'
import { reportOtherFaults } from './faults.ts'
import { emptyReport, type FieldReport } from './field.ts'
import { fieldScope, type PolicyScope } from './scope.ts'
import { FIELD_PATHS, type SectionEmission, translateSections } from './section.ts'
import { sharedLocationProblems } from './shared-location.ts'
import type { ResolvedTarget, TargetLookup } from './target.ts'
import { resolveTargets, targetKinds, type UnattachedTarget } from './targets.ts'

export interface PolicyTranslation {
  readonly policy: GwPolicy
  readonly problems: readonly Problem[]
  readonly secrets: readonly RenderedSecret[]
  /** By Gateway key, in order. */
  readonly perGateway: ReadonlyMap<string, PolicyAtGateway>
  readonly unattached: readonly UnattachedTarget[]
  readonly hasEmissions: boolean
}

export interface PolicyAtGateway {
  readonly policies: readonly Policy[]
  /** Fields that an older policy sets on the same target, with that policy's name. */
  readonly lost: readonly LostField[]
}

export interface LostField {
  readonly field: string
  readonly winner: string
  readonly target: string
}

/** Sections whose keys start with a prefix; other backend fields have none. */
const PREFIXED_BACKEND: ReadonlySet<string> = new Set([
  'ai',
  'ai-prompt-guard',
  'backend-auth',
  'extauth',
  'mcp-guardrails',
])

/** A policy by itself, before it is known where it counts. */
export interface PolicyFields {
  readonly policy: GwPolicy
  readonly emissions: readonly SectionEmission[]
  readonly report: FieldReport
}

export function translateFields(scope: PolicyScope, remember: Remember<GwPolicy, PolicyFields>): PolicyFields[] {
  return scope.references.snapshot.GwPolicy.all.map((policy) => remember(policy, [], () => fieldsOf(policy, scope)))
}

function fieldsOf(policy: GwPolicy, scope: PolicyScope): PolicyFields {
  const report = emptyReport()
  const { object, ...faults } = understood(policy)
  // What is left of a policy whose targets have their shape (shape.ts) is one.
  const { spec } = object as GwPolicy
  const emissions = translateSections(spec, { scope: fieldScope(policy, targetKinds(policy), scope), report, faults })
  reportOtherFaults(faults, FIELD_PATHS, report)
  report.problems.push(...sharedLocationProblems(emissions.map(({ payload }) => payload)))
  return { policy, emissions, report }
}

/** `policies`: all of them, older first. */
export function attachPolicies(
  policies: readonly PolicyFields[],
  lookup: TargetLookup,
  claims: Claims,
): PolicyTranslation[] {
  return policies.map((one) => attachPolicy(one, lookup, claims))
}

function attachPolicy(
  { policy, emissions, report }: PolicyFields,
  lookup: TargetLookup,
  claims: Claims,
): PolicyTranslation {
  const { targets, unattached } = resolveTargets(policy, lookup.snapshot, lookup)
  const perGateway = new Map<string, { policies: Policy[]; lost: LostField[] }>()
  for (const target of targets) {
    for (const key of target.gateways) {
      if (!perGateway.has(key)) perGateway.set(key, { policies: [], lost: [] })
    }
    for (const emission of emissions) {
      const { won, lost } = settle(policy, target, { emission, claims })
      for (const key of target.gateways) {
        const at = perGateway.get(key)
        if (won !== undefined) at?.policies.push(renderPolicy(policy, target, won))
        at?.lost.push(...lost)
      }
    }
  }
  return {
    policy,
    problems: report.problems,
    secrets: report.secrets,
    perGateway,
    unattached,
    hasEmissions: emissions.length > 0,
  }
}

interface Settled {
  /** What is left of the emission for this policy. */
  readonly won: SectionEmission | undefined
  readonly lost: readonly LostField[]
}

/** Fields are whole units, but for backend.ai, which the proxy merges by sub-field. */
function settle(
  policy: GwPolicy,
  target: ResolvedTarget,
  { emission, claims }: { readonly emission: SectionEmission; readonly claims: Claims },
): Settled {
  const { accumulates, section, suffix, field, payload } = emission
  if (accumulates) return { won: emission, lost: [] }
  const phase = section === 'traffic' ? (policy.spec.traffic?.phase ?? 'PostRouting') : ''
  const owner = nameKey(namespaceOf(policy), policy.metadata.name)
  const claimUnit = (unit: string): string | undefined =>
    claim(claims, { section, phase, suffix: unit, target: target.key }, owner)
  const ai = payload.backend?.ai
  if (ai === undefined) {
    const winner = claimUnit(suffix)
    return winner === undefined
      ? { won: emission, lost: [] }
      : { won: undefined, lost: [{ field, winner, target: target.key }] }
  }
  const lost = Object.keys(ai).flatMap((part): LostField[] => {
    const winner = claimUnit(`${suffix}.${part}`)
    return winner === undefined ? [] : [{ field: `${field}.${part}`, winner, target: target.key }]
  })
  const isLost = (part: string): boolean => lost.some((one) => one.field === `${field}.${part}`)
  const kept = Object.fromEntries(Object.entries(ai).filter(([part]) => !isLost(part)))
  const won = { ...emission, payload: { backend: { ai: kept } } }
  return { won: Object.keys(kept).length === 0 ? undefined : won, lost }
}

function renderPolicy(policy: GwPolicy, target: ResolvedTarget, emission: SectionEmission): Policy {
  const namespace = namespaceOf(policy)
  const { name } = policy.metadata
  const isTraffic = emission.section === 'traffic'
  return {
    key: `${prefixOf(emission)}${namespace}/${name}:${emission.suffix}:${target.keySuffix}`,
    name: { kind: 'GwPolicy', namespace, name },
    target: target.target,
    ...(isTraffic && policy.spec.traffic?.phase === 'PreRouting' && { phase: 'PreRouting' as const }),
    ...(isTraffic && policy.spec.strategy?.inheritance === 'Override' && { inheritance: 'Override' as const }),
    policy: emission.payload,
  }
}

function prefixOf({ section, suffix }: SectionEmission): string {
  if (section !== 'backend') return `${section}/`
  return PREFIXED_BACKEND.has(suffix) ? 'backend/' : ''
}
