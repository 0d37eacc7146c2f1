// Requests of a client by method: sent to one server, or to all (data-plane supplement section 4.4).
import { madeStream } from '../message/made-stream.ts'
import { HttpResponse } from '../message/message.ts'
import { mayUse, type ItemKind, type McpCall } from './context.ts'
import { ask, onEach, type Member } from './fan-out.ts'
import { eventStream, rpcError, single } from './http-reply.ts'
import {
  errorResponse,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  isResponse,
  METHOD_NOT_FOUND,
  type JsonRpcError,
  type JsonRpcMessage,
  type JsonRpcRequest,
  type JsonRpcResponse,
} from './jsonrpc.ts'
import { answerList, LIST_METHODS, listItems } from './lists.ts'
import type { Located } from './names.ts'
import { type ServerStream, shownToClient } from './server-messages.ts'
import type { TargetReply } from './target.ts'
import { reportIfBug } from '../exchange/defects.ts'

const TO_ALL = new Set(['ping', 'logging/setLevel'])
const BY_NAME: ReadonlyMap<string, ItemKind> = new Map<string, ItemKind>([
  ['tools/call', 'tool'],
  ['prompts/get', 'prompt'],
])
const BY_URI = new Set(['resources/read', 'resources/subscribe', 'resources/unsubscribe'])
const LIST_OF: Record<ItemKind, string> = { tool: 'tools/list', prompt: 'prompts/list', resource: 'resources/list' }

export async function answerRequest(call: McpCall, request: JsonRpcRequest): Promise<HttpResponse> {
  const { method } = request
  const list = LIST_METHODS.get(method)
  if (list !== undefined) return answerList(call, request, list)
  const kind = BY_NAME.get(method)
  if (kind !== undefined) return callByName(call, request, kind)
  if (BY_URI.has(method)) return callByUri(call, request)
  if (TO_ALL.has(method)) return sendToAll(call, request)
  if (method === 'completion/complete') return complete(call, request)
  const [only] = call.members
  if (only !== undefined && !call.endpoint.naming.isMultiplexing) return relay(call, only, request)
  return rpcError(404, request.id, { code: METHOD_NOT_FOUND, message: `Method not found: ${method}` })
}

async function callByName(call: McpCall, request: JsonRpcRequest, kind: ItemKind): Promise<HttpResponse> {
  const shown = stringParam(request, 'name')
  if (shown === undefined) return invalidParams(request, 'params.name must be a string')
  const owner = await ownerOf(call, request, kind, shown)
  if (owner instanceof HttpResponse) return owner
  return relay(call, owner.member, { ...request, params: { ...request.params, name: owner.name } })
}

async function callByUri(call: McpCall, request: JsonRpcRequest): Promise<HttpResponse> {
  const shown = stringParam(request, 'uri')
  if (shown === undefined) return invalidParams(request, 'params.uri must be a string')
  const owner = await ownerOf(call, request, 'resource', shown)
  if (owner instanceof HttpResponse) return owner
  return relay(call, owner.member, { ...request, params: { ...request.params, uri: owner.name } })
}

/** completion/complete names a prompt or a resource template in `ref`. */
async function complete(call: McpCall, request: JsonRpcRequest): Promise<HttpResponse> {
  const ref = request.params?.['ref']
  if (typeof ref !== 'object' || ref === null) return invalidParams(request, 'params.ref must be an object')
  const isUri = 'uri' in ref
  const shown: unknown = isUri ? ref.uri : 'name' in ref ? ref.name : undefined
  if (typeof shown !== 'string') return invalidParams(request, 'params.ref must have a name or a uri')
  const owner = await ownerOf(call, request, isUri ? 'resource' : 'prompt', shown)
  if (owner instanceof HttpResponse) return owner
  const own = { ...ref, [isUri ? 'uri' : 'name']: owner.name }
  return relay(call, owner.member, { ...request, params: { ...request.params, ref: own } })
}

interface Owner {
  readonly member: Member
  /** The server's own name or URI. */
  readonly name: string
}

