// One host on one port of a Gateway: who takes requests from whom there. No index, no state.
import { compareText } from '../order.ts'
import type { RuleDraft } from './translation.ts'

export interface Claim {
  /** `Kind namespace/name` */
  readonly owner: string
  readonly namespace: string
  /** Of the listener: routes of a listener take nothing from it. */
  readonly listener: string
  readonly group: string
  readonly host: string
  /** undefined: a listener of a ListenerSet, which takes the host as a whole. */
  readonly paths: readonly ClaimedPath[] | undefined
}

interface ClaimedPath {
  /** Without a slash at the end; of a regular expression, its text. */
  readonly path: string
  readonly kind: 'exact' | 'prefix' | 'regex'
}

/** By owner. */
export type Lines = ReadonlyMap<string, readonly string[]>

const ROOT: ClaimedPath = { path: '', kind: 'prefix' }

export function pathsOf(rules: readonly Pick<RuleDraft, 'matches'>[]): readonly ClaimedPath[] {
  const byText = new Map<string, ClaimedPath>()
  for (const { matches } of rules) {
    for (const { path } of matches) {
      const claimed = claimedPath(path)
      byText.set(`${claimed.kind} ${claimed.path}`, claimed)
    }
  }
  return byText.size === 0 ? [ROOT] : [...byText.values()]
}

function claimedPath(path: RuleDraft['matches'][number]['path']): ClaimedPath {
  if (path?.exact !== undefined) return { path: path.exact, kind: 'exact' }
  if (path?.regex !== undefined) return { path: path.regex, kind: 'regex' }
  return { path: (path?.pathPrefix ?? '').replace(/\/$/, ''), kind: 'prefix' }
}

/** `wider`: claims of the wildcards that include the host. */
export function sharedLines(unordered: readonly Claim[], widerUnordered: readonly Claim[]): Lines {
  const [first] = [...unordered, ...widerUnordered]
  const isShared = [unordered, widerUnordered].some((list) => list.some((one) => one.namespace !== first?.namespace))
  if (!isShared) return NONE
  // The lines do not depend on the order.
  const [claims, wider] = [unordered.toSorted(byOwner), widerUnordered.toSorted(byOwner)]
  const lines = new Map<string, Set<string>>()
  const say = (owner: string, line: string): void => {
    const known = lines.get(owner)
    if (known === undefined) lines.set(owner, new Set([line]))
    else known.add(line)
  }
  narrowerHosts(claims, wider, say)
  const routes = claims.filter(({ paths }) => paths !== undefined)
  narrowerHosts(
    claims.filter(({ paths }) => paths === undefined),
    routes,
    say,
  )
  narrowerPaths(routes, say)
  return new Map([...lines].map(([owner, said]) => [owner, [...said]]))
}

function byOwner(a: Claim, b: Claim): number {
  return compareText(a.owner, b.owner) || compareText(a.listener, b.listener)
}

const NONE: Lines = new Map()

type Say = (owner: string, line: string) => void

/** Reports at most one other claim for each claim: the cost is that of reading both lists. */
function narrowerHosts(takers: readonly Claim[], holders: readonly Claim[], say: Say): void {
  const [holderFor, takerFor] = [othersOf(holders), othersOf(takers)]
  for (const taker of takers) {
    const holder = holderFor(taker)
    if (holder === undefined) continue
    say(taker.owner, `takes requests for ${taker.host} from ${holder.owner}, which serves ${holder.host}`)
  }
  for (const holder of holders) {
    const taker = takerFor(holder)
    if (taker !== undefined) say(holder.owner, `requests for ${taker.host} go to ${taker.owner}`)
  }
}

/** The first of the list that is of another namespace and at another listener, or of a route of its own. */
function othersOf(claims: readonly Claim[]): (claim: Claim) => Claim | undefined {
  const firsts = new Map<string, Claim>()
  for (const claim of claims) {
    const key = `${claim.namespace} ${claim.paths === undefined ? claim.listener : ''}`
    if (!firsts.has(key)) firsts.set(key, claim)
  }
  const candidates = [...firsts.values()]
  return (claim) =>
    candidates.find((one) => one.namespace !== claim.namespace && !isInvited(one, claim) && !isInvited(claim, one))
}

/** The owner of a ListenerSet decides which routes serve at its listeners. */
function isInvited(listener: Claim, route: Claim): boolean {
  return listener.paths === undefined && route.paths !== undefined && listener.listener === route.listener
}

function narrowerPaths(routes: readonly Claim[], say: Say): void {
  const holders = holdersOf(routes)
  const anyHolder = othersOf(routes)
  for (const taker of routes) {
    for (const { path, kind } of taker.paths ?? []) {
      const isRegex = kind === 'regex'
      const text = isRegex ? `the regular expression ${path}` : `${taker.host}${path === '' ? '/' : path}`
      for (const holder of isRegex ? [anyHolder(taker)] : nearest(path, taker, holders)) {
        if (holder === undefined) continue
        say(taker.owner, `takes requests for ${text} from ${holder.owner}`)
        say(holder.owner, `requests for ${text} go to ${taker.owner}`)
      }
    }
  }
}

/** By path. */
function holdersOf(routes: readonly Claim[]): ReadonlyMap<string, readonly Claim[]> {
  const holders = new Map<string, Claim[]>()
  for (const route of routes) {
    for (const { path, kind } of route.paths ?? []) {
      const known = holders.get(path) ?? []
      const isNew = known.length < HOLDERS_MAX && known.every(({ namespace }) => namespace !== route.namespace)
      if (kind === 'regex' || !isNew) continue
      holders.set(path, known)
      known.push(route)
    }
  }
  return holders
}

/** Segments that are compared; the API allows paths of 1024 characters. */
const SEGMENTS_MAX = 64
/** Of one prefix, of different namespaces: the first by name of each. */
const HOLDERS_MAX = 8

/** Routes of other namespaces with the longest prefix of the path, unless its own namespace has that. */
function nearest(path: string, taker: Claim, holders: ReadonlyMap<string, readonly Claim[]>): readonly Claim[] {
  let prefix = path
  for (let count = 0; count < SEGMENTS_MAX; count++) {
    const found = holders.get(prefix) ?? []
    const others = found.filter(({ namespace }) => namespace !== taker.namespace)
    if (others.length > 0) return others
    if (found.length > 0 && prefix !== path) return []
    if (prefix === '') return []
    prefix = prefix.slice(0, Math.max(prefix.lastIndexOf('/'), 0))
  }
  return []
}
