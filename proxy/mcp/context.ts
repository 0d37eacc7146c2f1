// Shared by the methods of an MCP endpoint: configuration of the backend and state of one request.
import type { MCPBackend } from '#api/ir/types.gen.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { McpFacts } from '../exchange/facts.ts'
import type { Member } from './fan-out.ts'
import type { Naming } from './names.ts'
import type { SessionCodec } from './session-id.ts'
import type { McpTarget } from './target.ts'

export type ItemKind = NonNullable<McpFacts['kind']>

export interface McpEndpoint {
  readonly settings: MCPBackend
  readonly naming: Naming
  readonly targets: readonly McpTarget[]
  readonly codec: SessionCodec
  /** Whether the rules of the backend let the caller see and use an item; reads `exchange.mcp`. */
  readonly isAllowed: (exchange: Exchange) => boolean
  readonly bodyBytesMax: number
}

export interface McpCall {
  readonly endpoint: McpEndpoint
  readonly exchange: Exchange
  readonly facts: McpFacts
  /** Servers of the session, in configuration order. */
  readonly members: readonly Member[]
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

/** Sets the facts of the item for authorization, log and metrics, and evaluates the rules. */
export function mayUse(call: McpCall, kind: ItemKind, target: string, name: string): boolean {
  const { facts, endpoint, exchange } = call
  facts.kind = kind
  facts.target = target
  facts.name = name
  return endpoint.isAllowed(exchange)
}
