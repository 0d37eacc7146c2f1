// The usable part of an object that the API server would reject today: one that an older schema accepted, or a
// manifest without validation. Reports the invalid fields, and returns a copy without them. Never throws for user
// input.
import { isRecord } from '../json.ts'
import type { FieldPath, Problem } from '../problem.ts'
import { withDefaults } from './defaults.ts'
import type { KindSchema } from './kinds/register.gen.ts'
import { listProblems } from './lists.ts'
import { ruleProblems } from './rules.ts'
import { structureProblems } from './structure.ts'
import { type StructureError, structureErrors } from './structure-check.ts'
import { kindOf } from './validate.ts'

export interface Understood {
  /** The object itself if its structure is valid; otherwise a copy without the invalid fields. Rules remove nothing. */
  readonly object: unknown
  /** Of the structure: their values are not in the copy, nor is what is empty without them. */
  readonly leftOut: readonly Problem[]
  /** Of rules and lists: their values stay in the copy. Only for fields with a valid structure. */
  readonly kept: readonly Problem[]
}

/** Each round removes at least one value; most are needed only if parents have become incomplete. */
const ROUNDS_MAX = 32
const SECTION_DEPTH = 3

/** What a path of a problem has to its field: `spec.traffic.csrf` of `spec.traffic.csrf.additionalOrigins[0]`. */
interface Extent {
  readonly segments: number
}

const OF_SECTIONS: Extent = { segments: SECTION_DEPTH }

/** Objects for which `validateObject` reports no problem. By identity: no code may change them. */
const VALID = new WeakSet<object>()

/** `object` was validated as a whole, or is such an object with defaults added: it is not validated again. */
export function rememberValid(object: object): void {
  VALID.add(object)
}

function isKnownValid(object: unknown): boolean {
  return typeof object === 'object' && object !== null && VALID.has(object)
}

/** Objects of unknown kinds come back as they are. */
export function understood(object: unknown, extent: Extent = OF_SECTIONS): Understood {
  const kind = isKnownValid(object) ? undefined : kindOf(object)
  if (kind === undefined) return { object, leftOut: [], kept: [] }
  const complete = completed(kind, object)
  const structure = structureProblems(kind.structure, complete).filter(isOfSpec)
  const sound = structure.length === 0 ? object : withoutWrong(kind, object)
  const others = otherProblems(kind, structure.length === 0 ? complete : completed(kind, sound))
  const reported = others.filter(({ path }) => !isConsequence(path, structure, extent))
  const hollow = others.filter(({ path }) => isEmptyAt(sound, path))
  if (hollow.length === 0) return { object: sound, leftOut: structure, kept: reported }
  // A rule requires a member of it: an empty value is removed.
  const pruned = hollow.reduce<unknown>((value, { path }) => marked(value, keysOf(path)), sound)
  const leftOut = [...structure, ...reported.filter((problem) => hollow.includes(problem))]
  const kept = reported.filter((problem) => !isConsequence(problem.path, leftOut, extent))
  return { object: withoutWrong(kind, sweptSpec(pruned)), leftOut, kept }
}

/** An object that is valid except for a part of it, and the place of the part. */
export interface Frame {
  readonly around: (part: unknown) => object
  readonly at: FieldPath
}

/** `object`: what is left of the part, undefined for nothing. `path`: where problems place it. */
export function understoodPart(part: unknown, { around, at }: Frame, path: FieldPath): Understood {
  const framed = around(part)
  const { object, leftOut, kept } = understood(framed, { segments: at.split('.').length + 1 })
  const placed = (problem: Problem): Problem[] =>
    isWithin(problem.path, at)
      ? [{ ...problem, path: problem.path.replace(at, path), message: problem.message.replaceAll(at, path) }]
      : []
  const left = object === framed ? part : valueOf(object, at)
  return { object: left, leftOut: leftOut.flatMap(placed), kept: kept.flatMap(placed) }
}

/** Whether its structure and lists are valid; does not check rules. Much cheaper than `understood`. */
export function isSound(object: unknown): boolean {
  const kind = isKnownValid(object) ? undefined : kindOf(object)
  if (kind === undefined) return true
  const complete = completed(kind, object)
  const problems = [...structureProblems(kind.structure, complete), ...listProblems(kind.semantics, complete)]
  return !problems.some(isOfSpec)
}

