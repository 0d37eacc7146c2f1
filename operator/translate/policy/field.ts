// What every field translator shares: its contract, its reports, and the payload that rejects traffic. No field logic.
import type { CelMoment } from '#api/cel/variables.ts'
import type { BackendReference, Deny, RenderedSecret } from '#api/ir/types.gen.ts'
import type { FieldPath, Problem } from '#api/problem.ts'
import type { ConfigMap, Secret } from '../kube.ts'
import type { ObjectRef } from '../object-ref.ts'
import type { ReferenceScope } from '../service/reference.ts'
import type { ObjectIndex } from '../snapshot.ts'
import type { StoredKeySets } from './stored-key-sets.ts'

/**
 * What happens to covered traffic when the field does not match the schema, or cannot be translated: `deny` rejects
 * the traffic; `keep` applies the valid part, and rejects the traffic if no part is valid; `skip` applies the valid
 * part, and has no effect if no part is valid. An invalid expression is not such a fault: it is kept, and fails when
 * evaluated. The status reports which in every case.
 */
export type FailureMode = 'deny' | 'keep' | 'skip'

export interface FieldTranslator<V, P> {
  readonly failureMode: FailureMode
  translate(value: V, context: FieldContext): ReadonlyArray<Emission<P>>
}

/** One rendered policy of a field. */
export interface Emission<P> {
  /** Part of the key. Two policies that emit one suffix for one target are in conflict, unless it accumulates. */
  readonly suffix: string
  readonly accumulates?: boolean
  readonly payload: P
}

/** The fields that reports and denials need. */
export interface FieldPlace {
  /** Of the field in the object, e.g. `spec.traffic.csrf`. */
  readonly path: FieldPath
  /** As users call it, e.g. `traffic.csrf`. */
  readonly field: string
  readonly report: FieldReport
}

export interface FieldContext extends FieldPlace {
  readonly scope: FieldScope
  /** When expressions of the field are evaluated, unless its translator sets another moment. */
  readonly moment: CelMoment
}

export interface FieldScope {
  /** The object that holds the field; local references are in its namespace. */
  readonly owner: ObjectRef
  /** Kinds of the objects the policy targets. */
  readonly targetKinds: ReadonlySet<string>
  readonly secrets: ObjectIndex<Secret>
  readonly configMaps: ObjectIndex<ConfigMap>
  /** For Services and backends that a field refers to. */
  readonly references: ReferenceScope
  readonly keySets: StoredKeySets
}

/** Filled while one object is translated; never shared between objects. */
export interface FieldReport {
  readonly problems: Problem[]
  readonly secrets: RenderedSecret[]
  /** The references of the object: their targets are delivered wherever the object is. */
  readonly references: BackendReference[]
}

export function emptyReport(): FieldReport {
  return { problems: [], secrets: [], references: [] }
}

export const NOT_YET_PROGRAMMED = 'NotYetProgrammed'

export function reportError(
  context: Pick<FieldPlace, 'report'>,
  problem: Pick<Problem, 'path' | 'reason' | 'message'>,
): void {
  context.report.problems.push({ ...problem, severity: 'error' })
}

/** A security field that is broken: reported, and the traffic it covers is rejected. */
export function denyBroken(
  context: FieldPlace,
  suffix: string,
  problem: Pick<Problem, 'path' | 'reason' | 'message'>,
): Emission<{ deny: Deny }> {
  reportError(context, problem)
  return denial(context.field, suffix, problem.message)
}

function denial(field: string, suffix: string, message: string): Emission<{ deny: Deny }> {
  return { suffix, payload: { deny: { field, message } } }
}
