// What the web UI of a controller shows: the answer of `/overview` on its admin server. Types only.
import type { Problem } from '../problem.ts'

export interface ControllerOverview {
  readonly version: string
  /** False: another replica writes. */
  readonly isLeading: boolean
  /** Known objects by kind. */
  readonly objects: Readonly<Record<string, number>>
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
  /** Condition `Programmed` in the cluster; undefined: not written yet. */
  readonly programmed: { readonly isTrue: boolean; readonly message: string } | undefined
  /** At most 100. */
  readonly proxies: readonly ProxyOverview[]
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
  readonly type: string
  readonly status: string
  readonly reason: string
  readonly message: string
}

export interface ProblemOverview extends Pick<Problem, 'path' | 'reason' | 'message' | 'severity'> {
  /** `Kind namespace/name` */
  readonly object: string
}
