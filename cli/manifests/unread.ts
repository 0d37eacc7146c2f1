// Kinds that Gw does not read. Manifests that run programs are beside routes in many folders: they are ignored without
// a message. Kinds that look like routing, or belong to another program, cause a warning.
const SILENT_GROUPS: ReadonlySet<string> = new Set([
  '',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'apps',
  'autoscaling',
  'batch',
  'coordination.k8s.io',
  'discovery.k8s.io',
  'events.k8s.io',
  // Read, without a schema here.
  'inference.networking.k8s.io',
  'node.k8s.io',
  'policy',
  'rbac.authorization.k8s.io',
  'scheduling.k8s.io',
  'storage.k8s.io',
])
const SILENT_KINDS: ReadonlySet<string> = new Set(['NetworkPolicy', 'Kustomization'])
const CURES: ReadonlyMap<string, string> = new Map([
  ['Ingress', 'replace it with a Gateway and an HTTPRoute: gw migrate ingress translates it'],
  ['IngressClass', 'replace it with a GatewayClass'],
])

/** undefined: users do not expect Gw to read this kind. */
export function unreadKind(apiVersion: string, kind: string): string | undefined {
  const group = apiVersion.includes('/') ? (apiVersion.split('/', 1)[0] ?? '') : ''
  if (SILENT_GROUPS.has(group) || SILENT_KINDS.has(kind)) return undefined
  const cure = CURES.get(kind)
  return `${kind} of ${apiVersion} is not supported by Gw and has no effect${cure === undefined ? '' : `; ${cure}`}`
}
