// Limits the targets of policies at each Gateway (caps.ts). A policy that does not fit is left out there as a whole; if
// it would protect traffic, the traffic of its targets is rejected.
import type { GwPolicy } from '#api/v1alpha1/gwpolicy.gen.ts'
import { type GatewayCaps, capMessage } from '../caps.ts'
import { fairlyAdmitted } from '../fair-share.ts'
import { sums } from '../lists.ts'
import { derived } from '../memory.ts'
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

/** Gateways without room for the policy, with the denials that it gets there for its targets. */
export type BeyondCap = ReadonlyMap<string, readonly SectionEmission[]>

/** `demands`: older first. Returns those that do not fit somewhere. */
export function policyCap<D extends PolicyDemand>(
  caps: GatewayCaps,
): (demands: readonly D[]) => ReadonlyMap<D, BeyondCap> {
  const total = sums(({ resolution, emissions }: D) =>
    [...countsOf(resolution)].map(([gateway, count]) => [gateway, count * emissions.length] as const),
  )
  const fullOf = derived((counts: ReadonlyMap<string, number>) =>
    [...counts].filter(([, count]) => count > caps.policyTargetsMax).map(([gateway]) => gateway),
  )
  const none: ReadonlyMap<D, BeyondCap> = new Map()
  return (demands) => {
    const full = fullOf(total(demands))
    return full.length === 0 ? none : refusalsOf(full, demands, caps)
  }
}

function refusalsOf<D extends PolicyDemand>(
  full: readonly string[],
  demands: readonly D[],
  caps: GatewayCaps,
): ReadonlyMap<D, BeyondCap> {
  const refused = new Map<D, Set<string>>()
  for (const gateway of full) {
    const claimants = demands.flatMap((demand) => {
      const cost = (countsOf(demand.resolution).get(gateway) ?? 0) * demand.emissions.length
      return cost === 0 ? [] : [{ demand, namespace: namespaceOf(demand.policy), cost }]
    })
    const admitted = fairlyAdmitted(claimants, caps.policyTargetsMax)
    for (const [at, { demand }] of claimants.entries()) {
      if (admitted?.[at] === false) refused.set(demand, (refused.get(demand) ?? new Set()).add(gateway))
    }
  }
  const isFirst = firstDenials()
  const older = demands.filter((demand) => refused.has(demand))
  return new Map(
    older.map((demand) => {
      const gateways = [...(refused.get(demand) ?? [])]
      const denials = gateways.map((gateway) => {
        const all = denialsBeyond(demand.emissions, gateway, caps)
        return [gateway, all.filter((denial) => isFirst(demand, gateway, denial))] as const
      })
      return [demand, new Map(denials)]
    }),
  )
}

/** Policies that name the same targets need one denial together: the oldest one has it. */
function firstDenials(): (demand: PolicyDemand, gateway: string, denial: SectionEmission) => boolean {
  const places = new Map<TargetResolution, Set<string>>()
  return ({ policy, resolution }, gateway, denial) => {
    const known = places.get(resolution) ?? new Set()
    const place = `${gateway} ${phaseOf(policy, denial)} ${denial.section}`
    const isFirst = !known.has(place)
    places.set(resolution, known.add(place))
    return isFirst
  }
}

export function phaseOf({ spec }: GwPolicy, { section }: SectionEmission): string {
  return section === 'traffic' ? (spec.traffic?.phase ?? 'PostRouting') : ''
}

const counts = new WeakMap<TargetResolution, ReadonlyMap<string, number>>()

/** By Gateway key, the number of targets. */
function countsOf(resolution: TargetResolution): ReadonlyMap<string, number> {
  const known = counts.get(resolution) ?? targetsByGateway(resolution)
  counts.set(resolution, known)
  return known
}

function targetsByGateway({ targets }: TargetResolution): ReadonlyMap<string, number> {
  const byGateway = new Map<string, number>()
  for (const { gateways } of targets) {
    for (const gateway of gateways) byGateway.set(gateway, (byGateway.get(gateway) ?? 0) + 1)
  }
  return byGateway
}

/** One denial for each section in which the policy would protect traffic. */
function denialsBeyond(emissions: readonly SectionEmission[], gateway: string, caps: GatewayCaps): SectionEmission[] {
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
