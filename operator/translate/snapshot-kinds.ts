// The kinds that translation reads. Types only.
import type { BackendTLSPolicy } from '#api/gateway/backendtlspolicy.gen.ts'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import type { GatewayClass } from '#api/gateway/gatewayclass.gen.ts'
import type { GRPCRoute } from '#api/gateway/grpcroute.gen.ts'
import type { HTTPRoute } from '#api/gateway/httproute.gen.ts'
import type { ListenerSet } from '#api/gateway/listenerset.gen.ts'
import type { ReferenceGrant } from '#api/gateway/referencegrant.gen.ts'
import type { TCPRoute } from '#api/gateway/tcproute.gen.ts'
import type { TLSRoute } from '#api/gateway/tlsroute.gen.ts'
import type { GwBackend } from '#api/v1alpha1/gwbackend.gen.ts'
import type { GwModel } from '#api/v1alpha1/gwmodel.gen.ts'
import type { GwPolicy } from '#api/v1alpha1/gwpolicy.gen.ts'
import type { InferencePool } from './inference-pool.ts'
import type { ConfigMap, EndpointSlice, Namespace, Node, Pod, Secret, Service } from './kube.ts'

export interface SnapshotKinds {
  GatewayClass: GatewayClass
  Gateway: Gateway
  ListenerSet: ListenerSet
  HTTPRoute: HTTPRoute
  GRPCRoute: GRPCRoute
  TCPRoute: TCPRoute
  TLSRoute: TLSRoute
  ReferenceGrant: ReferenceGrant
  BackendTLSPolicy: BackendTLSPolicy
  Namespace: Namespace
  Service: Service
  EndpointSlice: EndpointSlice
  Node: Node
  Pod: Pod
  InferencePool: InferencePool
  Secret: Secret
  ConfigMap: ConfigMap
  GwBackend: GwBackend
  GwModel: GwModel
  GwPolicy: GwPolicy
}

export type SnapshotKind = keyof SnapshotKinds
