// The status of one object as translation computes it. The writer adds lastTransitionTime and keeps foreign entries.
import type { ObjectRef } from './object-ref.ts'

export interface Condition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
  /** Absent when the object carries no generation (manifests in a folder). */
  readonly observedGeneration?: number
}

export interface ObjectStatus extends ObjectRef {
  readonly status: StatusBody
}

export type StatusBody =
  | GatewayClassBody
  | GatewayBody
  | ListenerSetBody
  | UnattendedBody
  | RouteBody
  | BackendBody
  | PolicyBody

export interface GatewayClassBody {
  readonly conditions: readonly Condition[]
  readonly supportedFeatures?: ReadonlyArray<{ readonly name: string }>
}

export interface GatewayBody {
  readonly addresses: readonly GatewayAddress[]
  readonly attachedListenerSets: number
  readonly conditions: readonly Condition[]
  readonly listeners: readonly ListenerBody[]
}

export interface GatewayAddress {
  readonly type: 'IPAddress' | 'Hostname'
  readonly value: string
}

export interface ListenerSetBody {
  readonly conditions: readonly Condition[]
  readonly listeners: readonly ListenerBody[]
}

/** For a Gateway or ListenerSet that no controller serves any more. */
export interface UnattendedBody {
  readonly conditions: readonly Condition[]
  readonly listeners: readonly []
  readonly attachedListenerSets?: 0
}

export interface ListenerBody {
  readonly name: string
  readonly attachedRoutes: number
  readonly supportedKinds: readonly RouteGroupKind[]
  readonly conditions: readonly Condition[]
}

export interface RouteGroupKind {
  readonly group: string
  readonly kind: string
}

/** Only our entries; entries of other controllers are kept by the writer. */
export interface RouteBody {
  readonly parents: readonly RouteParentBody[]
}

export interface RouteParentBody {
  readonly parentRef: ParentRef
  readonly controllerName: string
  readonly conditions: readonly Condition[]
}

export interface ParentRef {
  readonly group?: string
  readonly kind?: string
  readonly namespace?: string
  readonly name: string
  readonly sectionName?: string
  readonly port?: number
}

export interface BackendBody {
  readonly conditions: readonly Condition[]
}

/** Only our entries; entries of other controllers are kept by the writer. */
export interface PolicyBody {
  readonly ancestors: readonly PolicyAncestorBody[]
}

export interface PolicyAncestorBody {
  readonly ancestorRef: ParentRef
  readonly controllerName: string
  readonly conditions: readonly Condition[]
}
