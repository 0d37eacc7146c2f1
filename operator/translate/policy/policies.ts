// All GwPolicies: what each emits at which Gateway, which one wins if two set one field of a target, and their status.
import type { Policy, RenderedSecret } from '#api/ir/types.gen.ts'
import type { Problem } from '#api/problem.ts'
import { understood } from '#api/validate/understood.ts'
import type { GwPolicy } from '#api/v1alpha1/gwpolicy.gen.ts'
import type { Remember } from '../memory.ts'
import { namespaceOf, nameKey } from '../object-ref.ts'
import { capMessage, type GatewayCaps } from '../caps.ts'
import { claim, type Claim, type Claims } from './claims.ts'
import { reportOtherFaults } from './faults.ts'
import { emptyReport, type FieldReport } from './field.ts'
import { fieldScope, type PolicyScope } from './scope.ts'
import { FIELD_PATHS, type SectionEmission, translateSections } from './section.ts'
import { sharedLocationProblems } from './shared-location.ts'
import type { ResolvedTarget, TargetLookup } from './target.ts'
import { renderTargets } from './many-targets.ts'
import { denialsBeyond, policiesBeyond, type PolicyDemand } from './policy-cap.ts'
import { targetResolver } from './target-resolver.ts'
import { targetKinds, type TargetResolution, type UnattachedTarget } from './targets.ts'

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
  /** The Gateway has no room for the policy: why, and what to do. */
  readonly beyond?: string
}

export interface LostField {
  readonly field: string
  readonly winner: string
  readonly target: string
}

/** Sections whose keys start with a prefix; other backend fields have none. */
const PREFIXED_BACKEND: ReadonlySet<string> = new Set(['ai', 'backend-auth', 'extauth', 'mcp-guardrails'])

/** A policy by itself, before its targets are resolved. */
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
  // The rest of a policy with well-formed targets (shape.ts) is a policy.
  const { spec } = object as GwPolicy
  const emissions = translateSections(spec, { scope: fieldScope(policy, targetKinds(policy), scope), report, faults })
  reportOtherFaults(faults, FIELD_PATHS, report)
  report.problems.push(...sharedLocationProblems(emissions.map(({ payload }) => payload)))
  return { policy, emissions, report }
}

export interface AttachScope {
  readonly lookup: TargetLookup
  readonly claims: Claims
  readonly caps: GatewayCaps
}

/** `policies`: all of them, older first. */
export function attachPolicies(policies: readonly PolicyFields[], scope: AttachScope): PolicyTranslation[] {
  const resolve = targetResolver(scope.lookup)
  const demands = policies.map((fields) => ({ ...fields, resolution: resolve(fields.policy) }))
  const beyond = policiesBeyond(demands, scope.caps)
  const denied = deniedTargets()
  return demands.map((one) => attachPolicy(one, { ...scope, beyond, denied }))
}

interface Attaching extends AttachScope {
  readonly beyond: ReadonlyMap<string, ReadonlySet<GwPolicy>>
  readonly denied: DeniedTargets
}

type AttachedFields = PolicyFields & PolicyDemand

function attachPolicy(one: AttachedFields, scope: Attaching): PolicyTranslation {
  const { policy, emissions, report, resolution } = one
  const { targets, unattached } = resolution
  const gateways = [...new Set(targets.flatMap((target) => target.gateways))]
  const outside = new Set(gateways.filter((key) => scope.beyond.get(key)?.has(policy)))
  const inside =
    outside.size === 0 ? targets : targets.filter((target) => target.gateways.some((key) => !outside.has(key)))
  const settled = inside.flatMap((target) =>
    emissions.map((emission): SettledTarget => ({
      target,
      emission,
      ...settle(policy, target, { emission, claims: scope.claims }),
    })),
  )
  const at = (key: string): PolicyAtGateway =>
    outside.has(key) ? beyondCap(one, key, scope) : attachedAt(policy, emissions, settledAt(settled, key, gateways))
  return {
    policy,
    problems: report.problems,
    secrets: report.secrets,
    perGateway: new Map(gateways.map((key) => [key, at(key)])),
    unattached,
    hasEmissions: emissions.length > 0,
  }
}

interface SettledTarget extends Settled {
  readonly target: ResolvedTarget
  readonly emission: SectionEmission
}

