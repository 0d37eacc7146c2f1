// The admin servers of the replicas of the operator, through port-forwards.
import type { AdminTransport } from '../portforward/admin-client.ts'
import type { ClusterFlags } from '../portforward/targets.ts'

export const CONTROLLER_NAMESPACE = 'gw-system'
const ADMIN_PORT = 9095
const SELECTOR = 'app.kubernetes.io/component=gw-controller'

/** @throws {Error} The cluster cannot be reached, or no replica runs. */
export async function controllerTransports(
  flags: ClusterFlags & { readonly namespace: string },
): Promise<readonly [AdminTransport, ...AdminTransport[]]> {
  const { podTransports } = await import('../portforward/proxy-pods.ts')
  const [first, ...others] = await podTransports({ ...flags, labelSelector: SELECTOR, port: ADMIN_PORT })
  if (first !== undefined) return [first, ...others]
  throw new Error(`no running pod with ${SELECTOR} in namespace ${flags.namespace}`)
}
