// Finds the route of a request (data-plane supplement section 1.5). Built once for each listener; a look-up allocates
// nothing beyond path segments and never depends on the number of routes.
import type { RouteMatch } from '#api/ir/types.gen.ts'
import type { HttpRequest } from '../message/message.ts'
import { hostOf } from '../message/authority.ts'
import { ANY_HOST, type HostIndex, hostIndexOf } from './host-index.ts'
import { hostMapOf } from './host-map.ts'
import { compileRequestTest } from './match.ts'
import { buildPathTable, normalisePath, normalisePrefix, type PathCandidate, type PathTable } from './path-table.ts'

/** The order of matches that are equal otherwise. */
export interface RouteOrder {
  /** Seconds since the epoch; unknown counts as newest. */
  readonly createdAt?: number | undefined
  readonly namespace: string
  readonly name: string
  readonly ruleIndex: number
}

/** One rule of a route: any of its matches selects it. */
export interface RouterRule {
  /** Empty: every request. */
  readonly matches: readonly RouteMatch[]
  readonly order: RouteOrder
}

/** A rule with its hosts and its value. */
export interface RouterEntry<T> extends RouterRule {
  /** Empty: any host. */
  readonly hostnames: readonly string[]
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
   * The candidates, in the order of hosts and rank, up to the one that `find` returned. For traces: slow, and limited
   * to the first hundred.
   */
  evaluated(request: HttpRequest, found: T | undefined): readonly T[]
  /** The matches at the host names that cover the host, in their order of precedence. For explanations: slow. */
  candidates(request: HttpRequest): readonly RouterCandidate<T>[]
}

/** One match of one rule at a host name that covers the host of a request. */
export interface RouterCandidate<T> {
  readonly value: T
  readonly match: RouteMatch
  /** Of the level; undefined: any host. */
  readonly hostname: string | undefined
}

const EVALUATED_MAX = 100

interface Ranked<T> {
  readonly match: RouteMatch
  readonly order: RouteOrder
  readonly candidate: PathCandidate<RouterResult<T>>
}

export function buildRouter<T>(entries: readonly RouterEntry<T>[]): Router<T> {
  return routerOf(hostIndexOf(entries), new HostTables((entry: RouterEntry<T>) => entry), ({ value }) => value)
}

/**
 * The tables of host names, for all configurations: a host keeps its table while it has the same items. A table is
 * built on the first request, so hosts without requests have no table. A table cannot make a configuration invalid.
 */
export class HostTables<S extends object> {
  readonly #ruleOf: (item: S) => RouterRule
  readonly #ranked = new WeakMap<S, readonly Ranked<S>[]>()
  readonly #tables = new WeakMap<readonly S[], PathTable<RouterResult<S>>>()

  /** `ruleOf` returns the same value for the same item. */
  constructor(ruleOf: (item: S) => RouterRule) {
    this.#ruleOf = ruleOf
  }

