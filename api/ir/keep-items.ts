// Keeps the items of an earlier configuration where a later one, read anew, says the same: then what is made of an
// item, or told about it, need not be made or told again. Pure.
import { isRecord } from '../json.ts'
import type { RenderedConfig } from './types.gen.ts'

/** `now`, with the very objects of `before` for equal items, and its very lists where all items are equal. */
export function keepItems(before: RenderedConfig, now: RenderedConfig): RenderedConfig {
  return {
    version: now.version,
    binds: kept(before.binds, now.binds, keyOf),
    listeners: kept(before.listeners, now.listeners, keyOf),
    routes: kept(before.routes, now.routes, keyOf),
    tcpRoutes: kept(before.tcpRoutes, now.tcpRoutes, keyOf),
    backends: kept(before.backends, now.backends, keyOf),
    policies: kept(before.policies, now.policies, keyOf),
    services: kept(before.services, now.services, ({ namespace, hostname }) => `${namespace}/${hostname}`),
    workloads: kept(before.workloads, now.workloads, ({ uid }) => uid),
  }
}

function keyOf({ key }: { readonly key: string }): string {
  return key
}

function kept<T>(before: T[], now: T[], nameOf: (item: T) => string): T[] {
  let byName: Map<string, T> | undefined
  const find = (item: T, place: number): T | undefined => {
    // Most items are where they were.
    const there = before[place]
    if (there !== undefined && nameOf(there) === nameOf(item)) return there
    byName ??= new Map(before.map((one) => [nameOf(one), one]))
    return byName.get(nameOf(item))
  }
  const list = now.map((item, place) => {
    const known = find(item, place)
    return known !== undefined && isSame(known, item) ? known : item
  })
  return list.length === before.length && list.every((item, place) => item === before[place]) ? before : list
}

/** Of parsed JSON. */
export function isSame(a: unknown, b: unknown): boolean {
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => isSame(item, b[index]))
  }
  if (!isRecord(a) || !isRecord(b)) return a === b
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && isSame(a[name], b[name]))
  )
}
