// Targets of references in policies are reachable wherever the policies are in force, and may have policies themselves:
// follows them until nothing new is found.
import type { BackendReference } from '#api/ir/types.gen.ts'
import type { DeliveredBackend } from '../delivered-backend.ts'
import { follow, type GrowingReach, type Reach } from '../reach.ts'
import { type ReachIndex, reachLookup } from '../reach-index.ts'
import { referencesOf, type References } from '../references.ts'
import { isSameSet } from '../same.ts'
import type { TargetLookup } from './target.ts'
import { resolveTargets, type TargetQuery, type TargetResolution } from './targets.ts'

export interface LeadingPolicy {
  readonly query: TargetQuery
  readonly references: References
}

/** A policy that leads somewhere; nothing without references. */
export function leadOf(query: TargetQuery, references: readonly BackendReference[]): readonly LeadingPolicy[] {
  return references.length === 0 ? [] : [{ query, references: referencesOf(references) }]
}

/** A pool leads to its endpoint picker. */
export interface LeadingPool {
  readonly hostname: string
  readonly references: References
}

export interface Leads {
  readonly policies: readonly LeadingPolicy[]
  readonly pools: readonly LeadingPool[]
}

export interface FollowScope {
  readonly lookup: Omit<TargetLookup, 'reached'>
  /** The targets of routes. */
  readonly reach: ReadonlyMap<string, Reach>
  /** Of `reach`. */
  readonly index: ReachIndex
  readonly backends: ReadonlyMap<string, DeliveredBackend>
}

/** Returns additional targets of policies and pools; does not change its input. */
export function followPolicies(leads: Leads, scope: FollowScope): ReadonlyMap<string, Reach> {
  const { reach } = scope
  if (leads.policies.length + leads.pools.length === 0) return reach
  const policies = leads.policies.map((one) => ({ ...one, done: new Set<string>() }))
  const pools = leads.pools.map((one) => ({ ...one, done: new Set<string>() }))
  const { growing, reached, grow } = growingReach(scope)
  // Each round but the last follows a policy or pool at a Gateway for the first time; the last one adds nothing, so its
  // results are valid.
  for (let hasGrown = true; hasGrown;) {
    hasGrown = false
    const resolve = targetResolver({ ...scope.lookup, reached })
    const followAt = (gateways: Iterable<string>, references: References, done: Set<string>): void => {
      for (const key of gateways) {
        if (done.has(key) || !growing.has(key)) continue
        done.add(key)
        grow(key, references)
        hasGrown = true
      }
    }
    for (const { hostname, references, done } of pools) followAt(reached.service(hostname), references, done)
    for (const { query, references, done } of policies) {
      followAt(new Set(resolve(query).targets.flatMap(({ gateways }) => gateways)), references, done)
    }
  }
  return growing
}

/** Valid as long as the results of `lookup` stay the same. */
function targetResolver(lookup: TargetLookup): (query: TargetQuery) => TargetResolution {
  const known = new Map<TargetQuery, TargetResolution>()
  return (query) => {
    const resolution = known.get(query) ?? resolveTargets(query, lookup)
    known.set(query, resolution)
    return resolution
  }
}

/** What was reached without policies is copied before something is added to it. */
function growingReach({ reach, index, backends }: FollowScope) {
  const growing = new Map(reach)
  const own = new Map<string, GrowingReach>()
  /** By target, the Gateways that have grown to it. */
  const added = new Map<string, Map<string, ReadonlySet<number>>>()
  const reached = reachLookup((target) => {
    const grown = added.get(target)
    const known = index.at(target)
    if (grown === undefined) return known
    const others = [...grown].map(([gateway, ports]) => ({ gateway, ports }))
    return [...known.filter(({ gateway }) => !grown.has(gateway)), ...others]
  })
  const grow = (key: string, references: References): void => {
    const known = own.get(key)
    const reachOfKey = known ?? {
      services: new Map(growing.get(key)?.services),
      backends: new Set(growing.get(key)?.backends),
    }
    if (known === undefined) {
      own.set(key, reachOfKey)
      growing.set(key, reachOfKey)
    }
    follow(references, reachOfKey, backends, (target, ports) => {
      const gateways = added.get(target) ?? new Map<string, ReadonlySet<number>>()
      added.set(target, gateways.set(key, ports))
    })
  }
  return { growing, reached, grow }
}

/** The Gateways with the same targets as before keep their objects, and so does the whole. */
export function keptReach(
  before: ReadonlyMap<string, Reach> | undefined,
  now: ReadonlyMap<string, Reach>,
): ReadonlyMap<string, Reach> {
  if (before === undefined || before === now) return now
  const kept = new Map<string, Reach>()
  for (const [key, reach] of now) {
    const known = before.get(key)
    kept.set(key, known !== undefined && isSameReach(known, reach) ? known : reach)
  }
  const keys = [...before.keys()]
  return keys.length === kept.size &&
    [...kept].every(([key, reach], at) => keys[at] === key && before.get(key) === reach)
    ? before
    : kept
}

function isSameReach(a: Reach, b: Reach): boolean {
  if (a === b) return true
  if (a.services.size !== b.services.size || !isSameSet(a.backends, b.backends)) return false
  return [...a.services].every(([host, ports]) => {
    const other = b.services.get(host)
    return other !== undefined && isSameSet(ports, other)
  })
}
