// One listener of a Gateway or ListenerSet as the rest of translation sees it. Types and identity only.
import type { Gateway, GatewayListener } from '#api/gateway/gateway.gen.ts'
import type { ListenerTLS, RenderedSecret } from '#api/ir/types.gen.ts'
import type { ListenerSet } from '#api/gateway/listenerset.gen.ts'
import type { RouteGroupKind } from '../object-status.ts'
import type { ListenerProtocol } from '../capabilities.ts'
import type { GatewayCaps } from '../caps.ts'
import type { IsPermitted } from '../grants.ts'
import type { ForbiddenHost } from '../host-bindings.ts'
import { isSame } from '#api/incremental/same.ts'
import type { KubeObject } from '../kube.ts'
import { namespaceOf } from '../object-ref.ts'
import type { LabelSelector } from '../labels.ts'
import type { Snapshot } from '../snapshot.ts'

/** The input of the checks of listeners. */
export interface ListenerScope {
  readonly snapshot: Snapshot
  readonly isPermitted: IsPermitted
  readonly areModelsEnabled: boolean
  readonly caps: GatewayCaps
  readonly forbiddenHost: ForbiddenHost
  /** The verdict of a selector about each namespace: other labels matter only if it changes. */
  readonly namespacesOf: (selector: LabelSelector) => (namespace: string) => boolean
}

/** Why a listener does not work as specified. `reason` is a Gateway API condition reason. */
export interface ListenerFault {
  readonly reason: string
  readonly message: string
  /** Of the listener, `tls.certificateRefs[0]`, or of a Gateway at fault itself. Absent: the listener as a whole. */
  readonly field?: string
}

/** For readers that already know the listener. */
export function faultText({ field, message }: ListenerFault): string {
  return field === undefined ? message : `${field}: ${message}`
}

export interface ListenerIdentity {
  readonly gateway: Gateway
  /** Absent for listeners of the Gateway itself. */
  readonly set?: ListenerSet
  /** ListenerSet listeners have the same shape. */
  readonly spec: GatewayListener
  readonly key: string
  readonly bindKey: string
}

/**
 * A listener as routes and models depend on it. The same object while this part of the listener is the same, whatever
 * else changes in its Gateway.
 */
export interface RouteListener {
  /** Only the names of the Gateway and of the ListenerSet: their other fields may be those of a previous version. */
  readonly gateway: KubeObject
  readonly set?: KubeObject
  readonly spec: Pick<GatewayListener, 'name' | 'port' | 'hostname' | 'allowedRoutes'>
  readonly key: string
  readonly protocol: ListenerProtocol | undefined
  readonly kinds: readonly RouteGroupKind[]
  readonly notAccepted?: ListenerFault
  readonly notProgrammed?: ListenerFault
  readonly allowsNamespace: (namespace: string) => boolean
  readonly forbiddenHost: ForbiddenHost
}

export interface Listener extends ListenerIdentity {
  readonly forRoutes: RouteListener

  /** Undefined: an unknown protocol, so the listener is not accepted. */
  readonly protocol: ListenerProtocol | undefined
  /** Kinds that may attach: those that the protocol supports and allowedRoutes.kinds lists. */
  readonly kinds: readonly RouteGroupKind[]
  /** Set: accepts no routes. */
  readonly notAccepted?: ListenerFault
  readonly conflict?: ListenerFault
  readonly unresolvedRef?: ListenerFault
  /** Set: accepted, but no traffic reaches it. */
  readonly notProgrammed?: ListenerFault
  /** HTTPS and TLS. With `invalid` the proxy gets the listener all the same, and rejects its handshakes. */
  readonly tls?: ListenerTLS
  readonly secrets: readonly RenderedSecret[]
  /** Whether routes of this namespace may attach. */
  readonly allowsNamespace: (namespace: string) => boolean
  /** Whether a binding reserves the host for other namespaces. */
  readonly forbiddenHost: ForbiddenHost
}

export function routeListener(listener: Omit<Listener, 'forRoutes'>): RouteListener {
  const { gateway, set, spec, key, protocol, kinds, notAccepted, notProgrammed, ...rest } = listener
  const { name, port, hostname, allowedRoutes } = spec
  return {
    gateway: nameOnly(gateway),
    ...(set !== undefined && { set: nameOnly(set) }),
    spec: {
      name,
      port,
      ...(hostname !== undefined && { hostname }),
      ...(allowedRoutes !== undefined && { allowedRoutes }),
    },
    key,
    protocol,
    kinds,
    ...(notAccepted !== undefined && { notAccepted }),
    ...(notProgrammed !== undefined && { notProgrammed }),
    allowsNamespace: rest.allowsNamespace,
    forbiddenHost: rest.forbiddenHost,
  }
}

function nameOnly({ apiVersion, kind, metadata: { name, namespace } }: KubeObject): KubeObject {
  return { apiVersion, kind, metadata: { name, ...(namespace !== undefined && { namespace }) } }
}

/** Whether routes get the same results: what a function returns follows from the other fields. */
export function isSameForRoutes(a: RouteListener, b: RouteListener): boolean {
  const { allowsNamespace: _a, ...ofA } = a
  const { allowsNamespace: _b, ...ofB } = b
  return isSame(ofA, ofB)
}

export function identityOf(gateway: Gateway, set: ListenerSet | undefined, spec: GatewayListener): ListenerIdentity {
  const owner = set ?? gateway
  return {
    gateway,
    ...(set !== undefined && { set }),
    spec,
    key: `${namespaceOf(owner)}/${owner.metadata.name}.${spec.name}`,
    bindKey: `${spec.port}/${namespaceOf(gateway)}/${gateway.metadata.name}`,
  }
}
