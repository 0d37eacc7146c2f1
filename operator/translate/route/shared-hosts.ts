// Where routes or ListenerSets of two namespaces serve one host on one port of a Gateway, and one takes requests from
// the other: by a narrower host name, or by a path below. Indexed by host: a change costs only the routes of its hosts,
// and a change of a wildcard also those of the hosts below it.
import { isIdentical } from '#api/incremental/identical.ts'
import { SharedParts } from '#api/incremental/shared-parts.ts'
import { changesBetween } from '../changes.ts'
import type { RouteListener } from '../gateway/listener.ts'
import { commonHostnames } from '../hostnames.ts'
import { describe, keyOf, namespaceOf, refOf } from '../object-ref.ts'
import { compareText } from '../order.ts'
import { fitted } from '../same.ts'
import type { AttachedRoute } from './routes.ts'
import { type Claim, type Lines, pathsOf, sharedLines } from './shared-host.ts'

/** In one message; further ones are counted. */
const LINES_MAX = 5

interface Group {
  /** A set where a host has more than one: thousands of hosts have one route. */
  claims: Claim | Set<Claim> | undefined
  lines: Lines
}

function claimsIn({ claims }: Group): readonly Claim[] {
  if (claims === undefined) return []
  return claims instanceof Set ? [...claims] : [claims]
}

function addClaim(group: Group, claim: Claim): void {
  const { claims } = group
  if (claims instanceof Set) claims.add(claim)
  else group.claims = claims === undefined ? claim : new Set([claims, claim])
}

function removeClaim(group: Group, claim: Claim): void {
  const { claims } = group
  if (claims instanceof Set) claims.delete(claim)
  else if (claims === claim) group.claims = undefined
}

export class SharedHosts {
  #routes: readonly AttachedRoute[] = []
  #listeners: readonly RouteListener[] = []
  /** By Gateway, port and host. */
  readonly #groups = new Map<string, Group>()
  readonly #claims = new Map<AttachedRoute | RouteListener, readonly Claim[]>()
  /** By owner: the groups with lines about it. */
  readonly #concerned = new Map<string, Set<Group>>()

  /** Returns the owners whose text has changed, as `Kind namespace/name`. */
  enter(routes: readonly AttachedRoute[], listeners: readonly RouteListener[]): ReadonlySet<string> {
    const touched = new Set<string>()
    const edits = changesBetween(this.#routes, routes) ?? [{ removed: this.#routes, added: routes }]
    for (const { removed } of edits) for (const route of removed) this.#remove(route, touched)
    for (const { added } of edits) for (const route of added) this.#add(route, claimsOfRoute(route), touched)
    this.#routes = routes
    if (!isIdentical(this.#listeners, listeners)) {
      for (const listener of this.#listeners) this.#remove(listener, touched)
      for (const listener of listeners) this.#add(listener, claimsOfListener(listener), touched)
      this.#listeners = listeners
    }
    const changed = new Set<string>()
    for (const key of this.#withNarrower(touched)) this.#judge(key, changed)
    return changed
  }

  /** The text for the status of the owner; empty: nothing to report. */
  textOf(owner: string): string {
    const all = [...(this.#concerned.get(owner) ?? [])].flatMap(({ lines }) => lines.get(owner) ?? [])
    if (all.length === 0) return ''
    const [first, rest] = [all.toSorted(compareText).slice(0, LINES_MAX), all.length - LINES_MAX]
    return [...first, ...(rest > 0 ? [`and ${rest} more`] : [])].join('\n')
  }

  #add(holder: AttachedRoute | RouteListener, claims: readonly Claim[], touched: Set<string>): void {
    if (claims.length === 0) return
    this.#claims.set(holder, claims)
    for (const claim of claims) {
      const group = this.#groups.get(claim.group) ?? { claims: undefined, lines: NO_LINES }
      this.#groups.set(claim.group, group)
      addClaim(group, claim)
      touched.add(claim.group)
    }
  }

  #remove(holder: AttachedRoute | RouteListener, touched: Set<string>): void {
    for (const claim of this.#claims.get(holder) ?? []) {
      const group = this.#groups.get(claim.group)
      if (group !== undefined) removeClaim(group, claim)
      touched.add(claim.group)
    }
    this.#claims.delete(holder)
  }

  /** Hosts below a wildcard are checked together with it. */
  #withNarrower(touched: ReadonlySet<string>): ReadonlySet<string> {
    const wildcards = [...touched].filter((key) => key.includes(' *.'))
    if (wildcards.length === 0) return touched
    const wide = new Set(wildcards)
    const narrower = [...this.#groups.keys()].filter((key) => widerOf(key).some((one) => wide.has(one)))
    return new Set([...touched, ...narrower])
  }

  #judge(key: string, changed: Set<string>): void {
    const group = this.#groups.get(key)
    if (group === undefined) return
    const wider = widerOf(key).flatMap((one) => claimsIn(this.#groups.get(one) ?? NO_GROUP))
    const before = group.lines
    const claims = claimsIn(group)
    group.lines = sharedLines(claims, wider)
    if (claims.length === 0) this.#groups.delete(key)
    for (const owner of new Set([...before.keys(), ...group.lines.keys()])) {
      changed.add(owner)
      const groups = this.#concerned.get(owner) ?? new Set<Group>()
      if (group.lines.has(owner)) groups.add(group)
      else groups.delete(group)
      if (groups.size === 0) this.#concerned.delete(owner)
      else this.#concerned.set(owner, groups)
    }
  }
}

const NO_LINES: Lines = new Map()
const NO_GROUP: Group = { claims: undefined, lines: NO_LINES }

/** Keys of the wildcards that include the host of the group. */
function widerOf(key: string): string[] {
  const start = key.lastIndexOf(' ') + 1
  const host = key.slice(start)
  const wider: string[] = []
  const labels = host.startsWith('*.') ? host.slice(2) : host
  for (let dot = labels.indexOf('.'); dot !== -1; dot = labels.indexOf('.', dot + 1)) {
    wider.push(`${key.slice(0, start)}*${labels.slice(dot)}`)
  }
  return wider
}

function groupKey({ gateway, spec }: RouteListener, host: string): string {
  return [keyOf(gateway), spec.port, host].join(' ')
}

/** Most routes have the paths of others. */
const PATHS = new SharedParts()

/** Nothing for all hosts: every host name of a route is narrower. */
function claimsOfRoute({ route, translation, listeners }: AttachedRoute): Claim[] {
  if (route.kind === 'TCPRoute' || listeners.length === 0) return []
  const owner = describe(refOf(route))
  const paths = PATHS.of(pathsOf(translation.rules))
  return fitted(
    listeners.flatMap((listener) =>
      commonHostnames(listener.spec.hostname, route.spec.hostnames ?? []).map((host) => ({
        owner,
        namespace: namespaceOf(route),
        listener: listener.key,
        group: groupKey(listener, host),
        host,
        paths,
      })),
    ),
  )
}

function claimsOfListener(listener: RouteListener): Claim[] {
  const { set, spec, notAccepted } = listener
  if (set === undefined || notAccepted !== undefined || (spec.hostname ?? '') === '') return []
  const host = (spec.hostname ?? '').toLowerCase()
  const [owner, namespace] = [describe(refOf(set)), namespaceOf(set)]
  return [{ owner, namespace, listener: listener.key, group: groupKey(listener, host), host, paths: undefined }]
}
