// Limits the targets of policies at each Gateway (caps.ts). A policy that does not fit is left out there as a whole; if
// it would protect traffic, the traffic of its targets is rejected.
import type { GwPolicy } from '#api/v1alpha1/gwpolicy.gen.ts'
import { type GatewayCaps, capMessage } from '../caps.ts'
import { fairlyAdmitted } from '../fair-share.ts'
import { namespaceOf } from '../object-ref.ts'
import type { FailureMode } from './field.ts'
import { BACKEND, FRONTEND, TRAFFIC } from './registry.ts'
import type { SectionEmission } from './section.ts'
import type { TargetResolution } from './targets.ts'

export interface PolicyDemand {
  readonly policy: GwPolicy
  readonly resolution: TargetResolution
  readonly emissions: readonly SectionEmission[]
}

/** By Gateway key, the policies above its limit. `demands`: older first. */
export function policiesBeyond(
  demands: readonly PolicyDemand[],
  { policyTargetsMax }: GatewayCaps,
): ReadonlyMap<string, ReadonlySet<GwPolicy>> {
  const counts = new WeakMap<TargetResolution, ReadonlyMap<string, number>>()
  const countsOf = (resolution: TargetResolution): ReadonlyMap<string, number> => {
    const known = counts.get(resolution) ?? targetsByGateway(resolution)
    counts.set(resolution, known)
    return known
  }
  const total = new Map<string, number>()
  for (const { resolution, emissions } of demands) {
    for (const [gateway, count] of countsOf(resolution)) {
      total.set(gateway, (total.get(gateway) ?? 0) + count * emissions.length)
    }
  }
  const full = [...total].filter(([, count]) => count > policyTargetsMax).map(([gateway]) => gateway)
  return new Map(
    full.map((gateway) => {
      const claimants = demands.flatMap(({ policy, resolution, emissions }) => {
        const cost = (countsOf(resolution).get(gateway) ?? 0) * emissions.length
        return cost === 0 ? [] : [{ policy, namespace: namespaceOf(policy), cost }]
      })
      const admitted = fairlyAdmitted(claimants, policyTargetsMax)
      return [gateway, new Set(claimants.flatMap(({ policy }, at) => (admitted?.[at] === false ? [policy] : [])))]
    }),
  )
}

function targetsByGateway({ targets }: TargetResolution): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { gateways } of targets) {
    for (const gateway of gateways) counts.set(gateway, (counts.get(gateway) ?? 0) + 1)
  }
  return counts
}

/** One denial for each section in which the policy would protect traffic. */
export function denialsBeyond(
  emissions: readonly SectionEmission[],
  gateway: string,
  caps: GatewayCaps,
): SectionEmission[] {
  const message = `${capMessage('policyTargetsMax', caps, gateway)}; until then its traffic is rejected`
  const guarding = emissions.filter(({ section, field }) => MODES[section].get(field) !== 'skip')
  return [...new Map(guarding.map((emission) => [emission.section, emission])).values()].map(({ section, field }) => {
    const deny = { field, message }
    return { section, field, suffix: 'beyond-cap', accumulates: false, payload: { [section]: { deny } } }
  })
}

type Registry = Readonly<Record<string, { readonly failureMode: FailureMode }>>

function modesOf(section: string, registry: Registry): ReadonlyMap<string, FailureMode> {
  return new Map(Object.entries(registry).map(([name, { failureMode }]) => [`${section}.${name}`, failureMode]))
}

const MODES: { readonly [S in SectionEmission['section']]: ReadonlyMap<string, FailureMode> } = {
  traffic: modesOf('traffic', TRAFFIC),
  frontend: modesOf('frontend', FRONTEND),
  backend: modesOf('backend', BACKEND),
}
