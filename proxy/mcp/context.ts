// Shared by the methods of an MCP endpoint: configuration of the backend and state of one request.
import type { MCPBackend } from '#api/ir/types.gen.ts'
import type { JsonSealer } from '../auth/json-sealer.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { McpFacts, McpSessionEvent } from '../exchange/facts.ts'
import type { Eras } from './bridge/era.ts'
import type { Member } from './fan-out.ts'
import type { JsonRpcError, JsonRpcRequest } from './jsonrpc.ts'
import type { Naming } from './names.ts'
import type { Owners } from './owners.ts'
import type { EventIds } from './legacy/event-ids.ts'
import type { SessionCodec } from './legacy/session-id.ts'
import type { McpTarget } from './targets/target.ts'
import type { ToolHeaders } from './tool-headers.ts'
import type { ToolPins } from './tool-pins.ts'
import type { Era } from './versions.ts'

export type ItemKind = NonNullable<McpFacts['kind']>

export interface McpEndpoint {
  readonly settings: MCPBackend
  readonly naming: Naming
  readonly targets: readonly McpTarget[]
  readonly codec: SessionCodec
  /** After which a session that no client uses ends at the servers. */
  readonly sessionTtlMs: number
  readonly noteSession: (event: McpSessionEvent, server: string) => void
  /** Calls `listener` when the backend has other servers, until the returned function is called. */
  readonly watchServers: (listener: () => void) => () => void
  /** Seals the ids of event streams of clients of 2024-11-05. */
  readonly streamIds: JsonSealer
  /** Seals the ids of events. */
  readonly eventIds: JsonSealer
  /** Seals the ids of requests of servers to clients without sessions. */
  readonly requestIds: JsonSealer
  /** Whether the rules of the backend let the caller see and use an item; reads `exchange.mcp`. */
  readonly isAllowed: (exchange: Exchange) => boolean
  readonly bodyBytesMax: number
  /** What the servers speak, as far as it was found out. */
  readonly eras: Eras
  /** Read without prefixes. */
  readonly owners: Owners
  readonly toolHeaders: ToolHeaders
  /** undefined: definitions of tools are not compared. */
  readonly pins: ToolPins | undefined
  /** undefined: the backend has no guardrails. */
  readonly guard: McpGuard | undefined
}

/** What a guardrail decides. `error`: the call ends with it. `value`: it replaces the checked one. */
export type GuardVerdict =
  | { readonly error: JsonRpcError }
  | { readonly value: { readonly [key: string]: unknown } | undefined }

/** A guardrail of the backend (data-plane supplement section 4.5). Failure modes are its own: it never rejects. */
export interface McpGuard {
  /**
   * After the target is resolved and before authorization. `request`: for the server, with its own names. If it is for
   * several targets, it has no params, and `value` is ignored. The headers of the exchange may be changed.
   * undefined: the request passes unchanged, also if the guard does not check the method.
   */
  checkRequest(call: McpCall, request: JsonRpcRequest, targets: readonly string[]): Promise<GuardVerdict> | undefined
  /**
   * On the result of a server, with its own names; a merged result is as the client gets it. Errors of servers are not
   * checked. undefined: the result passes unchanged.
   */
  checkResponse(call: McpCall, check: ResponseCheck): Promise<GuardVerdict> | undefined
}

export interface ResponseCheck {
  readonly request: JsonRpcRequest
  readonly result: { readonly [key: string]: unknown }
  readonly targets: readonly string[]
}

export interface McpCall {
  /** Of the client. */
  readonly era: Era
  readonly endpoint: McpEndpoint
  readonly exchange: Exchange
  readonly facts: McpFacts
  /** Servers of the session, in configuration order. */
  readonly members: readonly Member[]
  /** undefined: the client cannot resume a stream, so the gateway does it. */
  readonly eventIds?: EventIds | undefined
}

export function emptyMcpFacts(): McpFacts {
  return {
    methodName: undefined,
    sessionId: undefined,
    kind: undefined,
    target: undefined,
    name: undefined,
    errorCode: undefined,
    errorMessage: undefined,
    dropped: undefined,
  }
}

export function callOf(parts: Omit<McpCall, 'facts'>): McpCall {
  const { era, endpoint, exchange, members, eventIds } = parts
  return { era, endpoint, exchange, members, eventIds, facts: exchange.mcp ?? emptyMcpFacts() }
}

/** Sets the facts of the item for authorization, guardrails, log and metrics. */
export function noteItem({ facts }: McpCall, kind: ItemKind, target: string, name: string): void {
  facts.kind = kind
  facts.target = target
  facts.name = name
}

/** Sets the facts of the item, and evaluates the rules. */
export function mayUse(call: McpCall, kind: ItemKind, target: string, name: string): boolean {
  noteItem(call, kind, target, name)
  return call.endpoint.isAllowed(call.exchange)
}

/** For log and metrics. */
export function noteError({ facts }: McpCall, error: JsonRpcError | undefined): void {
  if (error === undefined) return
  facts.errorCode = error.code
  facts.errorMessage = error.message
}