  table(items: readonly S[]): PathTable<RouterResult<S>> {
    let table = this.#tables.get(items)
    if (table === undefined) {
      table = tableOf(this.#sorted(items))
      this.#tables.set(items, table)
    }
    return table
  }

  /** By rank. */
  items(items: readonly S[]): readonly S[] {
    return this.#sorted(items).map(({ candidate }) => candidate.result.value)
  }

  /** As the table tries them: exact paths, prefixes from the longest to the shortest, regular expressions. */
  matches(items: readonly S[]): readonly { readonly item: S; readonly match: RouteMatch }[] {
    return this.#sorted(items)
      .map(({ match, candidate }) => ({ item: candidate.result.value, match }))
      .sort((a, b) => pathRank(b.match) - pathRank(a.match))
  }

  /** The sort is stable: matches of one rule keep their order. */
  #sorted(items: readonly S[]): Ranked<S>[] {
    return items.flatMap((item) => this.#rankedOf(item)).sort(bySpecificity)
  }

  #rankedOf(item: S): readonly Ranked<S>[] {
    let list = this.#ranked.get(item)
    if (list === undefined) {
      list = rank(item, this.#ruleOf(item))
      this.#ranked.set(item, list)
    }
    return list
  }
}

/** `valueOf` is called once for each selected rule. */
export function routerOf<S extends object, T>(
  { at, wildcards }: HostIndex<S>,
  tables: HostTables<S>,
  valueOf: (item: S) => T,
): Router<T> {
  const atHost = (host: string): HostRoutes<S> | undefined => {
    const items = at(host)
    return items.length === 0 ? undefined : new HostRoutes(items, tables)
  }
  const bySuffix = new Map<string, HostRoutes<S>>()
  for (const host of wildcards) {
    const routes = atHost(host)
    if (routes !== undefined) bySuffix.set(host.slice(1), routes)
  }
  const hosts = hostMapOf({ exact: atHost, wildcards: bySuffix, any: atHost(ANY_HOST) })
  const results = new Map<RouterResult<S>, RouterResult<T>>()
  const values = new Map<S, T>()
  const valueFor = (item: S): T => {
    if (!values.has(item)) values.set(item, valueOf(item))
    // Set just now.
    return values.get(item) as T
  }
  const resultFor = (found: RouterResult<S>): RouterResult<T> => {
    let result = results.get(found)
    if (result === undefined) results.set(found, (result = { ...found, value: valueFor(found.value) }))
    return result
  }
  return {
    find(request) {
      const path = matchablePath(request)
      let level = hosts.find(hostOf(request.host))
      while (level !== undefined) {
        const found = level.value.table.find(path, request)
        if (found !== undefined) return resultFor(found)
        level = level.next
      }
      return undefined
    },
    evaluated(request, found) {
      const seen = new Set<T>()
      let level = hosts.find(hostOf(request.host))
      for (; level !== undefined; level = level.next) {
        for (const item of level.value.items()) {
          const value = valueFor(item)
          if (seen.size < EVALUATED_MAX) seen.add(value)
          if (value === found) return [...seen]
        }
      }
      return [...seen]
    },
    candidates(request) {
      const all: RouterCandidate<T>[] = []
      for (let level = hosts.find(hostOf(request.host)); level !== undefined; level = level.next) {
        const { hostname, value } = level
        for (const { item, match } of value.matches()) all.push({ value: valueFor(item), match, hostname })
      }
      return all
    },
  }
}

/** The candidates of one host name. */
class HostRoutes<S extends object> {
  readonly #items: readonly S[]
  readonly #tables: HostTables<S>
  #table: PathTable<RouterResult<S>> | undefined = undefined

  constructor(items: readonly S[], tables: HostTables<S>) {
    this.#items = items
    this.#tables = tables
  }

  get table(): PathTable<RouterResult<S>> {
    return (this.#table ??= this.#tables.table(this.#items))
  }

  items(): readonly S[] {
    return this.#tables.items(this.#items)
  }

  matches(): ReturnType<HostTables<S>['matches']> {
    return this.#tables.matches(this.#items)
  }
}

/** CONNECT has no path of its own (RFC 9110 section 9.3.6) and matches as `/`. */
export function matchablePath(request: HttpRequest): string {
  return request.method === 'CONNECT' && !request.path.startsWith('/') ? '/' : request.path
}

function rank<S>(item: S, { matches, order }: RouterRule): Ranked<S>[] {
  return (matches.length === 0 ? [{}] : matches).map((match) => ({
    match,
    order,
    candidate: { test: compileRequestTest(match), result: resultOf(item, match) },
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

/** The tables check path kind and prefix length; this compares the length of expressions and the rest. */
function bySpecificity<T>(a: Ranked<T>, b: Ranked<T>): number {
  return (
    regexLength(b.match) - regexLength(a.match) ||
    Number(b.match.method !== undefined) - Number(a.match.method !== undefined) ||
    countOf(b.match.headers) - countOf(a.match.headers) ||
    countOf(b.match.query) - countOf(a.match.query) ||
    byAge(a.order, b.order)
  )
}

/** Higher is first. A regular expression is last. */
function pathRank({ path }: RouteMatch): number {
  if (path?.exact !== undefined) return Number.MAX_SAFE_INTEGER
  return path?.regex === undefined ? normalisePrefix(path?.pathPrefix ?? '/').length : -1
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
