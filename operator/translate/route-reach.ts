// What each Gateway reaches through its routes, directly or through other backends: a changed route costs its own
// references.
import { isIdentical } from '#api/incremental/identical.ts'
import { LayeredMap } from '#api/incremental/layered-map.ts'
import type { BackendReference, ExtAuthOrConditional, Route } from '#api/ir/types.gen.ts'
import type { DeliveredBackend } from './delivered-backend.ts'
import { HOSTNAMES } from './hostname-texts.ts'
import { reachJoint, reachWith } from './joined-reach.ts'
import { Keyed } from './keyed.ts'
import { keyCounts } from './lists.ts'
import {
  follow,
  type Followed,
  type Following,
  isSameFollowed,
  NO_BACKENDS,
  NO_PORTS,
  NOTHING_FOLLOWED,
  NOTHING_REACHED,
  type Reach,
  withoutPort,
  withPort,
} from './reach.ts'
import { referencesOf, type References } from './references.ts'
import { isSameInOrder } from './same.ts'

/** What routes of every kind have in common here. */
export type RouteReferences = Pick<Route, 'backends' | 'inlinePolicies'>

/** Routes of each kind that a Gateway serves. */
export interface LeadingRoutes {
  readonly routes: readonly RouteReferences[]
  readonly tcpRoutes: readonly RouteReferences[]
}

type Backends = ReadonlyMap<string, DeliveredBackend>

/** By Gateway. The same objects as last time if the backends and the references of the routes are the same. */
export function reachTracker(): (
  gateways: ReadonlyMap<string, LeadingRoutes>,
  backends: Backends,
) => ReadonlyMap<string, Reach> {
  const trackers = new Keyed(gatewayReach)
  let last: ReadonlyMap<string, Reach> = new Map()
  let inputs: readonly unknown[] = []
  return (gateways, backends) => {
    if (isIdentical(inputs, [gateways, backends])) return last
    inputs = [gateways, backends]
    const now = new Map<string, Reach>()
    for (const [key, lists] of gateways) now.set(key, trackers.at(key)(lists, backends))
    trackers.keepOnly(now)
    return (last = isSameInOrder(last, now) ? last : now)
  }
}

type GatewayReach = (lists: LeadingRoutes, backends: Backends) => Reach

/** References of routes are counted: most changes of routes do not change them. */
function gatewayReach(): GatewayReach {
  const ofRoutes = keyCounts(leadsOf)
  const ofTcpRoutes = keyCounts(leadsOf)
  const behindBackends = backendsFollower()
  const join = reachJoint()
  let inputs: readonly unknown[] = []
  let counts: readonly LayeredMap<number>[] = []
  let led = NOTHING_REACHED
  let ofServices = led
  let last = led
  return (lists, backends) => {
    if (isIdentical(inputs, [lists, backends])) return last
    inputs = [lists, backends]
    const before = counts
    counts = [ofRoutes(lists.routes), ofTcpRoutes(lists.tcpRoutes)]
    const changed = counts.flatMap((now, place) => now.since(before[place] ?? NO_LEADS).map(([lead]) => lead))
    const isThere = (lead: Lead): boolean => counts.some((one) => one.get(lead) !== undefined)
    led = withLeads(led, new Set(changed), isThere)
    // Only backends that exist are reached.
    if (ofServices.services !== led.services) ofServices = { services: led.services, backends: NO_BACKENDS }
    return (last = join(ofServices, behindBackends(led.backends, backends)))
  }
}

const NO_LEADS = LayeredMap.of<number>()

/** What the routes refer to themselves. `leads`: those that may have come or gone. */
function withLeads(reach: Reach, leads: Iterable<Lead>, isThere: (lead: Lead) => boolean): Reach {
  const services = new Map<string, ReadonlySet<number>>()
  const backends = new Map<string, true | undefined>()
  for (const lead of leads) {
    const { services: ofService, backends: ofBackend } = referencesOfLead(lead)
    for (const key of ofBackend) backends.set(key, isThere(lead) ? true : undefined)
    for (const { hostname, port } of ofService) {
      const ports = services.get(hostname) ?? reach.services.get(hostname) ?? NO_PORTS
      services.set(hostname, isThere(lead) ? withPort(ports, port) : withoutPort(ports, port))
    }
  }
  return reachWith(reach, { services, backends })
}

/** What the backends lead to, and they themselves: the same object as last time for the same. */
function backendsFollower(): (led: LayeredMap<true>, backends: Backends) => Followed {
  let inputs: readonly unknown[] = []
  let last: Followed = NOTHING_FOLLOWED
  return (led, backends) => {
    if (isIdentical(inputs, [led, backends])) return last
    inputs = [led, backends]
    const now: Following = { services: new Map(), backends: new Set() }
    follow({ services: [], backends: [...led.entries()].map(([key]) => key) }, now, backends)
    return (last = isSameFollowed(last, now) ? last : now)
  }
}

/** A reference as text: equal texts are equal references. */
type Lead = string

const TO_BACKEND = 'backend '

function leadsOf(route: RouteReferences): Lead[] {
  const { services, backends } = referencesOf(refsOf(route))
  return [
    ...services.map(({ hostname, port }) => `${port} ${hostname}`),
    ...backends.map((key) => `${TO_BACKEND}${key}`),
  ]
}

function referencesOfLead(lead: Lead): References {
  if (lead.startsWith(TO_BACKEND)) return { services: [], backends: [lead.slice(TO_BACKEND.length)] }
  const space = lead.indexOf(' ')
  return {
    services: [{ hostname: HOSTNAMES.of(lead.slice(space + 1)), port: Number(lead.slice(0, space)) }],
    backends: [],
  }
}

/** Backends of the route, and the mirrors and authorization services of its rule and of each of them. */
function refsOf({ backends, inlinePolicies }: RouteReferences): BackendReference[] {
  const holders = [inlinePolicies, ...backends.map((backend) => backend.inlinePolicies)]
  const mirrors = holders.flatMap((policies) => policies?.requestMirror ?? [])
  return [...[...backends, ...mirrors].map(({ ref }) => ref), ...holders.flatMap(servicesOf)]
}

function servicesOf(policies: { readonly extAuth?: ExtAuthOrConditional } | undefined): BackendReference[] {
  // Filters of routes have no conditions.
  const { extAuth } = policies ?? {}
  return extAuth !== undefined && 'service' in extAuth ? [extAuth.service] : []
}
