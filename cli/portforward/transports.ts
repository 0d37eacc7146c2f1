// Opens what the flags of a command select: the proxy on this machine, or pods of a cluster.
import { withProgress } from '../progress.ts'
import { localTransport } from './local-transport.ts'
import type { ProxyTarget, ProxyTransport } from './targets.ts'

/**
 * All proxies of the target, sorted by name; at least one.
 * @throws {Error} with a message for the user
 */
export async function transportsOf(target: ProxyTarget): Promise<readonly [ProxyTransport, ...ProxyTransport[]]> {
  if (target.kind === 'local') {
    const transport = localTransport(target.address)
    return [{ ...transport, gateway: undefined, withPort: (port, use) => use(port) }]
  }
  // The client of the cluster takes as long to load as everything else.
  const { proxyTransports } = await import('./proxy-pods.ts')
  return withProgress('looking for the pods', proxyTransports(target))
}
