// Failures of servers as responses to the client. Exceptions other than those of servers are defects.
import type { Exchange } from '../exchange/exchange.ts'
import type { HttpResponse } from '../message/message.ts'
import { passedThrough, rpcError } from './http-reply.ts'
import { INTERNAL_ERROR, type JsonRpcId } from './jsonrpc.ts'
import type { Later } from './later.ts'
import { MODERN_VERSION, UNSUPPORTED_VERSION } from './versions.ts'
import { NoServerError, TargetError, TargetHttpError, VersionRejected } from './targets/target.ts'

/** Failures of servers become responses; the client learns that one failed, the log names it and the reason. */
export function withFailures(
  exchange: Exchange,
  id: JsonRpcId | null,
  work: () => Later<HttpResponse>,
): Later<HttpResponse> {
  try {
    const response = work()
    return response instanceof Promise
      ? response.catch((error: unknown) => failureResponse(exchange, id, error))
      : response
  } catch (error) {
    return failureResponse(exchange, id, error)
  }
}

function failureResponse(exchange: Exchange, id: JsonRpcId | null, error: unknown): HttpResponse {
  if (error instanceof TargetHttpError) {
    exchange.reason = 'MCP'
    return passedThrough(error)
  }
  if (!(error instanceof TargetError)) throw error
  exchange.reason = 'MCP'
  exchange.errorDetail ??= error.message
  if (error instanceof VersionRejected) return unsupportedVersion(exchange, id, error)
  if (exchange.mcp !== undefined) exchange.mcp.errorCode = INTERNAL_ERROR
  const status = error instanceof NoServerError ? 503 : 500
  return rpcError(status, id, { code: INTERNAL_ERROR, message: 'the MCP server could not be called' })
}

/** Also for a client whose version the gateway does not have. `requested`: undefined if a server rejected ours. */
export function unsupportedVersion(
  exchange: Exchange,
  id: JsonRpcId | null,
  { supported, requested }: { readonly supported: readonly string[]; readonly requested?: unknown },
): HttpResponse {
  if (exchange.mcp !== undefined) exchange.mcp.errorCode = UNSUPPORTED_VERSION
  return rpcError(400, id, {
    code: UNSUPPORTED_VERSION,
    message: 'unsupported protocol version',
    data: { supported, requested: requested ?? MODERN_VERSION },
  })
}
