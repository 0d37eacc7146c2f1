// The cluster as translation sees it: known kinds, indexed, in one order. Knows nothing of what the objects mean.
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
import type { GwPolicy } from '#api/v1alpha1/gwpolicy.gen.ts'
import { CORE_GROUP, DISCOVERY_GROUP, GATEWAY_GROUP, GW_GROUP } from './groups.ts'
import type { ConfigMap, EndpointSlice, KubeObject, Namespace, Secret, Service } from './kube.ts'
import { groupOf, keyOf, nameKey, type ObjectRef, refOf } from './object-ref.ts'
import { compareByAge, compareText, sortedBy } from './order.ts'
import { hasShape, isNamedObject } from './shape.ts'

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
  Secret: Secret
  ConfigMap: ConfigMap
  GwBackend: GwBackend
  GwPolicy: GwPolicy
}

export type SnapshotKind = keyof SnapshotKinds

export interface ObjectIndex<T> {
  /** Older first, then namespace, then name. */
  readonly all: readonly T[]
  /** Cluster-scoped objects have the namespace ''. */
  readonly get: (namespace: string, name: string) => T | undefined
}

export type Snapshot = { readonly [K in SnapshotKind]: ObjectIndex<SnapshotKinds[K]> } & {
  /** Objects of kinds that translation does not read, and second objects of one name. */
  readonly ignored: readonly ObjectRef[]
  /** Objects of known kinds that lack the shape of their kind. */
  readonly malformed: readonly ObjectRef[]
}

const GROUPS: { readonly [K in SnapshotKind]: string } = {
  GatewayClass: GATEWAY_GROUP,
  Gateway: GATEWAY_GROUP,
  ListenerSet: GATEWAY_GROUP,
  HTTPRoute: GATEWAY_GROUP,
  GRPCRoute: GATEWAY_GROUP,
  TCPRoute: GATEWAY_GROUP,
  TLSRoute: GATEWAY_GROUP,
  ReferenceGrant: GATEWAY_GROUP,
  BackendTLSPolicy: GATEWAY_GROUP,
  Namespace: CORE_GROUP,
  Service: CORE_GROUP,
  Secret: CORE_GROUP,
  ConfigMap: CORE_GROUP,
  EndpointSlice: DISCOVERY_GROUP,
  GwBackend: GW_GROUP,
  GwPolicy: GW_GROUP,
}

/** What bears no kind and name is dropped. The result does not depend on the order of `objects`. */
export function snapshotOf(objects: readonly KubeObject[]): Snapshot {
  const byKind = new Map<string, KubeObject[]>()
  const ignored: ObjectRef[] = []
  const malformed: ObjectRef[] = []
  for (const object of objects) {
    if (!isNamedObject(object)) continue
    const kind = kindOf(object)
    if (kind === undefined || !hasShape(kind, object)) {
      const list = kind === undefined ? ignored : malformed
      list.push(refOf(object))
      continue
    }
    const list = byKind.get(object.kind)
    if (list === undefined) byKind.set(object.kind, [object])
    else list.push(object)
  }
  const index = <K extends SnapshotKind>(kind: K): ObjectIndex<SnapshotKinds[K]> =>
    // Objects are grouped by kind above, and their shape is what the API server (or the validator) accepted.
    indexOf(byKind.get(kind) ?? [], ignored) as ObjectIndex<SnapshotKinds[K]>
  return {
    GatewayClass: index('GatewayClass'),
    Gateway: index('Gateway'),
    ListenerSet: index('ListenerSet'),
    HTTPRoute: index('HTTPRoute'),
    GRPCRoute: index('GRPCRoute'),
    TCPRoute: index('TCPRoute'),
    TLSRoute: index('TLSRoute'),
    ReferenceGrant: index('ReferenceGrant'),
    BackendTLSPolicy: index('BackendTLSPolicy'),
    Namespace: index('Namespace'),
    Service: index('Service'),
    EndpointSlice: index('EndpointSlice'),
    Secret: index('Secret'),
    ConfigMap: index('ConfigMap'),
    GwBackend: index('GwBackend'),
    GwPolicy: index('GwPolicy'),
    ignored: sortedBy(ignored, describeRef),
    malformed: sortedBy(malformed, describeRef),
  }
}

function kindOf(object: KubeObject): SnapshotKind | undefined {
  if (!Object.hasOwn(GROUPS, object.kind)) return undefined
  // hasOwn above makes the kind a key of the table.
  const kind = object.kind as SnapshotKind
  return GROUPS[kind] === groupOf(object.apiVersion) ? kind : undefined
}

function indexOf(objects: readonly KubeObject[], ignored: ObjectRef[]): ObjectIndex<KubeObject> {
  const sorted = [...objects].sort((a, b) => compareByAge(a, b) || compareContent(a, b))
  const byKey = new Map<string, KubeObject>()
  for (const object of sorted) {
    if (byKey.has(keyOf(object))) ignored.push(refOf(object))
    else byKey.set(keyOf(object), object)
  }
  return { all: [...byKey.values()], get: (namespace, name) => byKey.get(nameKey(namespace, name)) }
}

/** Only two objects of one kind, age and name come here: a broken input, kept independent of its order. */
function compareContent(a: KubeObject, b: KubeObject): number {
  return keyOf(a) === keyOf(b) ? compareText(JSON.stringify(a), JSON.stringify(b)) : 0
}

function describeRef(ref: ObjectRef): string {
  return `${ref.apiVersion}/${ref.kind}/${nameKey(ref.namespace, ref.name)}`
}
