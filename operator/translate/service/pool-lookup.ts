// InferencePools by name, for references.
import type { Snapshot } from '../snapshot.ts'
import type { InferencePool } from '../inference-pool.ts'

export interface PoolLookup {
  readonly get: (namespace: string, name: string) => InferencePool | undefined
  readonly hostname: (namespace: string, name: string) => string
}

/** The message if InferencePools are not enabled. */
export const POOLS_ARE_OFF = 'InferencePools are not enabled; set GW_ENABLE_INFER_EXT=true for the controller'

export function poolLookup(snapshot: Pick<Snapshot, 'InferencePool'>, clusterDomain: string): PoolLookup {
  return {
    get: snapshot.InferencePool.get,
    hostname: (namespace, name) => `${name}.${namespace}.inference.${clusterDomain}`,
  }
}
