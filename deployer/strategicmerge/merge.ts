// Strategic merge patch of Kubernetes: maps merge, lists merge by the key that their type names, everything else is
// replaced. Pure: neither argument is changed. Compared with kubectl case by case (oracle.test.ts).
import { isJsonObject, type Json, type JsonObject } from '../kube-object.ts'
import {
  DELETE_ITEMS,
  PATCH,
  RETAIN_KEYS,
  SET_ORDER,
  unknownDirective,
  withDirectivesApplied,
  withoutDirectives,
  withoutNulls,
} from './directives.ts'
import { applySpecialItems, elementFault, mergedScalars } from './lists.ts'
import { KIND_TYPES, MERGE_FIELDS } from './merge-keys.gen.ts'
import type { MergeField } from './merge-field.ts'
import { isInOrder, orderedList } from './order.ts'

export interface MergeInput {
  readonly original: JsonObject
  readonly patch: JsonObject
  /** Kind of the object: it decides which lists have keys. Of an unknown kind all lists are replaced. */
  readonly kind: string
  /**
   * What `$patch` on a map does. `kubectl`: a deleted map stays as an empty one, and one that is to replace nothing
   * disappears. `whole`: a deleted map is gone, one that replaces is there in any case, `merge` is allowed.
   */
  readonly directives: 'kubectl' | 'whole'
}

export interface MergeProblem {
  /** Inside the patch, such as `spec.template.spec.containers[0]`. */
  readonly path: string
  readonly message: string
}

export type MergeResult = { readonly value: JsonObject } | { readonly problems: readonly MergeProblem[] }

/** Deeper than any object of Kubernetes; patches come from users. */
const DEPTH_MAX = 64

const DIRECTIVES = 'delete, replace or merge'

export function strategicMerge({ original, patch, kind, directives }: MergeInput): MergeResult {
  const type = Object.hasOwn(KIND_TYPES, kind) ? KIND_TYPES[kind] : undefined
  const merge = new Merge(directives)
  const value = merge.map(original, patch, { path: '', type, depth: 0 })
  return merge.problems.length > 0 ? { problems: merge.problems } : { value: isJsonObject(value) ? value : {} }
}

interface MergePlace {
  readonly path: string
  /** Name in MERGE_FIELDS of the map, or of the items of the list. */
  readonly type: string | undefined
  readonly depth: number
}

class Merge {
  readonly problems: MergeProblem[] = []
  readonly #isWhole: boolean

  constructor(directives: MergeInput['directives']) {
    this.#isWhole = directives === 'whole'
  }

  /** undefined: the map is deleted. */
  map(original: JsonObject, patch: JsonObject, place: MergePlace): JsonObject | undefined {
    if (place.depth > DEPTH_MAX) return this.#refused(place.path, `deeper than ${DEPTH_MAX} levels`, original)
    const directive = patch[PATCH]
    if (directive === 'delete') return this.#isWhole ? undefined : {}
    if (directive === 'replace') return this.#replacement(patch, place.path)
    if (directive !== undefined && !(directive === 'merge' && this.#isWhole)) {
      const allowed = this.#isWhole ? DIRECTIVES : 'delete or replace'
      return this.#refused(`${place.path}.${PATCH}`, `unknown directive; use ${allowed}`, original)
    }
    const result = new Map(Object.entries(original))
    this.#retainKeys(result, patch, place)
    const done = this.#orderedLists(result, patch, place)
    for (const [field, value] of Object.entries(patch)) {
      if (!done.has(field) && !isControl(field)) this.#field(result, field, value, place)
    }
    return Object.fromEntries(result)
  }

  #field(result: Map<string, Json>, name: string, value: Json, place: MergePlace): void {
    const isDeletion = name.startsWith(DELETE_ITEMS)
    const field = isDeletion ? name.slice(DELETE_ITEMS.length) : name
    const below = result.get(field)
    if (value === null) {
      result.delete(field)
    } else if (Array.isArray(below) && Array.isArray(value)) {
      result.set(field, this.#list({ below, value, place, field, isDeletion }))
    } else if (isDeletion) {
      return
    } else if (isJsonObject(below) && isJsonObject(value)) {
      const strategy = strategyOf(place.type, field)
      const merged =
        strategy === 'replace'
          ? this.#replacement(value, inside(place, field).path)
          : this.map(below, value, inside(place, field))
      set(result, field, merged)
    } else {
      set(result, field, this.#added(value, inside(place, field).path))
    }
  }

  /** Lists whose order the patch gives. @returns the fields that are done with. */
  #orderedLists(result: Map<string, Json>, patch: JsonObject, place: MergePlace): Set<string> {
    const done = new Set<string>()
    for (const [name, wanted] of Object.entries(patch)) {
      if (!name.startsWith(SET_ORDER)) continue
      done.add(name)
      const field = name.slice(SET_ORDER.length)
      const before = result.get(field)
      const change = patch[field]
      if (!Array.isArray(wanted) || !isListOrAbsent(before) || !isListOrAbsent(change)) {
        this.#refused(`${place.path}.${name}`, 'it, the field and its patch must be lists', undefined)
        continue
      }
      const key = fieldOf(place.type, field)?.key
      const named = (change ?? []).filter((item) => !isJsonObject(item) || !Object.hasOwn(item, PATCH))
      if (!isInOrder(named, wanted, key)) {
        this.#refused(`${place.path}.${name}`, `the order differs from that of ${field} in the patch`, undefined)
        continue
      }
      done.add(field)
      const merged = this.#change(before, change, { place, field })
      if (merged !== undefined) result.set(field, orderedList({ merged, wanted, before: before ?? [], key }))
    }
    return done
  }

  #change(
    before: Json[] | undefined,
    change: Json[] | undefined,
    at: { place: MergePlace; field: string },
  ): Json[] | undefined {
    if (change === undefined) return before
    if (before !== undefined) return this.#list({ below: before, value: change, ...at, isDeletion: false })
    const added = this.#added(change, inside(at.place, at.field).path)
    return Array.isArray(added) ? added : undefined
  }

