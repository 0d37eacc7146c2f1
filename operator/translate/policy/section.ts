// Runs the translators of a policy section over the fields that are set. One broken field never hides another.
import type { CelMoment } from '#api/cel/variables.ts'
import { isRecord } from '#api/json.ts'
import type { BackendPayload, Deny, FrontendPayload, PolicyPayload, TrafficPayload } from '#api/ir/types.gen.ts'
import type { Frontend, Traffic } from '#api/v1alpha1/gwpolicy.gen.ts'
import type { BackendFull } from '#api/v1alpha1/shared.gen.ts'
import type { FieldPath } from '#api/problem.ts'
import {
  denyBroken,
  type Emission,
  type FailureMode,
  type FieldContext,
  type FieldReport,
  type FieldTranslator,
  reportError,
} from './field.ts'
import { denyFaults, faultsAt, type Faults, hasFaults, phaseFault, reportKept, reportLeftOut } from './faults.ts'
import { BACKEND, FRONTEND, TRAFFIC } from './registry.ts'
import type { GuardedScope } from './scope.ts'

/** An emission with its place in the object model, as keys and payloads need it. */
export interface SectionEmission {
  readonly section: 'traffic' | 'frontend' | 'backend'
  readonly suffix: string
  readonly accumulates: boolean
  readonly payload: PolicyPayload
  /** Fields of the object set in this emission, for messages. */
  readonly field: string
}

export interface PolicySections {
  readonly traffic?: Traffic
  readonly frontend?: Frontend
  readonly backend?: BackendFull
}

export interface SectionInput {
  readonly scope: GuardedScope
  readonly report: FieldReport
  /** What the CRD of this version would reject. Unset: not looked for. */
  readonly faults?: Faults
}

/** Of all fields of a GwPolicy. */
export const FIELD_PATHS: readonly FieldPath[] = [
  ...Object.keys(TRAFFIC).map((name) => `spec.traffic.${name}`),
  ...Object.keys(FRONTEND).map((name) => `spec.frontend.${name}`),
  ...Object.keys(BACKEND).map((name) => `spec.backend.${name}`),
]

export function translateSections(spec: PolicySections, input: SectionInput): SectionEmission[] {
  const { traffic, frontend, backend } = spec
  const phase = traffic?.phase
  const moment = phase === 'PreRouting' ? 'routing' : 'request'
  return [
    ...sectionFields<TrafficPayload>(traffic, TRAFFIC, {
      ...input,
      name: 'traffic',
      path: 'spec.traffic',
      phase,
      moment,
    }).map((one) => ({ ...placed(one, 'traffic'), payload: { traffic: one.payload } })),
    ...sectionFields<FrontendPayload>(frontend, FRONTEND, {
      ...input,
      name: 'frontend',
      path: 'spec.frontend',
      moment: 'log',
    }).map((one) => ({ ...placed(one, 'frontend'), payload: { frontend: one.payload } })),
    ...sectionFields<BackendPayload>(backend, BACKEND, {
      ...input,
      name: 'backend',
      path: 'spec.backend',
      moment: 'backend',
    }).map((one) => ({ ...placed(one, 'backend'), payload: { backend: one.payload } })),
  ]
}

export interface FieldEmission<P> extends Emission<P> {
  readonly field: string
}

interface SectionPlace extends SectionInput {
  readonly name: string
  readonly path: FieldPath
  readonly phase?: Traffic['phase']
  readonly moment: CelMoment
}

/** A translator whose value type is forgotten: the section's object and its registry have the same keys. */
interface AnyTranslator<P> {
  readonly failureMode: FailureMode
  translate(value: never, context: FieldContext): ReadonlyArray<Emission<P>>
}

export function sectionFields<P extends { deny?: Deny }>(
  values: object | null | undefined,
  registry: Readonly<Record<string, AnyTranslator<P>>>,
  place: SectionPlace,
): Array<FieldEmission<P | { deny: Deny }>> {
  return Object.entries(registry).flatMap(([name, translator]) => {
    const path = `${place.path}.${name}`
    const faults = faultsAt(path, place.faults)
    const value: unknown = isRecord(values) && Object.hasOwn(values, name) ? values[name] : undefined
    if ((value === undefined || value === null) && faults.leftOut.length === 0) return []
    const field = `${place.name}.${name}`
    const { scope, report, moment } = place
    const context: GuardedContext = { path, field, scope, report, moment }
    const misplaced = phaseFault(name, path, place.phase)
    const emissions =
      misplaced === undefined
        ? runField({ translator, value, faults }, context)
        : runMisplaced(translator, misplaced, context)
    return emissions.map((emission) => ({ ...emission, field }))
  })
}

function runMisplaced(
  { failureMode }: Pick<FieldTranslator<never, never>, 'failureMode'>,
  faults: Faults,
  context: FieldContext,
): ReadonlyArray<Emission<{ deny: Deny }>> {
  if (failureMode === 'deny') return [denyFaults(faults, context)]
  reportLeftOut(faults, context)
  return []
}

interface GuardedContext extends FieldContext {
  readonly scope: GuardedScope
}

interface FieldInput<P> {
  readonly translator: AnyTranslator<P>
  /** undefined: no part of it is valid. */
  readonly value: unknown
  readonly faults: Faults
}

function runField<P extends { deny?: Deny }>(
  input: FieldInput<P>,
  context: GuardedContext,
): ReadonlyArray<Emission<P | { deny: Deny }>> {
  const { translator, value, faults } = input
  const isMissing = value === undefined || value === null
  const isRefused = isMissing ? translator.failureMode !== 'skip' : translator.failureMode === 'deny'
  if (isRefused && hasFaults(faults)) return [denyFaults(faults, context)]
  reportLeftOut(faults, context)
  if (isMissing) return []
  const before = context.report.problems.length
  const emissions = translated(translator, value, context)
  // If the translator has reported problems itself, its messages are more precise.
  if (context.report.problems.length === before) reportKept(faults, context)
  return emissions
}

function translated<P extends { deny?: Deny }>(
  translator: AnyTranslator<P>,
  value: unknown,
  context: GuardedContext,
): ReadonlyArray<Emission<P | { deny: Deny }>> {
  try {
    // The registry is typed over all fields of the section, so the value under a name fits its translator.
    return translator.translate(value as never, context)
  } catch (error) {
    const isHarmless = translator.failureMode === 'skip'
    const effect = isHarmless ? 'it has no effect' : 'the traffic it covers is rejected'
    const { reason, message } = context.scope.caught(error, context.path, context.field)
    const problem = { path: context.path, reason, message: `${message}; ${effect}` }
    if (!isHarmless) return [denyBroken(context, `${context.field}-${reason.toLowerCase()}`, problem)]
    reportError(context, problem)
    return []
  }
}

function placed(one: FieldEmission<unknown>, section: SectionEmission['section']): Omit<SectionEmission, 'payload'> {
  return { section, suffix: one.suffix, accumulates: one.accumulates ?? false, field: one.field }
}
