// Where guardrails run: on a request before authorization, and on the result of a server. Does not depend on how a
// guardrail decides.
import { noteError, type GuardVerdict, type McpCall } from './context.ts'
import { errorResponse, type JsonRpcRequest, type JsonRpcResponse } from './jsonrpc.ts'
import type { Later } from './later.ts'

/** The request to send, the same object if it is unchanged; or the response of the guardrail that rejects it. */
export function guardRequest(
  call: McpCall,
  request: JsonRpcRequest,
  targets: readonly string[],
): Later<GuardedRequest> {
  const checking = call.endpoint.guard?.checkRequest(call, request, targets)
  return checking === undefined ? request : checking.then((verdict) => guardedRequest(call, request, verdict))
}

export type GuardedRequest = JsonRpcRequest | (JsonRpcResponse & { readonly error: object })

function guardedRequest(call: McpCall, request: JsonRpcRequest, verdict: GuardVerdict): GuardedRequest {
  if ('error' in verdict) {
    noteError(call, verdict.error)
    return { ...errorResponse(request.id, verdict.error), error: verdict.error }
  }
  return verdict.value === undefined || request.params === undefined ? request : { ...request, params: verdict.value }
}

/** The response for the client. Errors of servers are not checked. */
export function guardResult(
  call: McpCall,
  options: {
    readonly request: JsonRpcRequest
    readonly response: JsonRpcResponse
    readonly targets: readonly string[]
  },
): Later<JsonRpcResponse> {
  const { request, response, targets } = options
  const { guard } = call.endpoint
  if (guard === undefined || response.result === undefined) return response
  const checking = guard.checkResponse(call, { request, result: response.result, targets })
  return checking === undefined ? response : checking.then((verdict) => guardedResult(call, response, verdict))
}

function guardedResult(call: McpCall, response: JsonRpcResponse, verdict: GuardVerdict): JsonRpcResponse {
  if ('error' in verdict) {
    noteError(call, verdict.error)
    return errorResponse(response.id, verdict.error)
  }
  return verdict.value === undefined ? response : { ...response, result: verdict.value }
}
