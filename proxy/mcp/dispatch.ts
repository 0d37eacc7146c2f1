// Requests of a client by method, in both eras. The order for an item: resolve its server, guardrails, authorization,
// server, guardrails (data-plane supplement section 4.5).
import type { HttpResponse } from '../message/message.ts'
import { mayUse, noteItem, type ItemKind, type McpCall } from './context.ts'
import { ask, notify, onEach, type Member } from './fan-out.ts'
import { type GuardedRequest, guardRequest, guardResult } from './guard.ts'
import { jsonAnswer, rpcError } from './http-reply.ts'
import { invalidItem, itemOf, withItemName, type NamedItem } from './items.ts'
import {
  INVALID_PARAMS,
  METHOD_NOT_FOUND,
  type JsonRpcId,
  type JsonRpcNotification,
  type JsonRpcRequest,
} from './jsonrpc.ts'
import { type Later, whenReady } from './later.ts'
import { listAnswer, listItems, listOne } from './lists.ts'
import { LEGACY_ONLY, listOf, METHODS, type ItemMethod, type Method } from './methods.ts'
import type { Located } from './names.ts'
import { hasParamHeaders, paramMismatch, setParamHeaders } from './tool-headers.ts'
import { HEADER_MISMATCH } from './versions.ts'
import { relay } from './relay.ts'
import { withOwnTasks } from './tasks.ts'
import { ownResult, withOwnState } from './results.ts'

/** For all servers. */
type SharedMethod = Exclude<Method, ItemMethod>

export function answerRequest(call: McpCall, request: JsonRpcRequest): Later<HttpResponse> {
  const method: Method | undefined = METHODS.get(request.method)
  if (call.era === 'Modern' && LEGACY_ONLY.has(request.method)) return methodNotFound(request)
  if (method?.route === 'item') return callItem(call, request, method)
  if (method !== undefined) return callAll(call, request, method)
  const [only] = call.members
  if (only === undefined || call.endpoint.naming.isMultiplexing) {
    return methodNotFound(request)
  }
  return whenReady(guardRequest(call, request, [only.target.name]), (checked) =>
    'error' in checked ? jsonAnswer(checked) : relay(call, only, checked),
  )
}

/** A notification of the client, for all servers. */
export async function notifyAll({ exchange, endpoint, members }: McpCall, message: JsonRpcNotification): Promise<void> {
  await onEach(exchange, members, endpoint.settings.failureMode, (member) => notify(exchange, member, message))
}

async function callAll(call: McpCall, request: JsonRpcRequest, method: SharedMethod): Promise<HttpResponse> {
  const targets = call.members.map(({ target }) => target.name)
  const { params: _, ...withoutParams } = request
  const checked = await guardRequest(call, withoutParams, targets)
  if ('error' in checked) return jsonAnswer(checked)
  const response = await guardResult(call, {
    request,
    response: { jsonrpc: '2.0', id: request.id, result: await resultOfAll(call, request, method) },
    targets,
  })
  return jsonAnswer(response)
}

async function resultOfAll(
  call: McpCall,
  request: JsonRpcRequest,
  method: SharedMethod,
): Promise<{ readonly [key: string]: unknown }> {
  if (method.route === 'list') return ownResult(call, request.method, await listAnswer(call, request, method))
  const { exchange, endpoint, members } = call
  await onEach(exchange, members, endpoint.settings.failureMode, (member) => ask(exchange, member, request))
  return {}
}

function callItem(call: McpCall, request: JsonRpcRequest, method: ItemMethod): Later<HttpResponse> {
  const item = itemOf(request, method)
  if (item === undefined) return invalidParams(request, invalidItem(request, method))
  return whenReady(locate(call, request, item), (located) => callLocated(call, { request, method, item }, located))
}

interface ItemRequest {
  /** Of the client. */
  readonly request: JsonRpcRequest
  readonly method: ItemMethod
  readonly item: NamedItem
}

function callLocated(call: McpCall, asked: ItemRequest, located: Located | 'several' | undefined): Later<HttpResponse> {
  const { request, method, item } = asked
  if (located === 'several') return invalidParams(request, `${item.name} is served by multiple targets`)
  const member = located && memberOf(call, located.target)
  if (located === undefined || member === undefined) return unknownItem(request, item)
  noteItem(call, item.kind, located.target, located.name)
  const params = withOwnState(call, located.target, request.params ?? {})
  if (params === undefined) return invalidParams(request, 'params.requestState is not of this server')
  const ownParams = withOwnTasks(call.endpoint.naming, located.target, params)
  const isUnchanged = ownParams === request.params && located.name === item.name
  const own = isUnchanged ? request : withItemName({ ...request, params: ownParams }, method, located.name)
  return whenReady(paramMismatchOf(call, member, own), (mismatch) =>
    mismatch === undefined
      ? whenReady(guardRequest(call, own, [located.target]), (checked) =>
          callChecked(call, asked, { member, own, checked }),
        )
      : rpcError(400, request.id, { code: HEADER_MISMATCH, message: mismatch }),
  )
}

interface Checked {
  readonly member: Member
  /** With the names of the server. */
  readonly own: JsonRpcRequest
  readonly checked: GuardedRequest
}