function otherProblems(kind: KindSchema, complete: unknown): Problem[] {
  const lists = listProblems(kind.semantics, complete)
  return [...lists, ...ruleProblems(kind.semantics, complete)].filter(isOfSpec)
}

/** Of a field, not of the spec or a section: those hold what others need. */
function isEmptyAt(object: unknown, path: FieldPath): boolean {
  const value = valueOf(object, path)
  return keysOf(path).length >= SECTION_DEPTH && isRecord(value) && Object.keys(value).length === 0
}

function valueOf(object: unknown, path: FieldPath): unknown {
  return keysOf(path).reduce<unknown>(
    (holder, key) => (holder === undefined ? undefined : memberOf(holder, key)),
    object,
  )
}

function keysOf(path: FieldPath): string[] {
  return path.split(/[.[\]]+/).filter((key) => key !== '')
}

function memberOf(holder: unknown, key: string): unknown {
  return typeof holder === 'object' && holder !== null && Object.hasOwn(holder, key)
    ? (Reflect.get(holder, key) as unknown)
    : undefined
}

function completed(kind: KindSchema, object: unknown): unknown {
  return withDefaults(kind.semantics, object)
}

function isOfSpec({ path }: Problem): boolean {
  return path === 'spec' || path.startsWith('spec.')
}

/** A rule may fail only because something was left out below it; and places in a list may be others than before. */
function isConsequence(path: FieldPath, leftOut: readonly Problem[], { segments }: Extent): boolean {
  const fieldOf = (one: Problem): FieldPath => one.path.split('.').slice(0, segments).join('.')
  return leftOut.some((one) => isWithin(one.path, path) || isWithin(path, fieldOf(one)))
}

export function isWithin(path: FieldPath, parent: FieldPath): boolean {
  if (!path.startsWith(parent)) return false
  return path.length === parent.length || path[parent.length] === '.' || path[parent.length] === '['
}

function withoutWrong(kind: KindSchema, object: unknown): unknown {
  let value: unknown = structuredClone(object)
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const errors = structureErrors(kind.structure, completed(kind, value))
    if (errors.length === 0) return value
    const pointers = errors.map(pointerOf)
    const tokens = pointers.map(tokensOf).filter(([first, section]) => first === 'spec' && section !== undefined)
    if (tokens.length === 0) return value
    value = sweptSpec(tokens.reduce(marked, value))
  }
  return value
}

/** The path to remove: an unknown field, or the value with the error; for a missing field, its parent. */
function pointerOf({ keyword, instancePath, params }: StructureError): string {
  if (keyword !== 'additionalProperties') return instancePath
  return `${instancePath}/${String(params['additionalProperty']).replaceAll('~', '~0').replaceAll('/', '~1')}`
}

function tokensOf(pointer: string): readonly string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
}

const GONE = Symbol('gone')

/** Marked first and taken out afterwards: places in lists keep their index until then. */
function marked(value: unknown, [key, ...rest]: readonly string[]): unknown {
  if (key === undefined) return GONE
  if (Array.isArray(value)) return value.map((item, index) => (String(index) === key ? marked(item, rest) : item))
  if (!isRecord(value) || !Object.hasOwn(value, key)) return value
  // Own properties even for odd names such as `__proto__`.
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, name === key ? marked(part, rest) : part]),
  )
}

/** An object must keep a spec, even an empty one. */
function sweptSpec(value: unknown): unknown {
  const left = swept(value)
  return isRecord(left) ? { ...left, spec: left['spec'] ?? {} } : left
}

/** A value that becomes empty is removed as well. */
function swept(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(swept).filter((item) => item !== GONE)
    return items.length === 0 && value.length > 0 ? GONE : items
  }
  if (!isRecord(value)) return value
  const all = Object.entries(value)
  const kept = all.map(([name, part]) => [name, swept(part)] as const).filter(([, part]) => part !== GONE)
  return kept.length === 0 && all.length > 0 ? GONE : Object.fromEntries(kept)
}
