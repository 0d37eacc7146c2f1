// The argument that names proxies in a cluster, as in kubectl: `gateway/web`, `svc/web`, `web-7d9f.shop`. Pure.

export type ResourceKind = 'gateway' | 'service' | 'deployment' | 'replicaset' | 'statefulset' | 'daemonset' | 'pod'

export interface Resource {
  readonly kind: ResourceKind
  readonly name: string
  /** From `NAME.NAMESPACE`; undefined: that of the flag or the context. */
  readonly namespace: string | undefined
}

const KINDS: ReadonlyMap<string, ResourceKind> = new Map([
  ...kindsOf('gateway', 'gateways', 'gtw', 'gtws'),
  ...kindsOf('service', 'services', 'svc'),
  ...kindsOf('deployment', 'deployments', 'deploy'),
  ...kindsOf('replicaset', 'replicasets', 'rs'),
  ...kindsOf('statefulset', 'statefulsets', 'sts'),
  ...kindsOf('daemonset', 'daemonsets', 'ds'),
  ...kindsOf('pod', 'pods', 'po'),
])

/** Names of objects and namespaces: lower-case letters, digits, `-` and `.`. They become parts of URLs. */
const NAME = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/

/** `namespace`: of the flag. With it, dots belong to the name. */
export function parseResource(text: string, namespace: string | undefined): Resource | { readonly problem: string } {
  const slash = text.indexOf('/')
  const kind = slash === -1 ? 'pod' : KINDS.get(text.slice(0, slash).toLowerCase())
  if (kind === undefined) {
    const known = [...new Set(KINDS.values())].join(', ')
    return { problem: `${text}: "${text.slice(0, slash)}" is not a kind of resource; use one of ${known}` }
  }
  const place = text.slice(slash + 1)
  if (!NAME.test(place)) return { problem: `${text}: "${place}" is not a name; use a form such as gateway/web` }
  const dot = place.lastIndexOf('.')
  if (namespace !== undefined || dot === -1) return { kind, name: place, namespace }
  return { kind, name: place.slice(0, dot), namespace: place.slice(dot + 1) }
}

export function namespaceProblem(namespace: string | undefined): string | undefined {
  if (namespace === undefined || (NAME.test(namespace) && !namespace.includes('.'))) return undefined
  return `--namespace ${namespace}: is not the name of a namespace`
}

function kindsOf(kind: ResourceKind, ...aliases: readonly string[]): [string, ResourceKind][] {
  return [kind, ...aliases].map((alias) => [alias, kind])
}
