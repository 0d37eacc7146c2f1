// ReferenceGrant: whether an object may name another one in a foreign namespace. Must never default to yes.
import type { ReferenceGrant } from '#api/gateway/referencegrant.gen.ts'
import { nameKey, namespaceOf } from './object-ref.ts'
import type { BackendRefGrantMode } from './translation.ts'

export interface CrossReference {
  readonly from: { readonly group: string; readonly kind: string; readonly namespace: string }
  readonly to: { readonly group: string; readonly kind: string; readonly namespace: string; readonly name: string }
}

export type IsPermitted = (reference: CrossReference) => boolean

/** Why a reference may not be followed. `BringsCredentials`: in a mode in which other references need no grant. */
export type Refusal = 'NotGranted' | 'BringsCredentials'

/** undefined: the reference may be followed. */
export type RefusalOf = (reference: CrossReference) => Refusal | undefined

export interface ReferenceRules {
  readonly ofRoutes: RefusalOf
  readonly ofPolicies: RefusalOf
}

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

/** Whether following the reference would use a credential that its target, or what that leads to, holds. */
export type BringsCredentials = (reference: CrossReference) => boolean

/** Credentials need a grant in every mode (ADR 11). */
export function referenceRules(
  mode: BackendRefGrantMode = 'route-and-policy',
  { isGranted, bringsCredentials }: { readonly isGranted: IsPermitted; readonly bringsCredentials: BringsCredentials },
): ReferenceRules {
  const strict: RefusalOf = (reference) => (isGranted(reference) ? undefined : 'NotGranted')
  const lax: RefusalOf = (reference) =>
    isGranted(reference) || !bringsCredentials(reference) ? undefined : 'BringsCredentials'
  return {
    ofRoutes: mode === 'none' ? lax : strict,
    ofPolicies: mode === 'route-and-policy' ? strict : lax,
  }
}

/** The rejected reference, and the ReferenceGrant that would permit it. */
export function refusalMessage({ from, to }: CrossReference, refusal: Refusal): string {
  const why = refusal === 'BringsCredentials' ? ', because it uses credentials of its namespace' : ''
  return (
    `backendRef ${nameKey(to.namespace, to.name)} not accessible to a ${from.kind} in namespace ${from.namespace}` +
    `${why}; ${grantWanted({ from, to })}`
  )
}

/** The ReferenceGrant that permits the reference. */
export function grantWanted({ from, to }: CrossReference): string {
  const target = `${kindOf(to)}${to.name === '' ? '' : ` ${to.name}`}`
  return `add a ReferenceGrant in namespace ${to.namespace} from ${kindOf(from)} of namespace ${from.namespace} to ${target}`
}

function kindOf({ group, kind }: { readonly group: string; readonly kind: string }): string {
  return group === '' ? kind : `${kind}.${group}`
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
