// Limits the routes and models of a Gateway (caps.ts): detaches those above the limit before they are rendered, and
// reports it in their status. The older objects of a namespace stay.
import { isIdentical } from '#api/incremental/identical.ts'
import { type GatewayCaps, capMessage } from '../caps.ts'
import { changesBetween } from '../changes.ts'
import { fairlyAdmitted } from '../fair-share.ts'
import type { RouteListener } from '../gateway/listener.ts'
import type { KubeObject } from '../kube.ts'
import { keyOf, namespaceOf } from '../object-ref.ts'
import { compareByAge } from '../order.ts'
import type { ParentResult } from './routes.ts'

interface Attachment {
  readonly parents: readonly ParentResult[]
  readonly listeners: readonly RouteListener[]
}

interface CapInput<T> {
  readonly objectOf: (item: T) => KubeObject
  /** Rules that each listener renders. */
  readonly rulesOf: (item: T) => number
  readonly caps: GatewayCaps
}

/** The same list while every Gateway has room; the same items where nothing was detached. */
export function attachmentCap<T extends Attachment>(input: CapInput<T>): (items: readonly T[]) => readonly T[] {
  const demand = demandTally(input)
  const known = new WeakMap<T, { readonly refused: string; readonly item: T }>()
  let last: readonly T[] = []
  const cut = (item: T, refused: readonly string[]): T => {
    const key = refused.join(' ')
    const before = known.get(item)
    if (before?.refused === key) return before.item
    const made = withoutGateways(item, new Set(refused), input.caps)
    known.set(item, { refused: key, item: made })
    return made
  }
  return (items) => {
    const full = [...demand(items)].filter(([, rules]) => rules > input.caps.routeRulesMax).map(([gateway]) => gateway)
    if (full.length === 0) return (last = items)
    const refusals = refusalsOf(full, items, input)
    const now = items.map((item) => {
      const refused = refusals.get(item)
      return refused === undefined ? item : cut(item, refused)
    })
    return isIdentical(last, now) ? last : (last = now)
  }
}

/** By Gateway key, how many rules its listeners would render; updated with changed items. */
function demandTally<T extends Attachment>({
  rulesOf,
}: CapInput<T>): (items: readonly T[]) => ReadonlyMap<string, number> {
  let last: readonly T[] = []
  let demand = new Map<string, number>()
  const count = (items: readonly T[], sign: 1 | -1): void => {
    for (const item of items) {
      const rules = rulesOf(item) * sign
      for (const { gateway } of item.listeners) {
        const key = keyOf(gateway)
        demand.set(key, (demand.get(key) ?? 0) + rules)
      }
    }
  }
  return (items) => {
    const edits = changesBetween(last, items)
    if (edits === undefined) {
      demand = new Map()
      count(items, 1)
    } else {
      for (const { removed, added } of edits) {
        count(removed, -1)
        count(added, 1)
      }
    }
    last = items
    return demand
  }
}

/** By item, the Gateways without room for it. */
function refusalsOf<T extends Attachment>(
  full: readonly string[],
  items: readonly T[],
  { objectOf, rulesOf, caps }: CapInput<T>,
): ReadonlyMap<T, readonly string[]> {
  const refusals = new Map<T, string[]>()
  const older = items.toSorted((a, b) => compareByAge(objectOf(a), objectOf(b)))
  for (const gateway of full.toSorted()) {
    const claimants = older.flatMap((item) => {
      const listeners = item.listeners.filter((one) => keyOf(one.gateway) === gateway).length
      return listeners === 0 ? [] : [{ item, namespace: namespaceOf(objectOf(item)), cost: listeners * rulesOf(item) }]
    })
    const admitted = fairlyAdmitted(claimants, caps.routeRulesMax)
    for (const [at, { item }] of claimants.entries()) {
      if (admitted?.[at] === false) refusals.set(item, [...(refusals.get(item) ?? []), gateway])
    }
  }
  return refusals
}

function withoutGateways<T extends Attachment>(item: T, refused: ReadonlySet<string>, caps: GatewayCaps): T {
  const isKept = ({ gateway }: RouteListener): boolean => !refused.has(keyOf(gateway))
  const parents = item.parents.map((parent): ParentResult => {
    const [listener] = 'listeners' in parent.acceptance ? parent.acceptance.listeners : []
    if (listener === undefined || isKept(listener)) return parent
    const message = capMessage('routeRulesMax', caps, keyOf(listener.gateway))
    return { ...parent, acceptance: { denial: { reason: 'TooManyRoutes', message } } }
  })
  return { ...item, parents, listeners: item.listeners.filter(isKept) }
}
