// Lists in strategic merge patches, apart from how their items merge.
import { isJsonObject, type Json, type JsonObject } from '../kube-object.ts'
import { PATCH } from './directives.ts'

/** Why these items cannot be merged into one list; undefined: they can. @param key undefined: they must be scalars. */
export function elementFault(items: readonly Json[], key: string | undefined): string | undefined {
  if (items.some((item) => Array.isArray(item))) return 'lists inside lists cannot be merged'
  const kinds = new Set(items.map(kindOf))
  if (kinds.size > 1) return 'the items must all be of one type'
  const isMaps = kinds.has('map')
  if (!isMaps) return undefined
  if (key === undefined) return 'maps cannot be merged without a key'
  const stray = items.some((item) => isJsonObject(item) && !Object.hasOwn(item, key) && !Object.hasOwn(item, PATCH))
  return stray ? `each item needs ${key}, which identifies it` : undefined
}

/** Without repetition. */
export function mergedScalars(below: readonly Json[], patch: readonly Json[]): Json[] {
  return [...new Set([...below, ...patch])]
}

export interface SpecialItems {
  /** The patch takes the place of the list. */
  readonly isReplaced: boolean
  readonly below: readonly Json[]
  /** Without the items that only say something about others. */
  readonly patch: readonly JsonObject[]
}

export interface SpecialItemsInput {
  readonly below: readonly Json[]
  readonly patch: readonly Json[]
  readonly key: string
  /** `merge` is allowed, and what would be lost in silence is refused. */
  readonly isStrict: boolean
}

export function applySpecialItems({
  below,
  patch,
  key,
  isStrict,
}: SpecialItemsInput): SpecialItems | { readonly problem: string; readonly index: number } {
  const items = patch.filter(isJsonObject)
  const index = items.findIndex((item) => directiveFault(item, key, isStrict) !== undefined)
  const faulty = items[index]
  if (faulty !== undefined) return { problem: directiveFault(faulty, key, isStrict) ?? '', index }
  const deleted = new Set(items.filter((item) => item[PATCH] === 'delete').map((item) => item[key]))
  return {
    isReplaced: items.some((item) => item[PATCH] === 'replace'),
    below: deleted.size === 0 ? below : below.filter((item) => !isJsonObject(item) || !deleted.has(item[key])),
    patch: items.filter((item) => isMerged(item, key)).map(withoutDirective),
  }
}

function isMerged(item: JsonObject, key: string): boolean {
  const directive = item[PATCH]
  return directive === undefined || (directive === 'merge' && Object.hasOwn(item, key))
}

function withoutDirective(item: JsonObject): JsonObject {
  const { [PATCH]: _, ...rest } = item
  return rest
}

function directiveFault(item: JsonObject, key: string, isStrict: boolean): string | undefined {
  const directive = item[PATCH]
  if (directive === undefined || (directive === 'merge' && isStrict)) return undefined
  if (directive === 'delete') {
    return item[key] === undefined ? `$patch: delete needs ${key}, which identifies the item to delete` : undefined
  }
  if (directive !== 'replace') return 'unknown $patch; use delete or replace'
  const isAlone = !isStrict || Object.keys(item).length === 1
  return isAlone ? undefined : '$patch: replace applies to the whole list and must be the only field of its item'
}

function kindOf(item: Json): string {
  return isJsonObject(item) ? 'map' : typeof item
}