/** The server of an item, or the rejection: unknown and forbidden items look alike. */
async function ownerOf(
  call: McpCall,
  request: JsonRpcRequest,
  kind: ItemKind,
  shown: string,
): Promise<Owner | HttpResponse> {
  const { naming } = call.endpoint
  const located =
    kind === 'resource'
      ? naming.locateUri(shown)
      : (naming.locate(shown) ?? (await locateByLists(call, request, kind, shown)))
  if (located === 'several') return invalidParams(request, `${shown} is served by multiple targets`)
  if (located === undefined || !mayUse(call, kind, located.target, located.name)) {
    return unknownItem(request, kind, shown)
  }
  const member = memberOf(call, located.target)
  return member === undefined ? unknownItem(request, kind, shown) : { member, name: located.name }
}

async function sendToAll(call: McpCall, request: JsonRpcRequest): Promise<HttpResponse> {
  await onEach(call.exchange, call.members, call.endpoint.settings.failureMode, (member) =>
    ask(call.exchange, member, request),
  )
  return eventStream(single({ jsonrpc: '2.0', id: request.id, result: {} }))
}

/** Without prefixes, only the lists of the servers show which server has the name. */
async function locateByLists(
  call: McpCall,
  request: JsonRpcRequest,
  kind: ItemKind,
  shown: string,
): Promise<Located | 'several' | undefined> {
  const { naming } = call.endpoint
  const listMethod = LIST_OF[kind]
  const list = LIST_METHODS.get(listMethod)
  if (naming.hasPrefixes || list === undefined) return undefined
  const listRequest: JsonRpcRequest = { jsonrpc: '2.0', id: `gw-resolve-${request.id}`, method: listMethod }
  const owners = (await listItems(call, listRequest, list)).filter(({ name }) => name === shown)
  const [owner] = owners
  if (owner === undefined) return undefined
  return owners.length > 1 ? 'several' : { target: owner.target, name: owner.name }
}

/** Sends to one server and streams its messages back until its response. */
async function relay(call: McpCall, member: Member, request: JsonRpcRequest): Promise<HttpResponse> {
  call.facts.target ??= member.target.name
  const reply = await member.target.send(call.exchange, request, member.session)
  return eventStream(madeStream(relayed(call, member, reply, request), () => reply.messages.cancel()))
}

/** Always ends with a response: the client must not wait for a server that has failed. */
async function* relayed(
  call: McpCall,
  { target }: Member,
  reply: TargetReply,
  request: JsonRpcRequest,
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
      yield request.method === 'resources/read' ? withShownUris(call, target.name, message) : message
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

function noteError({ facts }: McpCall, error: JsonRpcError | undefined): void {
  if (error === undefined) return
  facts.errorCode = error.code
  facts.errorMessage = error.message
}

function withShownUris(call: McpCall, target: string, response: JsonRpcResponse): JsonRpcResponse {
  const contents = response.result?.['contents']
  if (!Array.isArray(contents)) return response
  const { naming } = call.endpoint
  const shown = contents.map((content: unknown) =>
    typeof content === 'object' && content !== null && 'uri' in content && typeof content.uri === 'string'
      ? { ...content, uri: naming.showUri(target, content.uri) }
      : content,
  )
  return { ...response, result: { ...response.result, contents: shown } }
}

function memberOf(call: McpCall, target: string): Member | undefined {
  return call.members.find((member) => member.target.name === target)
}

function stringParam(request: JsonRpcRequest, name: string): string | undefined {
  const value = request.params?.[name]
  return typeof value === 'string' ? value : undefined
}

function invalidParams(request: JsonRpcRequest, message: string): HttpResponse {
  return rpcError(400, request.id, { code: INVALID_PARAMS, message })
}

/** The same for missing items and items that the client may not use. */
function unknownItem(request: JsonRpcRequest, kind: ItemKind, shown: string): HttpResponse {
  return rpcError(400, request.id, { code: INVALID_PARAMS, message: `Unknown ${kind}: ${shown}` })
}
