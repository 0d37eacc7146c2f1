// Pods that are called through tunnels of an Istio mesh, with the identity that each of them has there. Annotation and
// label are those that the control plane of Istio reads (setTunnelProtocol in its package pilot, ambient).
import { Grouped } from '#api/incremental/grouped.ts'
import type { Workload } from '#api/ir/types.gen.ts'
import type { KubeObject, Pod } from '../kube.ts'
import { keyOf, nameKey } from '../object-ref.ts'

/** `enabled`: the network of the Pod is redirected to the node's proxy. A label only requests this. */
export const REDIRECTION_ANNOTATION = 'ambient.istio.io/redirection'
/** A list with `http`: the Pod accepts tunnels itself. */
const TUNNEL_LABEL = 'networking.istio.io/tunnel'
const NETWORK_LABEL = 'topology.istio.io/network'
/** That of Pods which name no service account. */
const DEFAULT_ACCOUNT = 'default'

type MeshFields = Pick<Workload, 'serviceAccount' | 'network' | 'protocol'>

export function isMeshPod({ metadata: { annotations, labels } }: KubeObject): boolean {
  if (annotations?.[REDIRECTION_ANNOTATION] === 'enabled') return true
  return labels?.[TUNNEL_LABEL]?.split(',').includes('http') === true
}

export class MeshPods {
  #pods = Grouped.of<Pod>([], keysOf)
  #version = 0
  #changed: readonly string[] = []

  /** Grows with every list in which a Pod of a mesh has changed. */
  get version(): number {
    return this.#version
  }

  enter(pods: readonly Pod[]): void {
    const before = this.#pods
    this.#pods = before.after(pods)
    const changed = this.#pods.changedSince(before)
    if (changed.length === 0) return
    this.#version++
    this.#changed = changed
  }

  /** `namespace/name` of Pods that have changed, joined or left since that version; undefined: any may have. */
  changedSince(version: number): readonly string[] | undefined {
    if (version === this.#version) return []
    return version === this.#version - 1 ? this.#changed : undefined
  }

  /** undefined: the Pod is unknown or not part of a mesh. */
  at(namespace: string, name: string): Pod | undefined {
    return this.#pods.at(nameKey(namespace, name))[0]
  }
}

/** Empty without a Pod. */
export function meshFieldsOf(pod: Pod | undefined): MeshFields {
  if (pod === undefined) return {}
  const network = pod.metadata.labels?.[NETWORK_LABEL]
  return {
    serviceAccount: pod.spec?.serviceAccountName ?? DEFAULT_ACCOUNT,
    ...(network !== undefined && network !== '' && { network }),
    protocol: 'HBONE',
  }
}

function keysOf(pod: Pod): readonly string[] {
  return isMeshPod(pod) ? [keyOf(pod)] : []
}
