// One request for one server: its messages until its response, as the client sees them.
import { messageOf } from '../exchange/diagnosis.ts'
import { reportIfBug } from '../exchange/defects.ts'
import { madeStream } from '../message/made-stream.ts'
import type { HttpResponse } from '../message/message.ts'
import { noteError, type McpCall } from './context.ts'
import type { Member } from './fan-out.ts'
import { guardResult } from './guard.ts'
import { eventStream, jsonAnswer } from './http-reply.ts'
import {
  errorResponse,
  INTERNAL_ERROR,
  isRequest,
  isResponse,
  type JsonRpcError,
  type JsonRpcMessage,
  type JsonRpcRequest,
  type JsonRpcResponse,
} from './jsonrpc.ts'
import { type Later, whenReady } from './later.ts'
import { shownResult } from './results.ts'
import { deniedInput, mayAsk, refuse } from './server-requests.ts'
import { noteDropped, type ServerStream, shownToClient } from './server-messages.ts'
import type { TargetReply, WholeMessage } from './targets/target.ts'

interface Relayed {
  readonly member: Member
  readonly reply: TargetReply
  readonly request: JsonRpcRequest
}

/** Sends to one server and streams its messages back until its response. */
export function relay(call: McpCall, member: Member, request: JsonRpcRequest): Promise<HttpResponse> {
  call.facts.target ??= member.target.name
  return member.target.send(call.exchange, request, member.session).then((reply) => {
    if (reply.whole !== undefined) return relayWhole(call, { member, whole: reply.whole, request })
    return eventStream(madeStream(relayed(call, { member, reply, request }), () => reply.messages.cancel()))
  })
}

/** A response that no other message precedes needs no stream. Its bytes are forwarded unless the gateway changes it. */
function relayWhole(
  call: McpCall,
  {
    member,
    whole,
    request,
  }: { readonly member: Member; readonly whole: WholeMessage; readonly request: JsonRpcRequest },
): Later<HttpResponse> {
  const { message, text } = whole
  const { name: target } = member.target
  const response = shownToClient({ exchange: call.exchange, naming: call.endpoint.naming, target, request }, message)
  if (response === undefined || !isResponse(response)) return jsonAnswer(failed(call, target, request))
  return whenReady(answered(call, { target, request, response }), (shown) =>
    jsonAnswer(shown, { text: shown === message ? text : undefined }),
  )
}

function failed(call: McpCall, target: string, request: JsonRpcRequest): JsonRpcResponse {
  call.exchange.errorDetail ??= `${target}: the server closed its stream without a response`
  call.exchange.reason = 'MCP'
  const failure: JsonRpcError = { code: INTERNAL_ERROR, message: 'the MCP server could not be called' }
  noteError(call, failure)
  return errorResponse(request.id, failure)
}

/** Always ends with a response: the client must not wait for a server that has failed. */
async function* relayed(call: McpCall, { member, reply, request }: Relayed): AsyncGenerator<JsonRpcMessage> {
  const { target } = member
  const { naming } = call.endpoint
  const stream: ServerStream = { exchange: call.exchange, naming, target: target.name, request }
  try {
    for await (const sent of reply.messages) {
      if (isRequest(sent)) {
        if (call.era === 'Modern') {
          await refuseRequest(call, member, sent)
          continue
        }
        if (!(await mayAsk(call, member, sent))) continue
      }
      call.endpoint.owners.note(sent)
      const message = shownToClient(stream, sent)
      if (message === undefined) continue
      if (!isResponse(message)) {
        yield message
        continue
      }
      yield await answered(call, { request, response: message, target: target.name })
      return
    }
  } catch (error) {
    reportIfBug('mcp stream', error)
    call.exchange.errorDetail ??= `${target.name}: ${messageOf(error)}`
  }
  yield failed(call, target.name, request)
}

/** The response of a server as the client gets it; the same object if it is unchanged. */
function answered(
  call: McpCall,
  options: { readonly request: JsonRpcRequest; readonly response: JsonRpcResponse; readonly target: string },
): Later<JsonRpcResponse> {
  const { request, response, target } = options
  const { facts, endpoint, exchange } = call
  noteError(call, response.error)
  if (response.error !== undefined && facts.kind !== undefined) endpoint.owners.forget(exchange, facts.kind)
  return whenReady(guardResult(call, { request, response, targets: [target] }), (checked) => {
    if (checked.result === undefined) return checked
    const denied = deniedInput(call, target, checked.result)
    if (denied !== undefined) {
      noteError(call, denied)
      return errorResponse(checked.id, denied)
    }
    const result = shownResult(call, { method: request.method, target, result: checked.result })
    if (facts.kind === 'tool') facts.toolResult = result
    return result === checked.result ? checked : { ...checked, result }
  })
}

/** Clients of MCP 2026-07-28 get no requests: servers ask with results that require input. */
async function refuseRequest({ exchange }: McpCall, member: Member, { id, method }: JsonRpcRequest): Promise<void> {
  noteDropped(exchange, member.target.name)
  const error = {
    code: INTERNAL_ERROR,
    message: `the client has a protocol version without requests of servers: ${method}`,
  }
  await refuse(exchange, member, errorResponse(id, error))
}
