// The tunnels to workloads of the mesh, for the compiled configuration: which workload needs one, which identity it
// must have, and which certificate the proxy presents.
import type { Workload } from '#api/ir/types.gen.ts'
import type { HboneClient } from '../mesh/hbone-client.ts'
import { type MeshIdentity, meshIdentity, versionOf } from '../mesh/mesh-secrets.ts'
import { spiffeIdOf } from '../mesh/spiffe-id.ts'
import type { UpstreamTunnel } from '../upstream/target.ts'
import type { CompileContext } from './context.ts'

/** undefined: the proxy is part of no mesh, and workloads get plain connections. */
export function meshTunnels(
  hbone: HboneClient | undefined,
  secret: CompileContext['secret'],
): ((workload: Workload) => UpstreamTunnel | undefined) | undefined {
  if (hbone === undefined) return undefined
  const current = latest(secret)
  return (workload) => {
    if (workload.protocol !== 'HBONE') return undefined
    const identity = current()
    return identity === undefined ? NO_CERTIFICATE : tunnelTo(workload, identity, hbone)
  }
}

/** The same object as long as the certificate is the same: its version is computed once. */
function latest(secret: CompileContext['secret']): () => MeshIdentity | undefined {
  let known: MeshIdentity | undefined
  return () => {
    const identity = meshIdentity(secret)
    if (identity === undefined) return undefined
    if (known?.chain !== identity.chain || known.roots !== identity.roots) known = identity
    return known
  }
}

function tunnelTo(workload: Workload, identity: MeshIdentity, hbone: HboneClient): UpstreamTunnel {
  const expected = expectedId(workload, identity)
  if (expected !== undefined && 'problem' in expected) return { key: 'mesh', way: expected }
  const spiffeId = expected?.spiffeId
  return {
    key: `mesh ${spiffeId ?? ''} ${versionOf(identity)}`,
    way: {
      open: ({ host, port, connectTimeoutMs, namedBy }, done) =>
        hbone.open({ host, port, spiffeId, connectTimeoutMs, namedBy }, identity, done),
    },
  }
}

/** Without one, traffic for the workload would leave in clear text. */
const NO_CERTIFICATE: UpstreamTunnel = {
  key: 'mesh without certificate',
  way: { problem: 'the proxy has no certificate of the mesh' },
}

/** undefined: the configuration names no service account; any workload of the accepted trust domains is called. */
function expectedId(
  { namespace, serviceAccount, trustDomain }: Workload,
  identity: MeshIdentity,
): { readonly spiffeId: string } | { readonly problem: string } | undefined {
  if (namespace === undefined || serviceAccount === undefined) return undefined
  const [own = ''] = identity.trustDomains
  try {
    return { spiffeId: spiffeIdOf({ trustDomain: trustDomain ?? own, namespace, serviceAccount }) }
  } catch {
    return { problem: 'the identity of the workload is invalid' }
  }
}
