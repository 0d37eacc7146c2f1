// The order of a merged list: items the patch names in the order of the patch, the others in the order they had, and
// both woven together as they stood before.
import { isDeepStrictEqual } from 'node:util'
import { isJsonObject, type Json } from '../kube-object.ts'

export interface OrderInput {
  readonly merged: readonly Json[]
  /** Order of the items that it names. */
  readonly wanted: readonly Json[]
  /** The list before the patch. */
  readonly before: readonly Json[]
  /** undefined: items are scalars. */
  readonly key: string | undefined
}

export function orderedList({ merged, wanted, before, key }: OrderInput): Json[] {
  const wantedPlaces = placesOf(wanted, key)
  const beforePlaces = placesOf(before, key)
  const named = merged.filter((item) => wantedPlaces(item) >= 0)
  const others = merged.filter((item) => wantedPlaces(item) < 0)
  return woven(sortedBy(others, beforePlaces), sortedBy(named, wantedPlaces), beforePlaces)
}

type PlaceOf = (item: Json) => number

function placesOf(list: readonly Json[], key: string | undefined): PlaceOf {
  const places = new Map<Json, number>()
  for (const [index, item] of list.entries()) {
    const identity = identityOf(item, key)
    if (!places.has(identity)) places.set(identity, index)
  }
  return (item) => places.get(identityOf(item, key)) ?? -1
}

function identityOf(item: Json, key: string | undefined): Json {
  return key !== undefined && isJsonObject(item) ? (item[key] ?? null) : item
}

function sortedBy(items: readonly Json[], placeOf: PlaceOf): Json[] {
  return items.toSorted((a, b) => placeOf(a) - placeOf(b))
}

/** A named item goes first unless both stood in the list before and the other one stood in front of it. */
function woven(others: readonly Json[], named: readonly Json[], placeBefore: PlaceOf): Json[] {
  const result: Json[] = []
  let next = 0
  for (const item of named) {
    const place = placeBefore(item)
    for (; next < others.length; next += 1) {
      const other = others[next] ?? null
      const otherPlace = placeBefore(other)
      if (place < 0 || otherPlace < 0 || otherPlace >= place) break
      result.push(other)
    }
    result.push(item)
  }
  return [...result, ...others.slice(next)]
}

/** Whether `items` appear in `wanted` in this order. */
export function isInOrder(items: readonly Json[], wanted: readonly Json[], key: string | undefined): boolean {
  let next = 0
  for (const item of items) {
    const identity = identityOf(item, key)
    while (next < wanted.length && !isDeepStrictEqual(identityOf(wanted[next] ?? null, key), identity)) next += 1
    if (next === wanted.length) return false
    next += 1
  }
  return true
}
