// Where guardrails run: on a request before authorization, and on the result of a server. Does not depend on how a
// guardrail decides.
import { noteError, type McpCall } from './context.ts'
import { errorResponse, type JsonRpcRequest, type JsonRpcResponse } from './jsonrpc.ts'

/** The request to send, the same object if it is unchanged; or the response of the guardrail that rejects it. */
export async function guardRequest(
  call: McpCall,
  request: JsonRpcRequest,
  targets: readonly string[],
): Promise<JsonRpcRequest | (JsonRpcResponse & { readonly error: object })> {
  const verdict = await call.endpoint.guard?.checkRequest(call, request, targets)
  if (verdict === undefined) return request
  if ('error' in verdict) {
    noteError(call, verdict.error)
    return { ...errorResponse(request.id, verdict.error), error: verdict.error }
  }
  return verdict.value === undefined || request.params === undefined ? request : { ...request, params: verdict.value }
}

/** The response for the client. Errors of servers are not checked. */
export async function guardResult(
  call: McpCall,
  options: {
    readonly request: JsonRpcRequest
    readonly response: JsonRpcResponse
    readonly targets: readonly string[]
  },
): Promise<JsonRpcResponse> {
  const { request, response, targets } = options
  const { guard } = call.endpoint
  if (guard === undefined || response.result === undefined) return response
  const verdict = await guard.checkResponse(call, { request, result: response.result, targets })
  if (verdict === undefined) return response
  if ('error' in verdict) {
    noteError(call, verdict.error)
    return errorResponse(response.id, verdict.error)
  }
  return verdict.value === undefined ? response : { ...response, result: verdict.value }
}
