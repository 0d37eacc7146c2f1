// A naive merge, written from the text of the specification: walk the levels from the least to the most specific one.
import { NAMESPACE, type DrawnPolicy, type Target } from './cluster.ts'
import type { Mark, Unit } from './units.ts'

/** A place for policies, such as `HTTPRoute/parent#rule`. */
export type Level = string

/** The inline policies of an object, at their place among the levels. */
export interface InlineLevel {
  readonly units: readonly Unit[]
  readonly mark: Mark
}

export type Step = Level | InlineLevel

type Phase = 'PreRouting' | 'PostRouting'

export function levelOf({ kind, name, section, port }: Target): Level {
  return `${kind}/${name}${section === undefined ? '' : `#${section}`}${port === undefined ? '' : `:${port}`}`
}

/** "Older creationTimestamp wins, then namespace, then name." */
function isBefore(a: DrawnPolicy, b: DrawnPolicy): boolean {
  if (a.created !== b.created) return a.created < b.created
  return a.namespace === b.namespace ? a.name < b.name : a.namespace < b.namespace
}

function phaseOf(policy: DrawnPolicy, { section }: Unit): Phase {
  return section === 'traffic' && policy.isPreRouting ? 'PreRouting' : 'PostRouting'
}

/** Targets are in the policy's own namespace. */
function setters(policies: readonly DrawnPolicy[], level: Level, unit: Unit, phase: Phase): DrawnPolicy[] {
  return policies.filter(
    (policy) =>
      policy.namespace === NAMESPACE &&
      policy.units.includes(unit) &&
      phaseOf(policy, unit) === phase &&
      policy.targets.some((target) => levelOf(target) === level),
  )
}

function oldest(policies: readonly DrawnPolicy[]): DrawnPolicy | undefined {
  return policies.find((one) => policies.every((other) => other === one || isBefore(one, other)))
}

interface Value {
  readonly marks: readonly Mark[]
  readonly isOverride: boolean
}

/**
 * The marks of the effective values. "Override: a policy fixes the fields it sets: later, more specific values of
 * those fields are ignored"; of fields that accumulate, later ones are not added. Only for traffic after routing.
 */
export function effective(
  policies: readonly DrawnPolicy[],
  steps: readonly Step[],
  { unit, phase }: { readonly unit: Unit; readonly phase: Phase },
): Mark[] {
  const values: Value[] = []
  for (const step of steps) {
    const value = valueAt(policies, step, unit, phase)
    if (value === undefined) continue
    values.push(value)
    if (value.isOverride && phase === 'PostRouting') break
  }
  const marks = unit.accumulates === true ? values.flatMap((value) => value.marks) : (values.at(-1)?.marks ?? [])
  return [...new Set(marks)].sort((a, b) => a - b)
}

function valueAt(policies: readonly DrawnPolicy[], step: Step, unit: Unit, phase: Phase): Value | undefined {
  if (typeof step !== 'string') {
    return step.units.includes(unit) ? { marks: [step.mark], isOverride: false } : undefined
  }
  const all = setters(policies, step, unit, phase)
  const first = oldest(all)
  if (first === undefined) return undefined
  return unit.accumulates === true
    ? { marks: all.map(({ mark }) => mark), isOverride: all.some(({ isOverride }) => isOverride) }
    : { marks: [first.mark], isOverride: first.isOverride }
}

export interface ExpectedStatus {
  /** Condition of the entry for the Gateway; undefined: no entry. */
  readonly attached: 'Attached' | 'Merged' | 'Overridden' | undefined
  /** Names of the policies that override it. */
  readonly winners: readonly string[]
  /** Whether there is an entry for targets that are missing or have no Gateway. */
  readonly hasSummary: boolean
}

/** "Attached with reason Overridden when all fields lost, Merged when some did." `known`: levels at our Gateway. */
export function expectedStatus(
  policies: readonly DrawnPolicy[],
  policy: DrawnPolicy,
  known: ReadonlySet<Level>,
): ExpectedStatus {
  const levels = [...new Set(policy.targets.map(levelOf))]
  const reached = policy.namespace === NAMESPACE ? levels.filter((level) => known.has(level)) : []
  const fights = reached.flatMap((level) =>
    policy.units.map((unit) => {
      if (unit.accumulates === true) return policy
      return oldest(setters(policies, level, unit, phaseOf(policy, unit))) ?? policy
    }),
  )
  const lost = fights.filter((winner) => winner !== policy)
  const some = lost.length < fights.length ? 'Merged' : 'Overridden'
  const won = lost.length === 0 ? 'Attached' : some
  return {
    attached: reached.length === 0 ? undefined : won,
    winners: lost.map(({ name }) => name),
    hasSummary: reached.length < levels.length,
  }
}
