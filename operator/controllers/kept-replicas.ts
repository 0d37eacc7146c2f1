// Keeps the number of pods when an autoscaler takes it over from parameters: a field that is no longer applied gets its
// default, one pod, until the autoscaler sets it. Another field manager that applies the same number keeps it. Pure.
import { isRecord } from '#api/json.ts'
import type { KubeObject } from '../translate/kube.ts'

export interface KeptReplicasInput {
  /** The object that will be applied. */
  readonly object: KubeObject
  /** The live object, from the API server: the cache has no field managers. */
  readonly live: KubeObject | undefined
  readonly manager: string
  readonly wanted: readonly KubeObject[]
}

/** The object to apply first, by another field manager; undefined: none. */
export function keptReplicas({ object, live, manager, wanted }: KeptReplicasInput): KubeObject | undefined {
  const isScaled = object.kind === 'Deployment' && wanted.some(({ kind }) => kind === 'HorizontalPodAutoscaler')
  if (!isScaled || live === undefined || replicasOf(object) !== undefined) return undefined
  const replicas = replicasOf(live)
  // An autoscaler does not change a workload that is scaled to zero.
  if (replicas === undefined || replicas < 2 || !isAppliedBy(live, manager)) return undefined
  const { apiVersion, kind, metadata } = object
  const { uid } = live.metadata
  const identity = { name: metadata.name, ...(metadata.namespace && { namespace: metadata.namespace }) }
  // A part of the object, as server-side apply takes it.
  const part = { apiVersion, kind, metadata: { ...identity, ...(uid && { uid }) }, spec: { replicas } }
  return part
}

/** Of other managers of the field. */
export function replicasManager(manager: string): string {
  return `${manager}/replicas`
}

function replicasOf(object: KubeObject): number | undefined {
  const spec: unknown = 'spec' in object ? object.spec : undefined
  const replicas = isRecord(spec) ? spec['replicas'] : undefined
  return typeof replicas === 'number' ? replicas : undefined
}

function isAppliedBy({ metadata }: KubeObject, manager: string): boolean {
  const entries: unknown = 'managedFields' in metadata ? metadata.managedFields : undefined
  if (!Array.isArray(entries)) return false
  return entries.some((entry: unknown) => {
    if (!isRecord(entry) || entry['manager'] !== manager || entry['operation'] !== 'Apply') return false
    const fields = entry['fieldsV1']
    const spec = isRecord(fields) ? fields['f:spec'] : undefined
    return isRecord(spec) && spec['f:replicas'] !== undefined
  })
}
