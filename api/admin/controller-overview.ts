// What the web UI of a controller shows: the answers of `/overview` and `/gateway` on its admin server. Types only.
import type { Problem } from '../problem.ts'

/** The answer of `/overview`. */
export interface ControllerOverview {
  readonly version: string
  /** False: another replica writes. */
  readonly isLeading: boolean
  /** Kinds that are not listed yet, or whose lists and watches fail; the state of the others is current. */
  readonly pending: readonly string[]
  /** Known objects by kind. */
  readonly objects: Readonly<Record<string, number>>
  /** Of all, also of those that the lists below leave out. */
  readonly totals: { readonly gateways: number; readonly conditions: number; readonly problems: number }
  /** By namespace and name; at most 1000. */
  readonly gateways: readonly GatewayOverview[]
  /** Conditions that report a problem; at most 1000. */
  readonly conditions: readonly ConditionOverview[]
  /** Of objects that are translated; at most 1000. */
  readonly problems: readonly ProblemOverview[]
}

export interface GatewayOverview {
  /** `namespace/name` */
  readonly key: string
  readonly listeners: number
  readonly routes: number
  readonly backends: number
  readonly policies: number
  /** Of its status in the cluster. */
  readonly addresses: readonly string[]
  /** Condition `Programmed` in the cluster; undefined: not written yet. */
  readonly programmed:
    | { readonly isTrue: boolean; readonly message: string; readonly since: string | undefined }
    | undefined
  /** At most 100. */
  readonly proxies: readonly ProxyOverview[]
  /** Of the translated configuration: another text after each change of it. */
  readonly revision: string
}

/** The answer of `/gateway?name=`: one Gateway, with what concerns it. */
export interface GatewayDetail {
  readonly gateway: GatewayOverview
  /** Of the Gateway itself and of objects that are attached to it or used by it; at most 1000. */
  readonly conditions: readonly ConditionOverview[]
  /** Of the same objects; at most 1000. */
  readonly problems: readonly ProblemOverview[]
}

export interface ProxyOverview {
  readonly pod: string
  /** Of the delivery in force; 0: none. */
  readonly generation: number
  /** Another proxy of the Gateway has a newer delivery in force. */
  readonly isBehind: boolean
  /** Why a newer delivery was rejected. */
  readonly rejected: string | undefined
}

export interface ConditionOverview {
  /** `Kind namespace/name` */
  readonly object: string
  /** The part of the object that it is about: `listener https`, `Gateway shop/web`; empty: the object. */
  readonly part: string
  readonly type: string
  readonly status: string
  readonly reason: string
  readonly message: string
}

export interface ProblemOverview extends Pick<Problem, 'path' | 'reason' | 'message' | 'severity'> {
  /** `Kind namespace/name` */
  readonly object: string
}
