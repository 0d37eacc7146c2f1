// Targets of references in policies are reachable wherever the policies are in force, and may have policies themselves:
// follows them until nothing new is found.
import type { BackendReference } from '#api/ir/types.gen.ts'
import type { DeliveredBackend } from '../delivered-backend.ts'
import type { Memory, Remember } from '../memory.ts'
import { follow, type Followed, type Following, isSameFollowed } from '../reach.ts'
import { type ReachingAt, type ReachLookup, reachLookup } from '../reach-index.ts'
import { referencesOf, type References } from '../references.ts'
import { isSameMap } from '../same.ts'
import type { TargetKind, TargetLookup } from './target.ts'
import { resolveTargets, targetKind, type TargetQuery, type TargetResolution } from './targets.ts'

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

/** Lookups are tracked: what they return may change in the next translation. */
export interface FollowScope {
  readonly lookup: Omit<TargetLookup, 'reached'>
  /** What the routes reach. */
  readonly direct: ReachLookup & ReachingAt
  readonly backends: ReadonlyMap<string, DeliveredBackend>
}

/** By Gateway: only those where policies or pools lead somewhere. */
export type FollowedAt = ReadonlyMap<string, Followed>

/** `gateways`: their keys. */
type FollowPolicies = (leads: Leads, gateways: readonly string[], scope: FollowScope) => FollowedAt

/** Each policy is resolved again only if what was read for its targets has changed. */
export function policyFollower(memory: Memory): FollowPolicies {
  const known = memory.table<object, FollowedAt>()
  const resolutions = memory.table<TargetQuery, TargetResolution>()
  return (leads, gateways, scope) => {
    if (leads.policies.length + leads.pools.length === 0) return NOWHERE
    return known(known, [gateways, scope.backends, leads.policies, leads.pools], (before) =>
      keptFollowed(before, followAll(leads, new Set(gateways), { ...scope, resolutions })),
    )
  }
}

const NOWHERE: FollowedAt = new Map()

interface FollowingScope extends FollowScope {
  readonly resolutions: Remember<TargetQuery, TargetResolution>
}

function followAll(leads: Leads, gateways: ReadonlySet<string>, scope: FollowingScope): FollowedAt {
  const { lookup, direct, resolutions } = scope
  const policies = leads.policies.map((one) => ({ ...one, done: new Set<string>() }))
  const pools = leads.pools.map((one) => ({ ...one, done: new Set<string>() }))
  const { following, reached, grow } = growingReach(scope)
  /** Whether it was new at one of them. */
  const followAt = (at: Iterable<string>, references: References, done: Set<string>): boolean => {
    const found = [...at].filter((key) => !done.has(key) && gateways.has(key))
    for (const key of found) {
      done.add(key)
      grow(key, references)
    }
    return found.length > 0
  }
  const followRound = (some: typeof policies, resolve: (query: TargetQuery) => TargetResolution): boolean => {
    let hasGrown = false
    for (const { hostname, references, done } of pools) {
      hasGrown = followAt(new Set(reached.service(hostname)), references, done) || hasGrown
    }
    for (const { query, references, done } of some) {
      const at = new Set(resolve(query).targets.flatMap((target) => target.gateways))
      hasGrown = followAt(at, references, done) || hasGrown
    }
    return hasGrown
  }
  let hasGrown = followRound(policies, (query) =>
    resolutions(query, [], () => resolveTargets(query, { ...lookup, reached: direct })),
  )
  const onReached = policies.filter(({ query }) => hasReachedTargets(query))
  // Each round but the last follows a policy or pool at a Gateway for the first time; the last one adds nothing, so its
  // results are valid.
  while (hasGrown) hasGrown = followRound(onReached, targetResolver({ ...lookup, reached }))
  return following
}

/** Policies on other targets are in force wherever these are, whatever is reached there. */
const REACHED_KINDS: ReadonlySet<TargetKind | undefined> = new Set<TargetKind>([
  'Service',
  'GwBackend',
  'InferencePool',
])

function hasReachedTargets({ targetRefs = [], targetSelectors = [] }: TargetQuery): boolean {
  return [...targetRefs, ...targetSelectors].some((target) => REACHED_KINDS.has(targetKind(target)))
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

function growingReach({ direct, backends }: FollowScope) {
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
  return { following, reached, grow }
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
