// What main asks of one thread about itself, and the answers. Each question travels with a port of its own: closing
// it ends the question, and main learns by it that a thread died.

import type { components } from '#api/admin/types.gen.ts'
import type { SessionReport } from '../exchange/open-sessions.ts'
import type { EndpointConnections } from '../upstream/endpoint-connections.ts'

/** The owner of the watch over all threads: 0 no worker, else the number of the worker that claimed it, plus 1. */
export type WatchClaim = SharedArrayBuffer

export const CLAIM_BYTES = 4

export type InspectRequest =
  | {
      readonly kind: 'trace'
      readonly expression: string | undefined
      readonly claim: WatchClaim
      /** It waits for a request of its own, which no other watch may take. */
      readonly isFirst?: boolean
    }
  | { readonly kind: 'cpuProfile'; readonly seconds: number; readonly frequency: number }
  | { readonly kind: 'heapProfile'; readonly seconds: number | undefined }
  | { readonly kind: 'tasks' }
  | { readonly kind: 'route'; readonly question: RouteQuestion }
  /** `labels`: of the endpoints whose connections are counted. */
  | { readonly kind: 'connections'; readonly labels: readonly string[] }
  | { readonly kind: 'mcpSessions' }

/** A request that is not sent. */
export interface RouteQuestion {
  readonly port: number
  readonly method: string
  /** With the port, if it is not that of the scheme. */
  readonly host: string
  /** Canonical. */
  readonly path: string
  /** Without `?`. */
  readonly query: string
  /** Names in lower case. */
  readonly headers: readonly (readonly [string, string])[]
}

/** Open connections of one worker. */
export interface WorkerConnections {
  readonly ports: readonly PortConnections[]
  readonly endpoints: readonly EndpointConnections[]
}

export interface PortConnections {
  readonly port: number
  readonly open: number
  /** Those whose listener is certain: it is selected by the handshake. */
  readonly listeners: readonly ListenerConnections[]
}

export interface ListenerConnections {
  /** `namespace/name`. */
  readonly gateway: string
  readonly listener: string
  readonly open: number
}

/** Answers to `trace`. */
export type TraceReport =
  /** From now on the next request that matches is taken. */
  | { readonly type: 'armed' }
  /** The expression of the watch failed for this many requests since the previous report. */
  | { readonly type: 'failed'; readonly message: string; readonly count: number }
  /** This worker has the request; all others may forget the watch. */
  | { readonly type: 'claimed' }
  /** One event as JSON text. */
  | { readonly type: 'event'; readonly json: string }
  | { readonly type: 'end' }

/** The one answer to every other question. */
export type InspectAnswer =
  | { readonly type: 'profile'; readonly profile: unknown }
  | { readonly type: 'tasks'; readonly tasks: readonly string[] }
  | { readonly type: 'route'; readonly explanation: components['schemas']['RouteExplanation'] }
  | { readonly type: 'connections'; readonly connections: WorkerConnections }
  | { readonly type: 'mcpSessions'; readonly report: SessionReport }
  | { readonly type: 'refused'; readonly message: string }
