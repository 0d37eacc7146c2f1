// GwPolicies with their targets, and the fields that they claim there: older first. A changed policy or target costs
// the policies that it concerns.
import type { GwPolicy } from '#api/v1alpha1/gwpolicy.gen.ts'
import type { GatewayCaps } from '../caps.ts'
import type { Memory } from '../memory.ts'
import { same } from '../same.ts'
import { type Claimant, ownerOf, unitOf } from './claims.ts'
import type { PolicyFields } from './policies.ts'
import { type BeyondCap, phaseOf, policyCap } from './policy-cap.ts'
import type { SectionEmission } from './section.ts'
import type { ResolvedTarget, TargetLookup } from './target.ts'
import { resolveTargets, type TargetQuery, type TargetResolution } from './targets.ts'

interface ResolvedPolicy extends PolicyFields {
  readonly resolution: TargetResolution
}

/** A policy with what it claims at which target. */
export interface ClaimingPolicy extends Claimant, ResolvedPolicy {
  /** At Gateways with room for the policy. */
  readonly targets: readonly ResolvedTarget[]
  /** Unset: every Gateway has room. */
  readonly beyond?: BeyondCap
}

/** The policies with their targets: older first, for claims. */
export function policyClaimants(
  memory: Memory,
  lookup: TargetLookup,
  caps: GatewayCaps,
): (policies: readonly PolicyFields[]) => readonly ClaimingPolicy[] {
  const resolutions = memory.table<TargetQuery, TargetResolution>()
  const claiming = memory.list((fields: PolicyFields, before: ClaimingPolicy | undefined): ClaimingPolicy => {
    const resolution = resolutions(fields.query, [], (known) => same(known, resolveTargets(fields.query, lookup)))
    const isSame = before?.policy === fields.policy && before.report === fields.report
    return isSame && before.resolution === resolution ? before : claimingPolicy({ ...fields, resolution })
  })
  const beyondCap = policyCap<ClaimingPolicy>(caps)
  const known = new WeakMap<ClaimingPolicy, { readonly text: string; readonly capped: ClaimingPolicy }>()
  const cut = (policy: ClaimingPolicy, beyond: BeyondCap): ClaimingPolicy => {
    const text = JSON.stringify([...beyond])
    const before = known.get(policy)
    if (before?.text === text) return before.capped
    const capped = claimingPolicy(policy, beyond)
    known.set(policy, { text, capped })
    return capped
  }
  return (policies) => {
    const all = claiming(policies)
    const refusals = beyondCap(all)
    if (refusals.size === 0) return all
    return all.map((one) => {
      const beyond = refusals.get(one)
      return beyond === undefined ? one : cut(one, beyond)
    })
  }
}

function claimingPolicy(resolved: ResolvedPolicy, beyond?: BeyondCap): ClaimingPolicy {
  const { policy, emissions, resolution } = resolved
  const targets =
    beyond === undefined
      ? resolution.targets
      : resolution.targets.filter(({ gateways }) => gateways.some((key) => !beyond.has(key)))
  const claims = new Map<string, string[]>()
  const add = (target: ResolvedTarget, units: readonly string[]): void => {
    if (units.length > 0) claims.set(target.key, [...(claims.get(target.key) ?? []), ...units])
  }
  const units = emissions.flatMap((emission) => unitsOf(policy, emission).map(({ unit }) => unit))
  for (const target of targets) add(target, units)
  for (const [gateway, denials] of beyond ?? []) {
    const denied = denials.map((denial) => denialUnit(policy, denial, gateway))
    for (const target of targetsAt(resolution, gateway)) add(target, denied)
  }
  return { ...resolved, owner: ownerOf(policy), claims, targets, ...(beyond !== undefined && { beyond }) }
}

/** The targets of the policy that the Gateway delivers. */
export function targetsAt({ targets }: TargetResolution, gateway: string): readonly ResolvedTarget[] {
  return targets.filter(({ gateways }) => gateways.includes(gateway))
}

/** Fields are whole units, except for backend.ai, which the proxy merges by sub-field. */
export function unitsOf(
  policy: GwPolicy,
  emission: SectionEmission,
): { readonly unit: string; readonly part?: string }[] {
  const { accumulates, section, suffix, payload } = emission
  if (accumulates) return []
  const phase = phaseOf(policy, emission)
  const ai = payload.backend?.ai
  if (ai === undefined) return [{ unit: unitOf({ section, phase, suffix }) }]
  return Object.keys(ai).map((part) => ({ unit: unitOf({ section, phase, suffix: `${suffix}.${part}` }), part }))
}

/** At another Gateway of the same targets another policy may be above the cap. */
export function denialUnit(policy: GwPolicy, denial: SectionEmission, gateway: string): string {
  const { section, suffix } = denial
  return unitOf({ section, phase: phaseOf(policy, denial), suffix: `${suffix} ${gateway}` })
}
