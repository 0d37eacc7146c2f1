// What each Gateway can reach: the Services and backends its routes refer to, directly or through other backends and
// policies. Only that is delivered to it, and only policies on it take effect there.
import { isIdentical } from '#api/incremental/identical.ts'
import { SharedTexts } from '#api/incremental/shared-texts.ts'
import type { BackendReference, ExtAuthOrConditional, Route } from '#api/ir/types.gen.ts'
import { tally } from './lists.ts'
import { isSameInOrder } from './same.ts'
import { referencesOf, type References } from './references.ts'
import type { DeliveredBackend } from './delivered-backend.ts'
import { HOSTNAMES } from './hostname-texts.ts'

export interface Reach {
  /** Host name to ports. */
  readonly services: ReadonlyMap<string, ReadonlySet<number>>
  /** Keys of GwBackends. */
  readonly backends: ReadonlySet<string>
}

export interface GrowingReach extends Reach {
  readonly services: Map<string, ReadonlySet<number>>
  readonly backends: Set<string>
}

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
  const trackers = new Map<string, GatewayReach>()
  let last: ReadonlyMap<string, Reach> = new Map()
  let inputs: readonly unknown[] = []
  return (gateways, backends) => {
    if (isIdentical(inputs, [gateways, backends])) return last
    inputs = [gateways, backends]
    const now = new Map<string, Reach>()
    for (const [key, lists] of gateways) {
      let tracker = trackers.get(key)
      if (tracker === undefined) trackers.set(key, (tracker = gatewayReach()))
      now.set(key, tracker(lists, backends))
    }
    if (trackers.size > now.size) for (const key of trackers.keys()) if (!now.has(key)) trackers.delete(key)
    return (last = isSameInOrder(last, now) ? last : now)
  }
}

export const NOTHING_REACHED: Reach = { services: new Map(), backends: new Set() }

type GatewayReach = (lists: LeadingRoutes, backends: Backends) => Reach

/** References of routes are counted: most changes of routes do not change them. */
function gatewayReach(): GatewayReach {
  const ofRoutes = tally(leadsOf)
  const ofTcpRoutes = tally(leadsOf)
  let last: { readonly lists: LeadingRoutes; readonly from: readonly unknown[]; readonly reach: Reach } | undefined
  return (lists, backends) => {
    if (last?.lists === lists && last.from.at(-1) === backends) return last.reach
    const leads = [ofRoutes(lists.routes), ofTcpRoutes(lists.tcpRoutes)]
    const from = [...leads, backends]
    if (last !== undefined && isIdentical(last.from, from)) {
      last = { ...last, lists }
      return last.reach
    }
    const reach: GrowingReach = { services: new Map(), backends: new Set() }
    for (const counts of leads) for (const lead of counts.keys()) follow(referencesOfLead(lead), reach, backends)
    last = { lists, from, reach }
    return reach
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

export const NO_PORTS: ReadonlySet<number> = new Set()

const TARGETS = new SharedTexts()

/** A Service or backend as a key. */
export function serviceTarget(hostname: string): string {
  return TARGETS.of(`service ${hostname}`)
}

export function backendTarget(key: string): string {
  return TARGETS.of(`backend ${key}`)
}

/** Adds what the references lead to; `note` gets what is new. Cycles are fine: each backend is followed once. */
export function follow(
  references: References,
  { services, backends: reached }: GrowingReach,
  backends: ReadonlyMap<string, DeliveredBackend>,
  note?: (target: string, ports: ReadonlySet<number>) => void,
): void {
  const pending = [references]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    for (const { hostname, port } of next.services) {
      const ports = services.get(hostname)
      // Sets of ports are shared with what was reached before, and never changed.
      if (ports?.has(port) === true) continue
      const now = ports === undefined ? onlyPort(port) : new Set([...ports, port])
      services.set(hostname, now)
      note?.(serviceTarget(hostname), now)
    }
    for (const key of next.backends) {
      const backend = backends.get(key)
      if (backend === undefined || reached.has(key)) continue
      reached.add(key)
      note?.(backendTarget(key), NO_PORTS)
      pending.push(backend.references)
    }
  }
}

/** By port; bounded by the number of ports. Most Services are reached on one. */
const ONLY_PORT = new Map<number, ReadonlySet<number>>()

function onlyPort(port: number): ReadonlySet<number> {
  const known = ONLY_PORT.get(port)
  if (known !== undefined) return known
  const made = new Set([port])
  ONLY_PORT.set(port, made)
  return made
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