  #list(input: {
    readonly below: Json[]
    readonly value: Json[]
    readonly place: MergePlace
    readonly field: string
    readonly isDeletion: boolean
  }): Json[] {
    const { below, value, place, field, isDeletion } = input
    const at = inside(place, field)
    if (!isDeletion && strategyOf(place.type, field) !== 'merge') return this.#replacementList(value, at.path)
    if (below.length === 0 && value.length === 0) return below
    const key = fieldOf(place.type, field)?.key
    const fault = elementFault([...below, ...value], isDeletion ? undefined : key)
    if (fault !== undefined) return this.#refused(at.path, fault, below)
    if (isDeletion) return below.filter((item) => !value.includes(item))
    if (key === undefined) {
      return orderedList({ merged: mergedScalars(below, value), wanted: value, before: below, key })
    }
    const special = applySpecialItems({ below, patch: value, key, isStrict: this.#isWhole })
    if ('problem' in special) return this.#refused(`${at.path}[${special.index}]`, special.problem, below)
    if (special.isReplaced) return this.#replacementList([...special.patch], at.path)
    const merged = this.#items(special.below, special.patch, { at, key })
    return orderedList({ merged, wanted: special.patch, before: special.below, key })
  }

  /** Each item of the patch into the first one with its key, else to the end. */
  #items(below: readonly Json[], patch: readonly JsonObject[], { at, key }: { at: MergePlace; key: string }): Json[] {
    const merged = [...below]
    for (const [index, item] of patch.entries()) {
      const found = merged.findIndex((each) => isJsonObject(each) && each[key] === item[key])
      const target = merged[found]
      if (isJsonObject(target)) {
        const place = { ...at, path: `${at.path}[${index}]`, depth: at.depth + 1 }
        merged[found] = this.map(target, item, place) ?? {}
      } else {
        const added = this.#isWhole ? this.#added(item, `${at.path}[${index}]`) : withoutDirectives(item)
        if (added !== undefined) merged.push(added)
      }
    }
    return merged
  }

  #retainKeys(result: Map<string, Json>, patch: JsonObject, place: MergePlace): void {
    const kept = patch[RETAIN_KEYS]
    if (kept === undefined) return
    const path = `${place.path}.${RETAIN_KEYS}`
    if (!Array.isArray(kept)) {
      this.#refused(path, 'must be a list of fields', undefined)
      return
    }
    const stray = Object.entries(patch).find(
      ([field, value]) =>
        value !== null && !isControl(field) && !field.startsWith(DELETE_ITEMS) && !kept.includes(field),
    )
    if (stray !== undefined) this.#refused(path, `${stray[0]} is set and must also be in the list`, undefined)
    for (const field of result.keys()) if (!kept.includes(field)) result.delete(field)
  }

  /** What stood nowhere before. */
  #added(value: Json, path: string): Json | undefined {
    const clean = withoutNulls(value)
    if (!this.#isWhole) return withoutDirectives(clean)
    const unknown = unknownDirective(clean, path)
    if (unknown !== undefined) this.#refused(unknown, `unknown directive; use ${DIRECTIVES}`, undefined)
    return withDirectivesApplied(clean)
  }

  #replacement(value: JsonObject, path: string): JsonObject | undefined {
    if (value[PATCH] === 'delete') return undefined
    const { [PATCH]: _, ...rest } = value
    const clean = this.#isWhole ? this.#added(rest, path) : rest
    return isJsonObject(clean) ? clean : {}
  }

  #replacementList(value: Json[], path: string): Json[] {
    const clean = this.#isWhole ? this.#added(value, path) : value
    return Array.isArray(clean) ? clean : []
  }

  #refused<T>(path: string, message: string, value: T): T {
    this.problems.push({ path: path.replace(/^\./, ''), message })
    return value
  }
}

function inside({ path, type, depth }: MergePlace, field: string): MergePlace {
  return { path: `${path}.${field}`, type: fieldOf(type, field)?.type, depth: depth + 1 }
}

function fieldOf(type: string | undefined, field: string): MergeField | undefined {
  const fields = type === undefined ? undefined : MERGE_FIELDS[type]
  return fields !== undefined && Object.hasOwn(fields, field) ? fields[field] : undefined
}

/** `retainKeys` only says how patches are made. */
function strategyOf(type: string | undefined, field: string): string | undefined {
  return fieldOf(type, field)
    ?.strategy?.split(',')
    .find((strategy) => strategy !== 'retainKeys')
}

function isControl(field: string): boolean {
  return field === PATCH || field === RETAIN_KEYS
}

function isListOrAbsent(value: Json | undefined): value is Json[] | undefined {
  return value === undefined || Array.isArray(value)
}

function set(result: Map<string, Json>, field: string, value: Json | undefined): void {
  if (value === undefined) result.delete(field)
  else result.set(field, value)
}
