// One request for one server: its messages until its response, as the client sees them.
import { reportIfBug } from '../exchange/defects.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { madeStream } from '../message/made-stream.ts'
import type { HttpResponse } from '../message/message.ts'
import { noteError, type McpCall } from './context.ts'
import { type Member, serverReason } from './fan-out.ts'
import { guardResult } from './guard.ts'
import { eventStream, jsonAnswer, resumableStream, single } from './http-reply.ts'
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
import type { CallPosition } from './legacy/event-ids.ts'
import { METHODS } from './methods.ts'
import { shownResult } from './results.ts'
import { deniedInput, mayAsk, refuse } from './server-requests.ts'
import { floodOf, noteDropped, shownToClient } from './server-messages.ts'
import { eventsOf, resumed, untilLost } from './targets/events.ts'
import {
  type EventStream,
  type ServerEvent,
  TargetError,
  TargetHttpError,
  type WholeMessage,
} from './targets/target.ts'

/** Statuses with which a server rejects a client, which may then ask again. */
const OF_CLIENT: ReadonlySet<number> = new Set([401, 403, 429])

interface Relayed {
  readonly member: Member
  readonly events: EventStream
  readonly request: JsonRpcRequest
}

/** Sends to one server and streams its messages back until its response. */
export function relay(call: McpCall, member: Member, request: JsonRpcRequest): Promise<HttpResponse> {
  call.facts.target ??= member.target.name
  return member.target.send(call.exchange, request, member.session).then((reply) => {
    if (reply.whole !== undefined) return relayWhole(call, { member, whole: reply.whole, request })
    return relayEvents(call, { member, events: reply.events ?? eventsOf(reply.messages), request })
  })
}

/** The stream of a response, or the rest of it. */
function relayEvents(call: McpCall, { member, events, request }: Relayed): HttpResponse {
  const all = call.eventIds === undefined ? resumed(call.exchange, { ...member, events }) : events
  return resumableStream(madeStream(relayed(call, { member, events: all, request }), () => all.cancel()))
}

/** The rest of a response, for a client that lost its stream. A server that does not have it fails the request. */
export async function relayRest(call: McpCall, { target, event, request }: CallPosition): Promise<HttpResponse> {
  const { exchange, facts, members } = call
  const method = METHODS.get(request.method)
  facts.methodName = request.method
  facts.target = target
  if (method?.route === 'item') facts.kind = method.kind
  const member = members.find((one) => one.target.name === target)
  const events = member && (await restOf(exchange, member, event))
  if (member !== undefined && events !== undefined) return relayEvents(call, { member, events, request })
  return eventStream(single(failed(call, target, request)))
}

/** undefined: the server does not have it. */
async function restOf(exchange: Exchange, { target, session }: Member, last: string): Promise<EventStream | undefined> {
  try {
    return await target.resume?.(exchange, session, last)
  } catch (error) {
    const isAboutClient = error instanceof TargetHttpError && OF_CLIENT.has(error.status)
    if (isAboutClient || !(error instanceof TargetHttpError || error instanceof TargetError)) throw error
    exchange.errorDetail ??= `${target.name}: ${error.message}`
    return undefined
  }
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

/**
 * Ends with a response, because the client must not wait for a server that has failed, or with an id after which the
 * client can ask again.
 */
async function* relayed(call: McpCall, { member, events, request }: Relayed): AsyncGenerator<ServerEvent> {
  const { name: target } = member.target
  let canResume = false
  try {
    for await (const event of untilLost(events, () => canResume)) {
      const shown = await shownEvent(call, { member, request, event })
      canResume ||= shown?.id !== undefined
      if (shown !== undefined) yield shown
      else checkFlood(call, target)
      if (shown?.message !== undefined && isResponse(shown.message)) return
    }
    // The client asks for the rest.
    if (canResume) return
  } catch (error) {
    reportIfBug('mcp stream', error)
    call.exchange.errorDetail ??= serverReason(target, error)
  }
  yield { message: failed(call, target, request) }
}

/** @throws {TargetError} */
function checkFlood({ exchange }: McpCall, target: string): void {
  const flood = floodOf(exchange, target)
  if (flood === undefined) return
  exchange.errorDetail = flood
  throw new TargetError(flood)
}

/** undefined: the client does not get the event. */
async function shownEvent(
  call: McpCall,
  sent: { readonly member: Member; readonly request: JsonRpcRequest; readonly event: ServerEvent },
): Promise<ServerEvent | undefined> {
  const { member, request, event } = sent
  const message = event.message && (await forClient(call, { member, request, sent: event.message }))
  if (message === undefined && event.message !== undefined) return undefined
  return { message, ...markOf(call, { target: member.target.name, request, event }) }
}

/** After which the client can ask again. */
function markOf(
  { eventIds }: McpCall,
  sent: { readonly target: string; readonly request: JsonRpcRequest; readonly event: ServerEvent },
): Omit<ServerEvent, 'message'> {
  const { id: event, retryMs } = sent.event
  if (eventIds === undefined || (event === undefined && retryMs === undefined)) return {}
  return { id: event && eventIds.ofCall({ ...sent, event }), retryMs }
}

/** undefined: the client does not get the message. */
async function forClient(
  call: McpCall,
  {
    member,
    request,
    sent,
  }: { readonly member: Member; readonly request: JsonRpcRequest; readonly sent: JsonRpcMessage },
): Promise<JsonRpcMessage | undefined> {
  const { exchange, endpoint } = call
  const { name: target } = member.target
  if (isRequest(sent)) {
    if (call.era === 'Modern') {
      await refuseRequest(call, member, sent)
      return undefined
    }
    if (!(await mayAsk(call, member, sent))) return undefined
  }
  endpoint.owners.note(sent)
  const message = shownToClient({ exchange, naming: endpoint.naming, target, request }, sent)
  return message !== undefined && isResponse(message) ? answered(call, { request, response: message, target }) : message
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
