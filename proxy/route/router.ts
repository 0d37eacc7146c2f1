// Finds the route of a request (data-plane supplement section 1.5). Built once for each listener; a look-up allocates
// nothing beyond path segments and never depends on the number of routes.
import type { RouteMatch } from '#api/ir/types.gen.ts'
import type { HttpRequest } from '../http/message.ts'
import { hostOf } from './authority.ts'
import { grouped, type Grouped } from '../config/grouped.ts'
import { hostMapOf, isAnyHost } from './host-map.ts'
import { compileRequestTest } from './match.ts'
import { buildPathTable, normalisePath, normalisePrefix, type PathCandidate, type PathTable } from './path-table.ts'

/** What decides between matches that are equal otherwise. */
export interface RouteOrder {
  /** Seconds since the epoch; unknown counts as newest. */
  readonly createdAt?: number | undefined
  readonly namespace: string
  readonly name: string
  readonly ruleIndex: number
}

/** One rule of a route: any of its matches leads to `value`. */
export interface RouterEntry<T> {
  /** Empty: any host. */
  readonly hostnames: readonly string[]
  /** Empty: every request. */
  readonly matches: readonly RouteMatch[]
  readonly order: RouteOrder
  readonly value: T
}

export interface RouterResult<T> {
  readonly value: T
  /** The prefix that matched, without trailing slash (`/` for the root); undefined for exact and regex matches. */
  readonly matchedPrefix: string | undefined
  /** For span names: the exact path, `prefix/*`, `/*`, or the text of the regular expression. */
  readonly matchLabel: string
}

export interface Router<T> {
  find(request: HttpRequest): RouterResult<T> | undefined
  /**
   * The entries that stood for choice, in the order of hosts and rank, up to the one `find` gave. For traces: slow, and
   * no more than the first hundred.
   */
  evaluated(request: HttpRequest, found: T | undefined): readonly T[]
}

const EVALUATED_MAX = 100
const ANY_HOST = ''

interface Ranked<T> {
  readonly match: RouteMatch
  readonly order: RouteOrder
  readonly candidate: PathCandidate<RouterResult<T>>
}

export function buildRouter<T>(entries: readonly RouterEntry<T>[]): Router<T> {
  return routerOf(byHost(entries), (entry) => entry)
}

/** By host name in lower case, ANY_HOST for all. `former` is taken over as far as the items are the same. */
export function byHost<S extends { readonly hostnames: readonly string[] }>(
  items: readonly S[],
  former?: Grouped<S>,
): Grouped<S> {
  return grouped(items, ({ hostnames }) => (hostnames.length === 0 ? [ANY_HOST] : hostnames.map(hostKey)), former)
}

/**
 * `entryOf` is asked once for an item. The table of a host is made when its first request comes: a configuration that
 * changes often must not make the tables of hosts anew that nobody calls. Nothing in them can refuse a configuration.
 */
export function routerOf<S, T>({ groups }: Grouped<S>, entryOf: (item: S) => RouterEntry<T>): Router<T> {
  const ranked = new Map<S, readonly Ranked<T>[]>()
  const rankedOf = (item: S): readonly Ranked<T>[] => {
    let list = ranked.get(item)
    if (list === undefined) ranked.set(item, (list = rank(entryOf(item))))
    return list
  }
  const at = (host: string): HostRoutes<S, T> | undefined => {
    const items = groups.get(host)
    return items && new HostRoutes(items, rankedOf)
  }
  const wildcards = new Map<string, HostRoutes<S, T>>()
  for (const [host, items] of groups) {
    if (host.startsWith('*.')) wildcards.set(host.slice(1), new HostRoutes(items, rankedOf))
  }
  const hosts = hostMapOf({ exact: at, wildcards, any: at(ANY_HOST) })
  return {
    find(request) {
      const path = matchablePath(request)
      let level = hosts.find(hostOf(request.host))
      while (level !== undefined) {
        const result = level.value.table.find(path, request)
        if (result !== undefined) return result
        level = level.next
      }
      return undefined
    },
    evaluated(request, found) {
      const seen = new Set<T>()
      let level = hosts.find(hostOf(request.host))
      for (; level !== undefined; level = level.next) {
        for (const value of level.value.values()) {
          if (seen.size < EVALUATED_MAX) seen.add(value)
          if (value === found) return [...seen]
        }
      }
      return [...seen]
    },
  }
}

