// One request for one server: its messages until its response, as the client sees them.
import { reportIfBug } from '../exchange/defects.ts'
import { madeStream } from '../message/made-stream.ts'
import type { HttpResponse } from '../message/message.ts'
import { noteError, type McpCall } from './context.ts'
import type { Member } from './fan-out.ts'
import { guardResult } from './guard.ts'
import { eventStream } from './http-reply.ts'
import {
  errorResponse,
  INTERNAL_ERROR,
  isResponse,
  type JsonRpcError,
  type JsonRpcMessage,
  type JsonRpcRequest,
  type JsonRpcResponse,
} from './jsonrpc.ts'
import type { ItemMethod } from './methods.ts'
import { type ServerStream, shownToClient } from './server-messages.ts'
import type { TargetReply } from './targets/target.ts'

interface Relayed {
  readonly member: Member
  readonly reply: TargetReply
  readonly request: JsonRpcRequest
  readonly urisIn: ItemMethod['urisIn']
}

/** Sends to one server and streams its messages back until its response. */
export async function relay(
  call: McpCall,
  member: Member,
  request: JsonRpcRequest,
  urisIn?: ItemMethod['urisIn'],
): Promise<HttpResponse> {
  call.facts.target ??= member.target.name
  const reply = await member.target.send(call.exchange, request, member.session)
  return eventStream(madeStream(relayed(call, { member, reply, request, urisIn }), () => reply.messages.cancel()))
}

/** Always ends with a response: the client must not wait for a server that has failed. */
async function* relayed(
  call: McpCall,
  { member: { target }, reply, request, urisIn }: Relayed,
): AsyncGenerator<JsonRpcMessage> {
  const { naming } = call.endpoint
  const stream: ServerStream = { exchange: call.exchange, naming, target: target.name, request }
  try {
    for await (const sent of reply.messages) {
      const message = shownToClient(stream, sent)
      if (message === undefined) continue
      if (!isResponse(message)) {
        yield message
        continue
      }
      noteError(call, message.error)
      const response = await guardResult(call, { request, response: message, targets: [target.name] })
      yield urisIn === undefined ? response : withShownUris(call, target.name, { response, urisIn })
      return
    }
    call.exchange.errorDetail ??= `${target.name}: the server closed its stream without a response`
  } catch (error) {
    reportIfBug('mcp stream', error)
    call.exchange.errorDetail ??= `${target.name}: ${error instanceof Error ? error.message : String(error)}`
  }
  call.exchange.reason = 'MCP'
  const failure: JsonRpcError = { code: INTERNAL_ERROR, message: 'the MCP server could not be called' }
  noteError(call, failure)
  yield errorResponse(request.id, failure)
}

function withShownUris(
  call: McpCall,
  target: string,
  { response, urisIn }: { readonly response: JsonRpcResponse; readonly urisIn: 'contents' },
): JsonRpcResponse {
  const contents = response.result?.[urisIn]
  if (!Array.isArray(contents)) return response
  const { naming } = call.endpoint
  const shown = contents.map((content: unknown) =>
    typeof content === 'object' && content !== null && 'uri' in content && typeof content.uri === 'string'
      ? { ...content, uri: naming.showUri(target, content.uri) }
      : content,
  )
  return { ...response, result: { ...response.result, [urisIn]: shown } }
}
