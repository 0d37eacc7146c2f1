// Reports routes that name a Gateway which is not among the manifests. In a cluster such a route has no status, because
// no controller is responsible for it; here it causes a warning.
import { isRecord } from '#api/json.ts'
import type { FileProblem } from '#api/source/document.ts'
import type { KubeObject } from '#operator/translate/kube.ts'
import type { LoadedManifests } from './load.ts'

const GROUP = 'gateway.networking.k8s.io'
const PARENTS: ReadonlySet<string> = new Set(['Gateway', 'ListenerSet'])
const ROUTES: ReadonlySet<string> = new Set(['HTTPRoute', 'GRPCRoute', 'TCPRoute', 'TLSRoute'])

export function lostParents(loaded: LoadedManifests): FileProblem[] {
  // A Gateway with errors counts too: its own errors report why it serves nothing.
  const parents = new Set([
    ...loaded.objects.filter(({ kind }) => PARENTS.has(kind)).map((one) => keyOf(one.kind, nameOf(one))),
    ...loaded.refused.map((one) => keyOf(one.kind, one)),
  ])
  return loaded.objects.filter(({ kind }) => ROUTES.has(kind)).flatMap((route) => lostOf(route, parents, loaded))
}

function lostOf(route: KubeObject, parents: ReadonlySet<string>, loaded: LoadedManifests): FileProblem[] {
  const { kind: routeKind } = route
  const own = nameOf(route)
  return parentRefsOf(route).flatMap((ref, index) => {
    const { group = GROUP, kind = 'Gateway', namespace = own.namespace, name } = ref
    if (group !== GROUP || typeof kind !== 'string' || !PARENTS.has(kind)) return []
    if (parents.has(keyOf(kind, { namespace: String(namespace), name: String(name) }))) return []
    const path = `spec.parentRefs[${index}]`
    const place = loaded.locate({ kind: routeKind, ...own }, path)
    const where = place ?? { file: `${routeKind}/${own.namespace}/${own.name}`, line: 1, column: 1 }
    const message = `${kind} ${String(namespace)}/${String(name)} is not among these manifests: the route is not served there`
    return [{ ...where, path, message, severity: 'warning' as const, reason: 'NoMatchingParent' }]
  })
}

/** The parents of any route; the schema has accepted it. */
function parentRefsOf({
  spec,
}: KubeObject & { readonly spec?: unknown }): readonly Readonly<Record<string, unknown>>[] {
  const refs = isRecord(spec) ? spec['parentRefs'] : undefined
  return Array.isArray(refs) ? refs.filter(isRecord) : []
}

function nameOf({ metadata }: KubeObject): { readonly namespace: string; readonly name: string } {
  return { namespace: metadata.namespace ?? '', name: metadata.name ?? '' }
}

function keyOf(kind: string, { namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${kind} ${namespace} ${name}`
}
