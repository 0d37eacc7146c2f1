// Merges a computed status with the current one of an object: foreign entries stay, transition times stay without a
// change of the condition, and nothing is written without a difference. Pure: the caller passes the time.
import { isRecord } from '#api/json.ts'
import { isSame } from '#api/incremental/same.ts'
import type { StatusBody } from '../translate/object-status.ts'
import { MESH_UNAVAILABLE, SECRETS_UNAVAILABLE } from './condition.ts'
import { ANCESTORS_MAX, fittingAncestors } from './policy-status.ts'

export interface MergeInput {
  /** The status in the cluster, as read. */
  readonly current: unknown
  readonly desired: StatusBody
  readonly controllerName: string
  /** RFC 3339, whole seconds. */
  readonly now: string
}

type Json = Readonly<Record<string, unknown>>

/** The status to write; undefined when the object already has it. */
export function mergeStatus({ current, desired, controllerName, now }: MergeInput): Json | undefined {
  const before: Json = isRecord(current) ? current : {}
  const merged: Record<string, unknown> = { ...before }
  const fitting = withinRoom(desired, before, controllerName)
  for (const [name, value] of Object.entries(fitting)) {
    merged[name] = isEntryList(name)
      ? mergeEntries({ name, current: listOf(before[name]), desired: listOf(value), controllerName, now })
      : mergeValue(name, { current: before[name], desired: value, now })
  }
  return isSame(before, merged) ? undefined : merged
}

/** Entries of others stay, so ours get the remaining places. */
function withinRoom(desired: StatusBody, before: Json, controllerName: string): StatusBody {
  if (!('ancestors' in desired)) return desired
  const foreign = listOf(before['ancestors']).filter((entry) => entry['controllerName'] !== controllerName)
  return { ...desired, ancestors: fittingAncestors(desired.ancestors, ANCESTORS_MAX - foreign.length) }
}

function isEntryList(name: string): boolean {
  return name === 'parents' || name === 'ancestors'
}

interface EntryLists {
  readonly name: string
  readonly current: readonly Json[]
  readonly desired: readonly Json[]
  readonly controllerName: string
  readonly now: string
}

/**
 * Entries of other controllers stay unchanged in their places, and ours are replaced in place: two controllers that
 * both put their entries first would write for ever.
 */
function mergeEntries({ name, current, desired, controllerName, now }: EntryLists): Json[] {
  const isForeign = (entry: Json): boolean => entry['controllerName'] !== controllerName
  const reference = name === 'parents' ? 'parentRef' : 'ancestorRef'
  const missing = new Set(desired)
  const kept = current.flatMap((entry) => {
    if (isForeign(entry)) return [entry]
    const own = [...missing].find((one) => isSame(one[reference], entry[reference]))
    if (own === undefined) return []
    missing.delete(own)
    return [stampOne(entry, own, now)]
  })
  return [...kept, ...[...missing].map((entry) => stampOne(undefined, entry, now))]
}

interface ValueMerge {
  readonly current: unknown
  readonly desired: unknown
  readonly now: string
}

function mergeValue(name: string, { current, desired, now }: ValueMerge): unknown {
  if (name === 'conditions') return mergeConditions(listOf(current), listOf(desired), now)
  if (name !== 'listeners') return desired
  const known = listOf(current)
  return listOf(desired).map((one) =>
    stampOne(
      known.find(({ name: other }) => other === one['name']),
      one,
      now,
    ),
  )
}

function stampOne(current: Json | undefined, desired: Json, now: string): Json {
  const conditions = listOf(desired['conditions'])
  return { ...desired, conditions: stamp(listOf(current?.['conditions']), conditions, now) }
}

/** Our types that exist only while their subject is configured: without it they are removed. */
const PASSING_TYPES: ReadonlySet<unknown> = new Set([
  'ResolvedRefs',
  'InsecureFrontendValidationMode',
  MESH_UNAVAILABLE,
  SECRETS_UNAVAILABLE,
])

/** Condition types that others compute (another part of the operator, other controllers) stay where they are. */
function mergeConditions(current: readonly Json[], desired: readonly Json[], now: string): Json[] {
  const stamped = stamp(current, desired, now)
  const kept = current.flatMap((known) => {
    const own = stamped.find(({ type }) => type === known['type'])
    return own === undefined && PASSING_TYPES.has(known['type']) ? [] : [own ?? known]
  })
  const types = new Set(current.map(({ type }) => type))
  return [...kept, ...stamped.filter(({ type }) => !types.has(type))]
}

/** metav1.Condition: the time changes with the status of the condition, not with its reason or message. */
function stamp(current: readonly Json[], desired: readonly Json[], now: string): Json[] {
  return desired.map((condition) => {
    const known = current.find(({ type }) => type === condition['type'])
    const time =
      known !== undefined && known['status'] === condition['status'] ? known['lastTransitionTime'] : undefined
    return { ...condition, lastTransitionTime: time ?? now }
  })
}

function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
}
