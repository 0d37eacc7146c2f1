// The rendered parts of one Service or InferencePool. Types only.
import type { Service } from '#api/ir/types.gen.ts'

export interface ServiceParts {
  readonly hostname: string
  readonly rendered: Service
  readonly endpoints: readonly ServiceEndpoint[]
}

/** A workload as one Service sees it. */
export interface ServiceEndpoint {
  readonly uid: string
  readonly namespace: string
  readonly name?: string
  readonly node?: string
  readonly zone?: string
  readonly healthy: boolean
  readonly addresses: readonly string[]
  readonly serviceAccount?: string
  /** Absent: a proxy of ours, which serves no Service here. */
  readonly service?: { readonly hostname: string; readonly namespace: string }
  /** Zones and nodes for which this Service hints it. */
  readonly forZones?: readonly string[]
  readonly forNodes?: readonly string[]
  /** Of the service, and of the workload. */
  readonly ports: readonly (readonly [number, number])[]
}
