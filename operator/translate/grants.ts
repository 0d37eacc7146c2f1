// ReferenceGrant: whether an object may name another one in a foreign namespace. Must never default to yes.
import type { ReferenceGrant } from '#api/gateway/referencegrant.gen.ts'
import { namespaceOf } from './object-ref.ts'

export interface CrossReference {
  readonly from: { readonly group: string; readonly kind: string; readonly namespace: string }
  readonly to: { readonly group: string; readonly kind: string; readonly namespace: string; readonly name: string }
}

export type IsPermitted = (reference: CrossReference) => boolean

/** Same-namespace references are always permitted; any other needs one grant in the namespace referred to. */
export function grantChecker(grants: readonly ReferenceGrant[]): IsPermitted {
  const byNamespace = new Map<string, ReferenceGrant[]>()
  for (const grant of grants) {
    const namespace = namespaceOf(grant)
    const known = byNamespace.get(namespace)
    if (known === undefined) byNamespace.set(namespace, [grant])
    else known.push(grant)
  }
  return (reference) =>
    reference.from.namespace === reference.to.namespace ||
    (byNamespace.get(reference.to.namespace) ?? []).some((grant) => grantAllows(grant, reference))
}

function grantAllows(grant: ReferenceGrant, { from, to }: CrossReference): boolean {
  return (
    grant.spec.from.some(
      (one) => one.group === from.group && one.kind === from.kind && one.namespace === from.namespace,
    ) &&
    grant.spec.to.some(
      (one) =>
        one.group === to.group &&
        one.kind === to.kind &&
        (one.name === undefined || one.name === '' || one.name === to.name),
    )
  )
}