function callChecked(
  call: McpCall,
  { request, method, item }: ItemRequest,
  { member, own, checked }: Checked,
): Later<HttpResponse> {
  if ('error' in checked) return jsonAnswer(checked)
  const target = member.target.name
  followArguments(call, target, { own, checked })
  // A guardrail may have named another item of the server.
  const used = itemOf(checked, method)
  if (used === undefined) return unknownItem(request, item)
  return whenReady(mayCall(call, member, { request: checked, item: used }), (isUsable) =>
    isUsable ? relay(call, member, checked) : unknownItem(request, item),
  )
}

/** Lists the server only if the request has such headers; a server checks what is missing itself. */
function paramMismatchOf(call: McpCall, member: Member, request: JsonRpcRequest): Later<string | undefined> {
  const tool = request.params?.['name']
  if (call.era === 'Legacy' || request.method !== 'tools/call' || typeof tool !== 'string') return undefined
  return toolMismatchOf(call, member, { request, tool })
}

async function toolMismatchOf(
  call: McpCall,
  member: Member,
  { request, tool }: { readonly request: JsonRpcRequest; readonly tool: string },
): Promise<string | undefined> {
  const { exchange, endpoint } = call
  const { id, params } = request
  const { headers } = exchange.request
  const target = member.target.name
  if (endpoint.toolHeaders.get(exchange, target) === undefined && hasParamHeaders(headers)) {
    await listTools(call, member, id)
  }
  const declared = endpoint.toolHeaders.get(exchange, target)?.get(tool)
  return declared && paramMismatch(headers, declared, params?.['arguments'])
}

/** Whether the definition of the tool is the reviewed one; lists the tools of the server if that is not known. */
async function hasPin(call: McpCall, member: Member, { id }: JsonRpcRequest, tool: string): Promise<boolean> {
  const { exchange, endpoint } = call
  const { pins } = endpoint
  const { name: target } = member.target
  if (pins?.isAccepted(exchange, target, tool) === undefined) await listTools(call, member, id)
  if (pins?.isAccepted(exchange, target, tool) === true) return true
  exchange.errorDetail ??= `${target}: the definition of the tool has no pin`
  return false
}

async function listTools(call: McpCall, member: Member, id: JsonRpcId): Promise<void> {
  const list = listOf('tool')
  if (list === undefined) return
  const request: JsonRpcRequest = { jsonrpc: '2.0', id: `gw-schema-${id}`, method: list.name }
  await listOne(call, member, { request, method: list.method })
}

/** The headers repeat the arguments that the server gets. */
function followArguments(
  { exchange, endpoint }: McpCall,
  target: string,
  { own, checked }: { readonly own: JsonRpcRequest; readonly checked: JsonRpcRequest },
): void {
  const tool = checked.params?.['name']
  if (checked === own || typeof tool !== 'string') return
  const declared = endpoint.toolHeaders.get(exchange, target)?.get(tool)
  if (declared !== undefined) setParamHeaders(exchange.request.headers, declared, checked.params?.['arguments'])
}

/** By the rules, and for tools by their definition. */
function mayCall(
  call: McpCall,
  member: Member,
  { request, item: { kind, name } }: { readonly request: JsonRpcRequest; readonly item: NamedItem },
): Later<boolean> {
  if (kind === 'tool') call.facts.toolArguments = request.params?.['arguments']
  if (!mayUse(call, kind, member.target.name, name)) return false
  const isPinned = kind === 'tool' && call.endpoint.pins?.isRefusing(member.target.name) === true
  return !isPinned || hasPin(call, member, request, name)
}

function locate(
  call: McpCall,
  request: JsonRpcRequest,
  { kind, name }: NamedItem,
): Later<Located | 'several' | undefined> {
  const { naming } = call.endpoint
  if (kind === 'resource') return naming.locateUri(name)
  if (kind === 'task') return naming.locateTask(name)
  return naming.locate(name) ?? locateByLists(call, request, { kind, name })
}

/** Without prefixes, only the lists of the servers show which server has the name. */
async function locateByLists(
  call: McpCall,
  request: JsonRpcRequest,
  { kind, name }: NamedItem,
): Promise<Located | 'several' | undefined> {
  const { naming, owners } = call.endpoint
  const list = listOf(kind)
  if (naming.hasPrefixes || list === undefined) return undefined
  const known = owners.get(call.exchange, kind, name)
  if (known !== undefined) return known
  const listRequest: JsonRpcRequest = { jsonrpc: '2.0', id: `gw-resolve-${request.id}`, method: list.name }
  const found = (await listItems(call, listRequest, list.method)).filter((item) => item.name === name)
  const [owner] = found
  if (owner === undefined) return undefined
  return found.length > 1 ? 'several' : { target: owner.target, name: owner.name }
}

function memberOf(call: McpCall, target: string): Member | undefined {
  for (const member of call.members) if (member.target.name === target) return member
  return undefined
}

function methodNotFound({ id, method }: JsonRpcRequest): HttpResponse {
  return rpcError(404, id, { code: METHOD_NOT_FOUND, message: `Method not found: ${method}` })
}

function invalidParams(request: JsonRpcRequest, message: string): HttpResponse {
  return rpcError(400, request.id, { code: INVALID_PARAMS, message })
}

/** The same for missing items and items that the client may not use. */
function unknownItem(request: JsonRpcRequest, { kind, name }: { kind: ItemKind; name: string }): HttpResponse {
  return rpcError(400, request.id, { code: INVALID_PARAMS, message: `Unknown ${kind}: ${name}` })
}
