// All GwPolicies: what each emits at which Gateway, which one wins if two set one field of a target, and their status.
import type { Policy, RenderedSecret } from '#api/ir/types.gen.ts'
import type { Problem } from '#api/problem.ts'
import type { GwPolicy } from '#api/v1alpha1/gwpolicy.gen.ts'
import { capMessage, type GatewayCaps } from '../caps.ts'
import type { Memory } from '../memory.ts'
import { namespaceOf } from '../object-ref.ts'
import { same } from '../same.ts'
import { type Claims, nameOfOwner, type OwnerId } from './claims.ts'
import { type ClaimingPolicy, denialUnit, targetsAt, unitsOf } from './claiming-policies.ts'
import { renderTargets } from './many-targets.ts'
import type { SectionEmission } from './section.ts'
import type { ResolvedTarget } from './target.ts'
import type { UnattachedTarget } from './targets.ts'

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

/** The policies where they are in force. `claims`: of all policies. */
export function policyAttacher(
  memory: Memory,
  claims: Claims,
  caps: GatewayCaps,
): (policies: readonly ClaimingPolicy[]) => readonly PolicyTranslation[] {
  return memory.list((policy: ClaimingPolicy, before: PolicyTranslation | undefined) =>
    attachPolicy(policy, { claims, caps, before }),
  )
}

interface Attaching {
  readonly claims: Claims
  readonly caps: GatewayCaps
  /** The last result for this policy, or for another one. */
  readonly before: PolicyTranslation | undefined
}

function attachPolicy(one: ClaimingPolicy, scope: Attaching): PolicyTranslation {
  const { policy, emissions, report, resolution, beyond, targets, claims, owner } = one
  const gateways = [...new Set(resolution.targets.flatMap((target) => target.gateways))]
  const settled = targets.flatMap((target) => {
    const winners = claims.has(target.key) ? scope.claims.contested(target.key) : undefined
    return emissions.map((emission): SettledTarget => ({
      target,
      emission,
      ...settle(policy, emission, { target, winnerOf: (unit) => winners?.get(unit) ?? owner, owner }),
    }))
  })
  const at = (key: string): PolicyAtGateway =>
    beyond?.has(key) === true
      ? beyondCap(one, key, scope)
      : attachedAt(policy, emissions, settledAt(settled, key, gateways))
  return {
    policy,
    problems: report.problems,
    // Most changes of a policy leave its secrets as they are.
    secrets: same(scope.before?.secrets, report.secrets),
    perGateway: new Map(gateways.map((key) => [key, keptAt(scope.before?.perGateway.get(key), at(key))])),
    unattached: resolution.unattached,
    hasEmissions: emissions.length > 0,
  }
}

/** Equal policies are the same objects as before. */
function keptAt(before: PolicyAtGateway | undefined, now: PolicyAtGateway): PolicyAtGateway {
  if (before === undefined) return now
  const policies = now.policies.map((policy, at) => same(before.policies[at], policy))
  return same(before, { ...now, policies })
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
  { policy, resolution, beyond, owner }: ClaimingPolicy,
  gateway: string,
  { caps, claims }: Attaching,
): PolicyAtGateway {
  const here = targetsAt(resolution, gateway)
  const policies = (beyond?.get(gateway) ?? []).flatMap((denial) => {
    const unit = denialUnit(policy, denial, gateway)
    const won = here.filter(({ key }) => (claims.contested(key)?.get(unit) ?? owner) === owner)
    return renderPolicies(policy, won, denial)
  })
  return { policies, lost: [], beyond: capMessage('policyTargetsMax', caps, gateway) }
}

interface Settled {
  /** What is left of the emission for this policy. */
  readonly won: SectionEmission | undefined
  readonly lost: readonly LostField[]
}

interface Contest {
  readonly target: ResolvedTarget
  readonly winnerOf: (unit: string) => OwnerId
  readonly owner: OwnerId
}

function settle(policy: GwPolicy, emission: SectionEmission, { target, winnerOf, owner }: Contest): Settled {
  const { field, payload } = emission
  const lost: LostField[] = []
  const gone = new Set<string | undefined>()
  for (const { unit, part } of unitsOf(policy, emission)) {
    const winner = winnerOf(unit)
    if (winner === owner) continue
    gone.add(part)
    lost.push({
      field: part === undefined ? field : `${field}.${part}`,
      winner: nameOfOwner(winner),
      target: target.key,
    })
  }
  const ai = emission.accumulates ? undefined : payload.backend?.ai
  if (ai === undefined) return { won: lost.length === 0 ? emission : undefined, lost }
  const kept = Object.fromEntries(Object.entries(ai).filter(([part]) => !gone.has(part)))
  const won = { ...emission, payload: { backend: { ai: kept } } }
  return { won: Object.keys(kept).length === 0 ? undefined : won, lost }
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