/** What stands for choice at one host name. */
class HostRoutes<S, T> {
  readonly #items: readonly S[]
  readonly #rankedOf: (item: S) => readonly Ranked<T>[]
  #table: PathTable<RouterResult<T>> | undefined = undefined

  constructor(items: readonly S[], rankedOf: (item: S) => readonly Ranked<T>[]) {
    this.#items = items
    this.#rankedOf = rankedOf
  }

  get table(): PathTable<RouterResult<T>> {
    return (this.#table ??= tableOf(this.#ranked()))
  }

  values(): T[] {
    return this.#ranked().map(({ candidate }) => candidate.result.value)
  }

  /** The sort is stable: matches of one rule keep their order. */
  #ranked(): Ranked<T>[] {
    return this.#items.flatMap(this.#rankedOf).sort(bySpecificity)
  }
}

/** CONNECT has no path of its own (RFC 9110 section 9.3.6) and matches as `/`. */
function matchablePath(request: HttpRequest): string {
  return request.method === 'CONNECT' && !request.path.startsWith('/') ? '/' : request.path
}

function hostKey(hostname: string): string {
  return isAnyHost(hostname) ? ANY_HOST : hostname.toLowerCase()
}

function rank<T>(entry: RouterEntry<T>): Ranked<T>[] {
  const matches = entry.matches.length === 0 ? [{}] : entry.matches
  return matches.map((match) => ({
    match,
    order: entry.order,
    candidate: { test: compileRequestTest(match), result: resultOf(entry.value, match) },
  }))
}

function resultOf<T>(value: T, { path }: RouteMatch): RouterResult<T> {
  if (path?.exact !== undefined) return { value, matchedPrefix: undefined, matchLabel: path.exact }
  if (path?.regex !== undefined) return { value, matchedPrefix: undefined, matchLabel: path.regex }
  const prefix = normalisePrefix(path?.pathPrefix ?? '/')
  return { value, matchedPrefix: prefix === '' ? '/' : prefix, matchLabel: `${prefix}/*` }
}

function tableOf<T>(ranked: readonly Ranked<T>[]): PathTable<RouterResult<T>> {
  const exact = new Map<string, PathCandidate<RouterResult<T>>[]>()
  const prefixes = new Map<string, PathCandidate<RouterResult<T>>[]>()
  const regexes: { source: string; candidate: PathCandidate<RouterResult<T>> }[] = []
  for (const { match, candidate } of ranked) {
    const { path } = match
    if (path?.exact !== undefined) push(exact, normalisePath(path.exact), candidate)
    else if (path?.regex !== undefined) regexes.push({ source: path.regex, candidate })
    else push(prefixes, normalisePrefix(path?.pathPrefix ?? '/'), candidate)
  }
  return buildPathTable({ exact, prefixes, regexes })
}

function push<C>(lists: Map<string, C[]>, key: string, candidate: C): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [candidate])
  else list.push(candidate)
}

/** Path kind and prefix length are decided by the tables; what is left is the length of expressions and the rest. */
function bySpecificity<T>(a: Ranked<T>, b: Ranked<T>): number {
  return (
    regexLength(b.match) - regexLength(a.match) ||
    Number(b.match.method !== undefined) - Number(a.match.method !== undefined) ||
    countOf(b.match.headers) - countOf(a.match.headers) ||
    countOf(b.match.query) - countOf(a.match.query) ||
    byAge(a.order, b.order)
  )
}

function regexLength({ path }: RouteMatch): number {
  return path?.regex?.length ?? 0
}

function countOf(list: readonly unknown[] | undefined): number {
  return list?.length ?? 0
}

function byAge(a: RouteOrder, b: RouteOrder): number {
  const ageA = a.createdAt ?? Number.MAX_SAFE_INTEGER
  const ageB = b.createdAt ?? Number.MAX_SAFE_INTEGER
  return ageA - ageB || compareText(`${a.namespace}/${a.name}`, `${b.namespace}/${b.name}`) || a.ruleIndex - b.ruleIndex
}

function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
