// Merges traffic policies of all levels into the policies of one rule on one listener, for each phase (resources
// supplement section 3.4). Shallow: each field is copied whole. Backend and frontend sections: merge-backend.ts.
import type { Policy, Route, ServiceReference, TrafficPayload } from '#api/ir/types.gen.ts'
import type { EffectiveTraffic, EffectiveTrafficPhases, GatheredTraffic, Sourced } from '../chain/effective.ts'
import { type Phase, TRAFFIC } from './fields.ts'
import { listenerLevels, routeLevels, serviceLevels, type ListenerPlace, type PolicyIndex } from './policy-index.ts'

/** One route of the delegation chain; the rule is part of it. */
export type RouteLevel = Pick<Route, 'key' | 'name' | 'inlinePolicies'>

export interface TrafficPlace extends ListenerPlace {
  /** Delegation chain, parent first; empty before the route is known. */
  readonly routes: readonly RouteLevel[]
  /** If all backends of the rule are this one: an InferencePool may have traffic policies. */
  readonly service?: ServiceReference | undefined
}

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
  /** Adds one level, more specific than the previous ones. Within it the first member that sets a field is used. */
  level(members: readonly LevelMember[]): void
  result(): EffectiveTraffic
}

function trafficMerge(): TrafficMerge {
  const whole: Record<string, Sourced<unknown>> = {}
  const gathered: { readonly [K in GatheredTraffic]: Sourced<unknown>[] } = { authorization: [], deny: [] }
  /** Fields fixed by an Override of a less specific level. */
  const locked = new Set<string>()

  /** True: the payload sets the field now, or shares it. */
  function add(field: keyof TrafficPayload, one: Sourced<unknown>, taken: Set<string>): boolean {
    const isLockable = TRAFFIC[field].merge !== 'any'
    if (isLockable && locked.has(field)) return false
    if (isGathered(field)) gathered[field].push(one)
    else if (taken.has(field)) return false
    else {
      taken.add(field)
      whole[field] = one
    }
    return isLockable
  }

  return {
    level(members) {
      const taken = new Set<string>()
      const newlyLocked: string[] = []
      for (const { payload, source, isOverride } of members) {
        // The payload passed the schema: it only has the fields of its type.
        for (const field of Object.keys(payload) as (keyof TrafficPayload)[]) {
          const value = payload[field]
          if (value === undefined) continue
          if (add(field, { value, source }, taken) && isOverride) newlyLocked.push(field)
        }
      }
      for (const field of newlyLocked) locked.add(field)
    },
    // A record loses the types of its members; each value comes from the field of the same name.
    result: () => ({ ...whole, ...gathered }) as EffectiveTraffic,
  }
}

function isGathered(field: keyof TrafficPayload): field is GatheredTraffic {
  return TRAFFIC[field].merge !== 'whole'
}
