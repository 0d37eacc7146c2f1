// A policy target: its kinds, its resolved form, and the data for lookups. No lookups.
import type { PolicyTarget } from '#api/ir/types.gen.ts'
import { CORE_GROUP, GATEWAY_GROUP, GW_GROUP, INFERENCE_GROUP } from '../groups.ts'
import type { PoolLookup } from '../service/pool-lookup.ts'
import type { ReachLookup } from '../reach-index.ts'
import type { ParentLookup } from '../gateway/parent-lookup.ts'
import type { Snapshot } from '../snapshot.ts'

export const TARGET_KINDS = {
  [CORE_GROUP]: ['Service'],
  [GATEWAY_GROUP]: ['Gateway', 'ListenerSet', 'HTTPRoute', 'GRPCRoute'],
  [GW_GROUP]: ['GwBackend'],
  [INFERENCE_GROUP]: ['InferencePool'],
} as const

export type TargetKind = (typeof TARGET_KINDS)[keyof typeof TARGET_KINDS][number]

export interface ResolvedTarget {
  /** Identity for same-level conflicts: kind, namespace, name, section, port. */
  readonly key: string
  /** The part of policy keys after the suffix. */
  readonly keySuffix: string
  readonly target: PolicyTarget
  /** Keys of our Gateways that deliver it. */
  readonly gateways: readonly string[]
}

/** Keys of the Gateways that accepted a route; its key is `Kind/namespace/name`. */
export interface RouteGateways {
  readonly get: (route: string) => ReadonlySet<string> | undefined
}

export interface TargetLookup {
  readonly snapshot: Snapshot
  readonly parents: ParentLookup
  readonly routeGateways: RouteGateways
  readonly reached: ReachLookup
  readonly serviceHostname: (namespace: string, name: string) => string
  /** undefined: InferencePools are not read. */
  readonly pools: PoolLookup | undefined
}
