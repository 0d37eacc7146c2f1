// What the deployer may own, and which live objects of a Gateway are to be removed. Data and pure checks.
import { GATEWAY_NAME_LABEL, safeName } from '#api/delivery/names.ts'
import type { ObjectMeta } from '#api/kube/object-meta.ts'
import type { KubeObject } from './kube-object.ts'

export interface OwnedKind {
  readonly apiVersion: string
  readonly kind: string
  readonly plural: string
  /**
   * `apply`: server-side apply, forced, whenever it differs. `create`: only if it is not there; never written again, so
   * that a stale read cannot replace a key in use.
   */
  readonly write: 'apply' | 'create'
  /** Removed when it is no longer wanted. The others go with the Gateway. */
  readonly isPruned: boolean
}

export const OWNED_KINDS: readonly OwnedKind[] = [
  { apiVersion: 'v1', kind: 'ServiceAccount', plural: 'serviceaccounts', write: 'apply', isPruned: false },
  { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', plural: 'roles', write: 'apply', isPruned: false },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    plural: 'rolebindings',
    write: 'apply',
    isPruned: false,
  },
  { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps', write: 'apply', isPruned: false },
  { apiVersion: 'v1', kind: 'Secret', plural: 'secrets', write: 'create', isPruned: false },
  { apiVersion: 'v1', kind: 'Service', plural: 'services', write: 'apply', isPruned: false },
  { apiVersion: 'apps/v1', kind: 'Deployment', plural: 'deployments', write: 'apply', isPruned: true },
  { apiVersion: 'apps/v1', kind: 'DaemonSet', plural: 'daemonsets', write: 'apply', isPruned: true },
  {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    plural: 'poddisruptionbudgets',
    write: 'apply',
    isPruned: true,
  },
  {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    plural: 'horizontalpodautoscalers',
    write: 'apply',
    isPruned: true,
  },
]

/** Label selector of all objects of a Gateway. */
export function pruneSelector(gatewayName: string): string {
  return `${GATEWAY_NAME_LABEL}=${safeName(gatewayName)}`
}

/** Of live objects found with pruneSelector those to delete: ours for certain, of a pruned kind, and not wanted. */
export function objectsToPrune<T extends LiveObject>(
  live: readonly T[],
  { gateway, wanted }: { readonly gateway: { readonly metadata: ObjectMeta }; readonly wanted: readonly KubeObject[] },
): T[] {
  const wantedKeys = new Set(wanted.map(({ kind, metadata }) => `${kind} ${metadata.name}`))
  return live.filter(
    (object) => isPrunable(object, gateway.metadata) && !wantedKeys.has(`${object.kind} ${object.metadata.name}`),
  )
}

interface LiveObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
}

function isPrunable({ apiVersion, kind, metadata }: LiveObject, gateway: ObjectMeta): boolean {
  const owned = OWNED_KINDS.find((each) => each.kind === kind && each.apiVersion === apiVersion)
  if (owned?.isPruned !== true) return false
  if (metadata.namespace !== gateway.namespace) return false
  if (metadata.labels?.[GATEWAY_NAME_LABEL] !== safeName(gateway.name)) return false
  return (metadata.ownerReferences ?? []).some(
    (owner) => owner.controller === true && owner.kind === 'Gateway' && owner.uid === gateway.uid,
  )
}
