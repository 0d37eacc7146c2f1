// Conditions of computed statuses that report a problem, with the part of the object that each is about. Pure.
import type { ConditionOverview } from '#api/admin/controller-overview.ts'
import { MESH_UNAVAILABLE, SECRETS_UNAVAILABLE } from '../status/condition.ts'
import { describe, nameKey } from '../translate/object-ref.ts'
import { isSummary } from '../status/policy-status.ts'
import type { Condition, ObjectStatus, ParentRef, StatusBody } from '../translate/object-status.ts'

export interface ReportedCondition {
  readonly row: ConditionOverview
  /** Of the object. */
  readonly namespace: string
  /** What the object is attached to, for a condition about that. */
  readonly parent: ParentRef | undefined
}

/** Report a problem if they are true. */
const NEGATIVE: ReadonlySet<string> = new Set([
  'Conflicted',
  'OverlappingTLSConfig',
  'PartiallyInvalid',
  MESH_UNAVAILABLE,
  SECRETS_UNAVAILABLE,
])
/** A true condition with this reason lists what is not valid. */
const PARTIALLY_VALID = 'PartiallyValid'

export function reportedConditions(object: ObjectStatus): ReportedCondition[] {
  const { status } = object
  const own = 'conditions' in status ? status.conditions : []
  const listeners = 'listeners' in status ? status.listeners : []
  const rows = (conditions: readonly Condition[], part: string, parent?: ParentRef): ReportedCondition[] =>
    conditions.filter(isProblem).map(({ type, status: value, reason, message }) => ({
      row: { object: objectText(object), part, type, status: value, reason, message },
      namespace: object.namespace,
      parent,
    }))
  return [
    ...rows(own, ''),
    ...listeners.flatMap(({ name, conditions }) => rows(conditions, `listener ${name}`)),
    ...attachments(status).flatMap(({ ref, conditions }) =>
      isSummary(ref) ? rows(conditions, '') : rows(conditions, parentText(object, ref), ref),
    ),
  ]
}

export interface Attachment {
  readonly ref: ParentRef
  readonly conditions: readonly Condition[]
}

/** What a route or a policy is attached to. */
export function attachments(status: StatusBody): Attachment[] {
  return [
    ...('parents' in status ? status.parents.map(({ parentRef: ref, conditions }) => ({ ref, conditions })) : []),
    ...('ancestors' in status ? status.ancestors.map(({ ancestorRef: ref, conditions }) => ({ ref, conditions })) : []),
  ]
}

/** `Kind namespace/name`, or `Kind name`. */
export function objectText(ref: { readonly kind: string; readonly namespace: string; readonly name: string }): string {
  return ref.namespace === '' ? `${ref.kind} ${ref.name}` : describe(ref)
}

function parentText({ namespace }: ObjectStatus, ref: ParentRef): string {
  const { kind = 'Gateway', sectionName } = ref
  const text = `${kind} ${nameKey(ref.namespace ?? namespace, ref.name)}`
  return sectionName === undefined ? text : `${text}, ${sectionName}`
}

/** `Programmed` depends on the proxies, which translation does not know. */
function isProblem({ type, status, reason }: Condition): boolean {
  if (type === 'Programmed') return false
  if (NEGATIVE.has(type)) return status === 'True'
  return status !== 'True' || reason === PARTIALLY_VALID
}
