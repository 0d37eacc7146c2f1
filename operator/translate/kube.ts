// The core Kubernetes kinds that translation reads, with the fields it reads and no more. Types only.
import type { ObjectMeta } from '#api/kube/object-meta.ts'

/** Any object of a cluster, before its kind is known. */
export interface KubeObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
}

export interface Namespace extends KubeObject {
  readonly apiVersion: 'v1'
  readonly kind: 'Namespace'
}

export interface Service extends KubeObject {
  readonly apiVersion: 'v1'
  readonly kind: 'Service'
  readonly spec?: {
    readonly type?: string
    readonly clusterIP?: string
    readonly clusterIPs?: readonly string[]
    readonly ports?: readonly ServicePort[]
    readonly trafficDistribution?: string
    readonly internalTrafficPolicy?: string
  }
  readonly status?: {
    readonly loadBalancer?: { readonly ingress?: ReadonlyArray<{ readonly ip?: string; readonly hostname?: string }> }
  }
}

export interface ServicePort {
  readonly name?: string
  readonly port: number
  readonly protocol?: string
  readonly appProtocol?: string
}

export interface EndpointSlice extends KubeObject {
  readonly apiVersion: 'discovery.k8s.io/v1'
  readonly kind: 'EndpointSlice'
  readonly addressType?: string
  readonly endpoints?: readonly Endpoint[] | null
  readonly ports?: readonly EndpointPort[] | null
}

export interface Endpoint {
  readonly addresses: readonly string[]
  readonly conditions?: { readonly ready?: boolean; readonly serving?: boolean; readonly terminating?: boolean }
  readonly nodeName?: string
  readonly zone?: string
  readonly targetRef?: { readonly kind?: string; readonly name?: string }
  readonly hints?: EndpointHints | null
}

export interface EndpointHints {
  readonly forZones?: ReadonlyArray<{ readonly name: string }> | null
  readonly forNodes?: ReadonlyArray<{ readonly name: string }> | null
}

export interface EndpointPort {
  readonly name?: string
  readonly port?: number
  readonly protocol?: string
}

export interface Secret extends KubeObject {
  readonly apiVersion: 'v1'
  readonly kind: 'Secret'
  readonly type?: string
  /** Values are base64. */
  readonly data?: Readonly<Record<string, string>>
  /** Plain values; only in manifests, the API server folds them into `data`. */
  readonly stringData?: Readonly<Record<string, string>>
}

export interface ConfigMap extends KubeObject {
  readonly apiVersion: 'v1'
  readonly kind: 'ConfigMap'
  readonly data?: Readonly<Record<string, string>>
}

/** Where it is: its labels. */
export interface Node extends KubeObject {
  readonly apiVersion: 'v1'
  readonly kind: 'Node'
}

/** Members of InferencePools, and of a mesh. */
export interface Pod extends KubeObject {
  readonly apiVersion: 'v1'
  readonly kind: 'Pod'
  readonly spec?: { readonly nodeName?: string; readonly serviceAccountName?: string }
  readonly status?: {
    readonly phase?: string
    readonly podIP?: string
    readonly podIPs?: ReadonlyArray<{ readonly ip: string }>
    readonly conditions?: ReadonlyArray<{ readonly type: string; readonly status: string }>
  }
}
