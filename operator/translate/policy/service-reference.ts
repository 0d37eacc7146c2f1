// A Service or backend that a policy field calls during a request. One that cannot be resolved stays as an unreachable
// target: the failure mode of the field then decides. Resolved ones are delivered with the policy.
import type { BackendReference } from '#api/ir/types.gen.ts'
import type { FieldPath } from '#api/problem.ts'
import type { BackendObjectReference } from '#api/v1alpha1/shared.gen.ts'
import { GW_GROUP } from '../groups.ts'
import { resolveReference } from '../service/reference.ts'
import { type FieldContext, reportError } from './field.ts'

export function serviceReference(
  backendRef: BackendObjectReference,
  path: FieldPath,
  context: FieldContext,
): BackendReference {
  const { owner, references } = context.scope
  const from = { group: GW_GROUP, kind: owner.kind, namespace: owner.namespace }
  const { ref, invalid } = resolveReference(backendRef, from, references)
  if (invalid === undefined) context.report.references.push(ref)
  else {
    const { reason, message } = invalid
    reportError(context, { path, reason, message: `${context.field}: ${message}` })
  }
  return ref
}
