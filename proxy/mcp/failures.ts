// Failures of servers as responses to the client. Exceptions other than those of servers are defects.
import type { Exchange } from '../exchange/exchange.ts'
import type { HttpResponse } from '../message/message.ts'
import { passedThrough, rpcError } from './http-reply.ts'
import { INTERNAL_ERROR, type JsonRpcId } from './jsonrpc.ts'
import { TargetError, TargetHttpError } from './targets/target.ts'

/** Failures of servers become responses; the client learns that one failed, the log names it and the reason. */
export async function withFailures(
  exchange: Exchange,
  id: JsonRpcId | null,
  work: () => Promise<HttpResponse>,
): Promise<HttpResponse> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof TargetHttpError) {
      exchange.reason = 'MCP'
      return passedThrough(error)
    }
    if (!(error instanceof TargetError)) throw error
    exchange.reason = 'MCP'
    exchange.errorDetail ??= error.message
    if (exchange.mcp !== undefined) exchange.mcp.errorCode = INTERNAL_ERROR
    return rpcError(500, id, { code: INTERNAL_ERROR, message: 'the MCP server could not be called' })
  }
}
