// What the CRD of this version would reject in a policy: one that an older CRD accepted, or a manifest without
// validation. Sorted by field, and reported with the effect on the traffic. Pure.
import type { Deny } from '#api/ir/types.gen.ts'
import type { FieldPath, Problem } from '#api/problem.ts'
import { isWithin, type Understood } from '#api/validate/understood.ts'
import { MALFORMED } from '../defects.ts'
import {
  denyBroken,
  type Emission,
  type FieldContext,
  type FieldPlace,
  type FieldReport,
  reportError,
} from './field.ts'

export type Faults = Pick<Understood, 'leftOut' | 'kept'>

const HARMLESS: ReadonlySet<string> = new Set(['FieldUnknown', 'FieldValueTooLong', 'FieldValueTooMany'])

/** Faults of an object of another version with valid known fields. For objects that are not denied field by field. */
export function isHarmless({ reason }: Problem): boolean {
  return HARMLESS.has(reason)
}

/** Of one field; further ones are counted. Each of 256 expressions in a list may be invalid. */
const REPORTED_MAX = 8
const NONE: Faults = { leftOut: [], kept: [] }

export function faultsAt(path: FieldPath, faults: Faults = NONE): Faults {
  if (!hasFaults(faults)) return NONE
  const isHere = (problem: Problem): boolean => isWithin(problem.path, path)
  return { leftOut: faults.leftOut.filter(isHere), kept: faults.kept.filter(isHere) }
}

export function hasFaults({ leftOut, kept }: Faults): boolean {
  return leftOut.length > 0 || kept.length > 0
}

/** Rejects the traffic of the field, and reports each fault. */
export function denyFaults({ leftOut, kept }: Faults, context: FieldPlace): Emission<{ deny: Deny }> {
  const effect = `the traffic that ${context.field} covers is rejected until it is corrected`
  const [first, ...others] = toldOf([...leftOut, ...kept], effect)
  const whole = { path: context.path, reason: MALFORMED, message: `${context.field} is malformed; ${effect}` }
  const denial = denyBroken(context, `${context.field}-malformed`, first ?? whole)
  for (const problem of others) reportError(context, problem)
  return denial
}

/** Reports values without effect. */
export function reportLeftOut({ leftOut }: Faults, { report }: Pick<FieldContext, 'report'>): void {
  for (const problem of toldOf(leftOut, 'it has no effect until it is corrected')) {
    report.problems.push({ ...problem, severity: 'error' })
  }
}

/** Reports invalid values that the translator has used. */
export function reportKept({ kept }: Faults, { report }: Pick<FieldContext, 'report'>): void {
  for (const { path, message } of kept.slice(0, REPORTED_MAX)) {
    report.problems.push({ path, reason: MALFORMED, message: said(path, message), severity: 'error' })
  }
}

/** Of the policy itself, and of fields that this version does not know. */
export function reportOtherFaults(faults: Faults, fields: readonly FieldPath[], report: FieldReport): void {
  const isOther = (problem: Problem): boolean => !fields.some((field) => isWithin(problem.path, field))
  reportLeftOut({ leftOut: faults.leftOut.filter(isOther), kept: [] }, { report })
  reportKept({ leftOut: [], kept: faults.kept.filter(isOther) }, { report })
}

/** As in the schema: before routing there is no route. */
const BEFORE_ROUTING: ReadonlySet<string> = new Set([
  'apiKeyAuthentication',
  'authorization',
  'basicAuthentication',
  'cors',
  'extAuth',
  'extProc',
  'jwtAuthentication',
  'transformation',
])

/** undefined: the field may run in the phase of its policy. */
export function phaseFault(name: string, path: FieldPath, phase: string | undefined): Faults | undefined {
  if (phase !== 'PreRouting' || BEFORE_ROUTING.has(name)) return undefined
  const message = `${path} cannot run in phase PreRouting: move it to a policy with phase PostRouting`
  return { leftOut: [{ path, reason: MALFORMED, message, severity: 'error' }], kept: [] }
}

function toldOf(faults: readonly Problem[], effect: string): Array<Omit<Problem, 'severity'>> {
  return faults.slice(0, REPORTED_MAX).map(({ path, message }, index) => {
    const more =
      faults.length > REPORTED_MAX && index === REPORTED_MAX - 1 ? `, and ${faults.length - REPORTED_MAX} more` : ''
    return { path, reason: MALFORMED, message: `${said(path, message)}${more}; ${effect}` }
  })
}

/** In the words of the API server, with the field and without text that the status repeats. */
export function said(path: FieldPath, message: string): string {
  const text = message.replace(/^Invalid value: /, '')
  return text.includes(path) ? text : `${path}: ${text}`
}
