// MCP 2026-07-28: each POST stands alone. Version and client are in `_meta`, headers repeat what policies route by, and
// no session exists (data-plane supplement sections 4.1 and 4.2).
import type { Exchange } from '../../exchange/exchange.ts'
import type { HttpResponse } from '../../message/message.ts'
import { onDemand } from '../bridge/on-demand.ts'
import { callOf, type McpCall, type McpEndpoint } from '../context.ts'
import { answerRequest, notifyAll } from '../dispatch.ts'
import { withEnd } from '../ending.ts'
import { claimedVersion, envelopeProblem, metaOf } from '../envelope.ts'
import { unsupportedVersion } from '../failures.ts'
import { accepted, rpcError } from '../http-reply.ts'
import {
  INVALID_PARAMS,
  INVALID_REQUEST,
  isRequest,
  isResponse,
  type JsonRpcError,
  type JsonRpcMessage,
  type JsonRpcRequest,
} from '../jsonrpc.ts'
import { headerMismatch } from '../routing-headers.ts'
import { LISTEN } from '../subscription.ts'
import { HEADER_MISMATCH, MODERN_VERSION, SUPPORTED_VERSIONS } from '../versions.ts'
import { discover } from './discover.ts'
import { listen } from './listen.ts'

const VERSION_HEADER = 'mcp-protocol-version'

/** By the envelope of the message; without one by the header, so that a request that lacks it is rejected. */
export function isModern({ request }: Exchange, message: JsonRpcMessage): boolean {
  return claimedVersion(message) !== undefined || request.headers.get(VERSION_HEADER) === MODERN_VERSION
}

export async function answerModern(
  exchange: Exchange,
  endpoint: McpEndpoint,
  message: JsonRpcMessage,
): Promise<HttpResponse> {
  const id = isRequest(message) ? message.id : null
  const claimed = claimedVersion(message)
  if (typeof claimed === 'string' && claimed !== MODERN_VERSION && !isHeaderOther(exchange, claimed)) {
    return unsupportedVersion(exchange, id, { supported: SUPPORTED_VERSIONS, requested: claimed })
  }
  const problem = problemOf(exchange, message)
  if (problem !== undefined) return rpcError(400, id, problem)
  const { members, end } = onDemand(exchange, endpoint, 'Modern')
  const call = callOf({ era: 'Modern', exchange, endpoint, members })
  return withEnd(() => answer(call, message), end)
}

async function answer(call: McpCall, message: JsonRpcMessage): Promise<HttpResponse> {
  if (isRequest(message)) {
    if (message.method === 'server/discover') return discover(call, message)
    return message.method === LISTEN ? listen(call, message) : answerRequest(call, message)
  }
  if (!isResponse(message)) await notifyAll(call, message)
  return accepted()
}

function isHeaderOther({ request }: Exchange, claimed: string): boolean {
  const header = request.headers.get(VERSION_HEADER)
  return header !== undefined && header !== claimed
}

/** In the order of the data-plane supplement section 4.1. */
function problemOf(exchange: Exchange, message: JsonRpcMessage): JsonRpcError | undefined {
  if (isResponse(message))
    return { code: INVALID_REQUEST, message: 'responses of clients are not part of this version' }
  const { headers } = exchange.request
  const claimed = claimedVersion(message)
  if (typeof claimed === 'string' && isHeaderOther(exchange, claimed)) {
    return { code: HEADER_MISMATCH, message: 'the header MCP-Protocol-Version does not match the body' }
  }
  if (headers.has('mcp-session-id')) {
    return { code: INVALID_REQUEST, message: 'this protocol version has no sessions: remove Mcp-Session-Id' }
  }
  return isRequest(message) ? requestProblem(exchange, message) : undefined
}

function requestProblem({ request }: Exchange, message: JsonRpcRequest): JsonRpcError | undefined {
  const problem = envelopeProblem(metaOf(message) ?? {})
  if (problem !== undefined) return { code: INVALID_PARAMS, message: `params._meta: ${problem}` }
  if (!request.headers.has(VERSION_HEADER)) {
    return { code: HEADER_MISMATCH, message: 'the header MCP-Protocol-Version is missing' }
  }
  const mismatch = headerMismatch(request.headers, message)
  return mismatch === undefined ? undefined : { code: HEADER_MISMATCH, message: mismatch }
}
