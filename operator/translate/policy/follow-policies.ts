// Targets of references in policies are reachable wherever the policies are in force, and may have policies themselves:
// follows them until nothing new is found.
import type { BackendReference } from '#api/ir/types.gen.ts'
import type { DeliveredBackend } from '../delivered-backend.ts'
import type { Memory } from '../memory.ts'
import { follow, type Followed, type Following, isSameFollowed } from '../reach.ts'
import { type ReachingAt, reachLookup } from '../reach-index.ts'
import { referencesOf, type References } from '../references.ts'
import { isSameMap, same } from '../same.ts'
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

/** Tracked: what they return may change in the next translation. */
export interface FollowLookups {
  readonly lookup: Omit<TargetLookup, 'reached'>
  /** What the routes reach. */
  readonly direct: ReachingAt
}

type Backends = ReadonlyMap<string, DeliveredBackend>

/** By Gateway: only those where policies or pools lead somewhere. */
export type FollowedAt = ReadonlyMap<string, Followed>

/** `gateways`: their keys. */
type FollowPolicies = (leads: Leads, gateways: readonly string[], backends: Backends) => FollowedAt

/** A changed target costs its policies; all of them are followed again only if one counts at other Gateways. */
export function policyFollower(memory: Memory, lookups: FollowLookups): FollowPolicies {
  const known = memory.table<object, FollowedAt>()
  const placed = memory.list((policy: LeadingPolicy, before: PlacedPolicy | undefined) =>
    placedPolicy(policy, lookups, before),
  )
  return ({ policies, pools }, gateways, backends) => {
    if (policies.length + pools.length === 0) return NOWHERE
    const leads = { policies: placed(policies), pools }
    return known(known, [gateways, backends, leads.policies, pools], (before) =>
      keptFollowed(before, followAll(leads, { ...lookups, gateways: new Set(gateways), backends })),
    )
  }
}

const NOWHERE: FollowedAt = new Map()

/** A policy at the Gateways that reach its targets without other policies. */
interface PlacedPolicy extends LeadingPolicy {
  readonly at: readonly string[]
  /** Services and backends on which that depends (`serviceTarget`, `backendTarget`): policies may lead to them. */
  readonly asked: readonly string[]
}

/** The same object while it is the same. */
function placedPolicy(
  { query, references }: LeadingPolicy,
  { lookup, direct }: FollowLookups,
  before: PlacedPolicy | undefined,
): PlacedPolicy {
  const asked = new Set<string>()
  const reached = reachLookup((target) => {
    asked.add(target)
    return direct.at(target)
  })
  const at = gatewaysOf(resolveTargets(query, { ...lookup, reached }))
  return same(before, { query, references, at: [...at], asked: [...asked] })
}

function gatewaysOf({ targets }: TargetResolution): ReadonlySet<string> {
  return new Set(targets.flatMap(({ gateways }) => gateways))
}

interface PlacedLeads {
  readonly policies: readonly PlacedPolicy[]
  readonly pools: readonly LeadingPool[]
}

interface FollowScope extends FollowLookups {
  readonly gateways: ReadonlySet<string>
  readonly backends: Backends
}

function followAll({ policies, pools }: PlacedLeads, scope: FollowScope): FollowedAt {
  const { following, added, reached, grow } = growingReach(scope)
  const done = new Map<PlacedPolicy | LeadingPool, Set<string>>()
  /** Whether it is new at one of the Gateways. */
  const followAt = (lead: PlacedPolicy | LeadingPool, at: Iterable<string>): boolean => {
    const before = done.get(lead) ?? new Set('at' in lead ? lead.at : [])
    done.set(lead, before)
    const found = [...at].filter((key) => !before.has(key) && scope.gateways.has(key))
    for (const key of found) {
      before.add(key)
      grow(key, lead.references)
    }
    return found.length > 0
  }
  for (const { at, references } of policies) {
    for (const key of at) if (scope.gateways.has(key)) grow(key, references)
  }
  // Each round but the last follows a policy or pool at a Gateway for the first time; the last one adds nothing, so its
  // results are valid. Policies to whose targets no policy leads count where they count without policies.
  const onReached = policies.filter(({ asked }) => asked.length > 0)
  for (let hasGrown = true; hasGrown;) {
    hasGrown = false
    const resolve = targetResolver({ ...scope.lookup, reached })
    for (const pool of pools) hasGrown = followAt(pool, new Set(reached.service(pool.hostname))) || hasGrown
    for (const policy of onReached) {
      if (!policy.asked.some((target) => added.has(target))) continue
      hasGrown = followAt(policy, gatewaysOf(resolve(policy.query))) || hasGrown
    }
  }
  return following
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

function growingReach({ direct, backends }: Pick<FollowScope, 'direct' | 'backends'>) {
  const following = new Map<string, Following>()
  /** By target, the Gateways that have grown to it. */
  const added = new Map<string, Map<string, ReadonlySet<number>>>()
  /** A Gateway may be there twice. */
  const reached = reachLookup((target) => {
    const [known, grown] = [direct.at(target), added.get(target)]
    return grown === undefined ? known : [...known, ...[...grown].map(([gateway, ports]) => ({ gateway, ports }))]
  })
  const grow = (key: string, references: References): void => {
    const ofGateway = following.get(key) ?? { services: new Map(), backends: new Set() }
    following.set(key, ofGateway)
    follow(references, ofGateway, backends, (target, ports) => {
      const gateways = added.get(target) ?? new Map<string, ReadonlySet<number>>()
      added.set(target, gateways.set(key, ports))
    })
  }
  return { following, added, reached, grow }
}

/** The Gateways with the same targets as before keep their objects, and so does the whole. */
function keptFollowed(before: FollowedAt | undefined, now: FollowedAt): FollowedAt {
  if (before === undefined) return now
  const kept = new Map<string, Followed>()
  for (const [key, followed] of now) {
    const known = before.get(key)
    kept.set(key, known !== undefined && isSameFollowed(known, followed) ? known : followed)
  }
  return isSameMap(before, kept) ? before : kept
}