function settledAt(all: readonly SettledTarget[], key: string, gateways: readonly string[]): readonly SettledTarget[] {
  return gateways.length === 1 ? all : all.filter(({ target }) => target.gateways.includes(key))
}

function attachedAt(
  policy: GwPolicy,
  emissions: readonly SectionEmission[],
  settled: readonly SettledTarget[],
): PolicyAtGateway {
  const byEmission = Map.groupBy(settled, ({ emission }) => emission)
  const policies = emissions.flatMap((emission) => {
    const winners = byEmission.get(emission) ?? []
    const whole = winners.flatMap(({ target, won }) => (won === emission ? [target] : []))
    const parts = winners.flatMap(({ target, won }) =>
      won === undefined || won === emission ? [] : renderPolicies(policy, [target], won),
    )
    return [...renderPolicies(policy, whole, emission), ...parts]
  })
  return { policies, lost: settled.flatMap(({ lost }) => lost) }
}

/** The status reports the reason; the traffic that the policy would protect is rejected. */
function beyondCap(
  { policy, emissions, resolution }: AttachedFields,
  gateway: string,
  { caps, claims, denied }: Attaching,
): PolicyAtGateway {
  const denials = denialsBeyond(emissions, gateway, caps).filter((denial) =>
    denied(resolution, [gateway, placeOfClaim(policy, denial).phase, denial.section].join(' ')),
  )
  const here = resolution.targets.filter(({ gateways }) => gateways.includes(gateway))
  const policies = denials.flatMap((emission) => {
    // At another Gateway of the same targets another policy may be above the cap.
    const claimed = { ...emission, suffix: `${emission.suffix} ${gateway}` }
    const won = here.filter((target) => settle(policy, target, { emission: claimed, claims }).won !== undefined)
    return renderPolicies(policy, won, emission)
  })
  return { policies, lost: [], beyond: capMessage('policyTargetsMax', caps, gateway) }
}

/** Whether it is the first time for these targets: policies that name the same ones need one denial together. */
type DeniedTargets = (resolution: TargetResolution, place: string) => boolean

function deniedTargets(): DeniedTargets {
  const places = new Map<TargetResolution, Set<string>>()
  return (resolution, place) => {
    const known = places.get(resolution) ?? new Set()
    const isFirst = !known.has(place)
    places.set(resolution, known.add(place))
    return isFirst
  }
}

interface Settled {
  /** What is left of the emission for this policy. */
  readonly won: SectionEmission | undefined
  readonly lost: readonly LostField[]
}

/** Fields are whole units, except for backend.ai, which the proxy merges by sub-field. */
function settle(
  policy: GwPolicy,
  target: ResolvedTarget,
  { emission, claims }: { readonly emission: SectionEmission; readonly claims: Claims },
): Settled {
  const { accumulates, suffix, field, payload } = emission
  if (accumulates) return { won: emission, lost: [] }
  const owner = nameKey(namespaceOf(policy), policy.metadata.name)
  const claimUnit = (unit: string): string | undefined =>
    claim(claims, { ...placeOfClaim(policy, emission), suffix: unit, target: target.key }, owner)
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

function placeOfClaim({ spec }: GwPolicy, { section }: SectionEmission): Pick<Claim, 'section' | 'phase'> {
  return { section, phase: section === 'traffic' ? (spec.traffic?.phase ?? 'PostRouting') : '' }
}

function renderPolicies(policy: GwPolicy, targets: readonly ResolvedTarget[], emission: SectionEmission): Policy[] {
  const namespace = namespaceOf(policy)
  const { name } = policy.metadata
  const isTraffic = emission.section === 'traffic'
  const common = {
    name: { kind: 'GwPolicy', namespace, name },
    ...(isTraffic && policy.spec.traffic?.phase === 'PreRouting' && { phase: 'PreRouting' as const }),
    ...(isTraffic && policy.spec.strategy?.inheritance === 'Override' && { inheritance: 'Override' as const }),
    policy: emission.payload,
  }
  return renderTargets(
    targets,
    common,
    (text) => `${prefixOf(emission)}${namespace}/${name}:${emission.suffix}:${text}`,
  )
}

function prefixOf({ section, suffix }: SectionEmission): string {
  if (section !== 'backend') return `${section}/`
  return PREFIXED_BACKEND.has(suffix) ? 'backend/' : ''
}
