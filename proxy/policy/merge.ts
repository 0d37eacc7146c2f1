// Merges traffic policies of all levels into what applies to one rule on one listener, for each phase (resources
// supplement section 3.4). Shallow: each field is taken whole. Backend and frontend sections: merge-backend.ts.
import type { Authorization, Deny, Policy, Route, ServiceReference, TrafficPayload } from '#api/ir/types.gen.ts'
import { listenerLevels, routeLevels, serviceLevels, type ListenerPlace, type PolicyIndex } from './index.ts'

/** A value and the key of the policy (or route) it comes from: rate limits are counted by it. */
export interface Sourced<T> {
  readonly value: T
  readonly source: string
}

/** Fields of which the most specific value wins; the others accumulate. */
export type SingleTrafficField = Exclude<keyof TrafficPayload, 'authorization' | 'deny'>

export type EffectiveTraffic = {
  readonly [K in SingleTrafficField]?: Sourced<NonNullable<TrafficPayload[K]>>
} & {
  /** Rules of all levels; evaluated together. */
  readonly authorization: readonly Sourced<Authorization>[]
  /** Any entry refuses every request. */
  readonly deny: readonly Sourced<Deny>[]
}

/** One route of the delegation chain; the rule is part of it. */
export type RouteLevel = Pick<Route, 'key' | 'name' | 'inlinePolicies'>

export interface TrafficPlace extends ListenerPlace {
  /** Delegation chain, parent first; empty for what applies before a route is known. */
  readonly routes: readonly RouteLevel[]
  /** Where all backends of the rule are this one: an InferencePool may have traffic policies. */
  readonly service?: ServiceReference | undefined
}

export interface EffectiveTrafficPhases {
  readonly preRouting: EffectiveTraffic
  readonly postRouting: EffectiveTraffic
}

type Phase = 'PreRouting' | 'PostRouting'

export function effectiveTraffic(index: PolicyIndex, place: TrafficPlace): EffectiveTrafficPhases {
  return { preRouting: mergePreRouting(index, place), postRouting: mergePostRouting(index, place) }
}

/** The most specific value wins; Override has no effect here. */
function mergePreRouting(index: PolicyIndex, place: TrafficPlace): EffectiveTraffic {
  const merge = trafficMerge()
  for (const level of listenerLevels(place)) mergeAttached(merge, index.at(level), 'PreRouting')
  return merge.result()
}

function mergePostRouting(index: PolicyIndex, place: TrafficPlace): EffectiveTraffic {
  const merge = trafficMerge()
  for (const level of listenerLevels(place)) mergeAttached(merge, index.at(level), 'PostRouting')
  for (const level of place.service === undefined ? [] : serviceLevels(place.service)) {
    mergeAttached(merge, index.at(level), 'PostRouting')
  }
  for (const route of place.routes) {
    for (const level of routeLevels(route.name)) mergeAttached(merge, index.at(level), 'PostRouting')
    merge.level([{ payload: route.inlinePolicies ?? {}, source: `route/${route.key}`, isOverride: false }])
  }
  return merge.result()
}

function mergeAttached(merge: TrafficMerge, policies: readonly Policy[], phase: Phase): void {
  const members: LevelMember[] = []
  for (const { key, policy, phase: ownPhase, inheritance } of policies) {
    if (policy.traffic === undefined || (ownPhase ?? 'PostRouting') !== phase) continue
    const isOverride = phase === 'PostRouting' && inheritance === 'Override'
    members.push({ payload: policy.traffic, source: key, isOverride })
  }
  merge.level(members)
}

interface LevelMember {
  readonly payload: TrafficPayload
  readonly source: string
  readonly isOverride: boolean
}

interface TrafficMerge {
  /** Adds one level, more specific than those before. Within it the first member that sets a field has it. */
  level(members: readonly LevelMember[]): void
  result(): EffectiveTraffic
}

function trafficMerge(): TrafficMerge {
  const single: Record<string, Sourced<unknown>> = {}
  const authorization: Sourced<Authorization>[] = []
  const deny: Sourced<Deny>[] = []
  /** Fields an Override of a less specific level has fixed. */
  const locked = new Set<string>()

  function addSingle(payload: TrafficPayload, source: string, taken: Set<string>): void {
    for (const [field, value] of Object.entries(payload)) {
      if (field === 'authorization' || field === 'deny' || value === undefined) continue
      if (locked.has(field) || taken.has(field)) continue
      taken.add(field)
      single[field] = { value, source }
    }
  }

  return {
    level(members) {
      const taken = new Set<string>()
      const newlyLocked: string[] = []
      const isAuthorizationOpen = !locked.has('authorization')
      for (const { payload, source, isOverride } of members) {
        if (payload.deny !== undefined) deny.push({ value: payload.deny, source })
        if (payload.authorization !== undefined && isAuthorizationOpen) {
          authorization.push({ value: payload.authorization, source })
          if (isOverride) newlyLocked.push('authorization')
        }
        const before = new Set(taken)
        addSingle(payload, source, taken)
        if (isOverride) for (const field of taken) if (!before.has(field)) newlyLocked.push(field)
      }
      for (const field of newlyLocked) locked.add(field)
    },
    // Object.entries loses the field's type; each value came from the field of the same name.
    result: () => ({ ...(single as Omit<EffectiveTraffic, 'authorization' | 'deny'>), authorization, deny }),
  }
}
