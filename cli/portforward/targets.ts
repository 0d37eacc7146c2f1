// The proxies that a command connects to, from its flags: one on this machine, or pods of a cluster. Pure: mistakes are
// values.
import type { AdminTransport } from './admin-client.ts'
import type { Address } from './admin-token.ts'
import { addressOf } from './local-transport.ts'
import { namespaceProblem, parseResource, type Resource } from './resource.ts'

/** Flags that choose the cluster and its user, as those of kubectl. */
export interface ClusterFlags {
  readonly kubeconfig?: string
  readonly context?: string
}

export interface TargetFlags extends ClusterFlags {
  readonly local?: boolean
  readonly adminAddr: string
  readonly namespace?: string
  readonly allNamespaces?: boolean
  readonly proxyAdminPort?: number
}

/** A proxy that a command can reach. */
export interface ProxyTransport extends AdminTransport {
  /** `gateway/web.shop`, for proxies of a cluster whose Gateway is known. */
  readonly gateway: string | undefined
  /** The port of a listener, opened on this machine while `use` runs. For a proxy on this machine: the port itself. */
  withPort<T>(port: number, use: (localPort: number) => Promise<T>): Promise<T>
}

export interface ClusterTarget {
  readonly kind: 'cluster'
  readonly cluster: ClusterFlags
  /** undefined: the only Gateway of the namespace, or all Gateways with `isEverywhere`. */
  readonly resource: Resource | undefined
  readonly namespace: string | undefined
  /** In all namespaces. */
  readonly isEverywhere: boolean
  readonly adminPort: number
}

export type ProxyTarget = { readonly kind: 'local'; readonly address: Address } | ClusterTarget

export const ADMIN_PORT = 15_000

/** `resource`: the argument of the command; undefined: none was given. */
export function targetOf(flags: TargetFlags, resource: string | undefined): ProxyTarget | { readonly problem: string } {
  if (flags.local === true) return localTarget(flags, resource)
  const { namespace, allNamespaces = false, proxyAdminPort = ADMIN_PORT } = flags
  if (allNamespaces && (resource !== undefined || namespace !== undefined)) {
    return { problem: '--all-namespaces selects the proxies of all Gateways: omit the resource and --namespace' }
  }
  const problem = namespaceProblem(namespace)
  if (problem !== undefined) return { problem }
  const target = { kind: 'cluster', cluster: flags, isEverywhere: allNamespaces, adminPort: proxyAdminPort } as const
  if (resource === undefined) return { ...target, resource, namespace }
  const parsed = parseResource(resource, namespace)
  return 'problem' in parsed ? parsed : { ...target, resource: parsed, namespace: parsed.namespace ?? namespace }
}

function localTarget(flags: TargetFlags, resource: string | undefined): ProxyTarget | { readonly problem: string } {
  if (resource !== undefined) return { problem: `--local connects to a proxy on this machine: omit ${resource}` }
  const address = addressOf(flags.adminAddr)
  if (address === undefined) return { problem: `--admin-addr ${flags.adminAddr}: must be host:port` }
  return { kind: 'local', address }
}
