// The RequestMirror filter: which backend gets copies, and of which share of the requests.
import type { HTTPRouteFilter } from '#api/gateway/httproute.gen.ts'
import type { RequestMirror } from '#api/ir/types.gen.ts'
import { GW_GROUP } from '../groups.ts'
import { type ReferenceScope, type ReferenceSource, resolveReference } from '../service/reference.ts'
import type { RouteFault } from '../route-fault.ts'

/** A mirror, or why it cannot be used: the route is served in any case. */
export type MirrorTranslation = { readonly mirror: RequestMirror } | { readonly unresolved: Omit<RouteFault, 'path'> }

const ALL = { numerator: 100, denominator: 100 }

/** `from`: the route. */
export function renderMirror(
  filter: NonNullable<HTTPRouteFilter['requestMirror']>,
  from: ReferenceSource,
  scope: ReferenceScope,
): MirrorTranslation {
  const { backendRef, percent, fraction } = filter
  const { ref, invalid } = resolveReference(backendRef, from, scope)
  if (invalid !== undefined) return { unresolved: invalid }
  if (backendRef.group === GW_GROUP && !isStatic(backendRef.name, backendRef.namespace ?? from.namespace, scope)) {
    const message = `RequestMirror to GwBackend ${backendRef.name}: only static backends and Services can be mirrors`
    return { unresolved: { reason: 'UnsupportedValue', message } }
  }
  const share = percent === undefined ? ALL : { numerator: percent, denominator: 100 }
  const { numerator, denominator = 100 } = fraction ?? share
  return { mirror: { ref, numerator, denominator } }
}

function isStatic(name: string, namespace: string, { snapshot }: ReferenceScope): boolean {
  return snapshot.GwBackend.get(namespace, name)?.spec.static !== undefined
}
