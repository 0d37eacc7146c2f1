// `subscriptions/listen`: one stream of notifications of all servers (data-plane supplement section 4.2). It starts
// with what the servers acknowledge, and ends with the last server.
import { madeStream } from '../../message/made-stream.ts'
import type { HttpResponse } from '../../message/message.ts'
import { reportIfBug } from '../../exchange/defects.ts'
import { untilAborted } from '../../credentials/until-aborted.ts'
import { mayUse, type McpCall } from '../context.ts'
import { GATEWAY, SERVER_KEY, SUBSCRIPTION_KEY } from '../envelope.ts'
import { type Member, onEach, serverReason } from '../fan-out.ts'
import { interleave } from '../interleave.ts'
import { guardRequest } from '../guard.ts'
import { eventStream, jsonAnswer, rpcError } from '../http-reply.ts'
import {
  INVALID_PARAMS,
  isRequest,
  isResponse,
  type JsonRpcMessage,
  type JsonRpcNotification,
  type JsonRpcRequest,
} from '../jsonrpc.ts'
import { noteDropped } from '../server-messages.ts'
import {
  acknowledgedIn,
  acknowledgement,
  isEmpty,
  joined,
  listChanged,
  LISTS,
  subscribed,
  type Subscription,
  subscriptionIn,
} from '../subscription.ts'
import { type MessageStream, TargetError } from '../targets/target.ts'

/** From the request to the acknowledgement of a server. */
const ACKNOWLEDGE_MS = 10_000

interface Listening {
  readonly name: string
  /** With the server's own URIs. */
  readonly subscription: Subscription
  readonly stream: MessageStream
}

export async function listen(call: McpCall, request: JsonRpcRequest): Promise<HttpResponse> {
  const wanted = subscriptionIn(request.params)
  if (wanted === undefined) {
    const message = 'params.notifications must be a subscription to at most 1024 resources'
    return rpcError(400, request.id, { code: INVALID_PARAMS, message })
  }
  const shares = call.members
    .map((member) => ({ member, share: shareOf(call, member.target.name, wanted) }))
    .filter(({ share }) => !isEmpty(share))
  const { params: _, ...withoutParams } = request
  const names = shares.map(({ member }) => member.target.name)
  const checked = await guardRequest(call, withoutParams, names)
  if ('error' in checked) return jsonAnswer(checked)
  const opened = shares.length === 0 ? [] : await openAll(call, request, shares)
  const { naming } = call.endpoint
  const acknowledged = joined(
    opened.map(({ name, subscription: { resourceSubscriptions: uris, ...lists } }) => ({
      ...lists,
      ...(uris && { resourceSubscriptions: uris.map((uri) => naming.showUri(name, uri)) }),
    })),
  )
  const events = interleave(opened.map((one) => eventsOf(call, request, one)))
  const over = new AbortController()
  const stop = call.endpoint.watchServers(() => {
    over.abort()
    events.cancel()
  })
  const release = (): void => {
    stop()
    events.cancel()
  }
  return eventStream(madeStream(reported(request, { acknowledged, events, changed: over.signal, stop }), release))
}

/** What one server is asked for: resources by their owner, without those that rules hide. */
function shareOf(call: McpCall, target: string, { resourceSubscriptions = [], ...lists }: Subscription): Subscription {
  const uris = resourceSubscriptions.flatMap((uri) => {
    const located = call.endpoint.naming.locateUri(uri)
    return located?.target === target && mayUse(call, 'resource', target, located.name) ? [located.name] : []
  })
  return uris.length === 0 ? lists : { ...lists, resourceSubscriptions: uris }
}

async function openAll(
  call: McpCall,
  request: JsonRpcRequest,
  shares: readonly { readonly member: Member; readonly share: Subscription }[],
): Promise<Listening[]> {
  const opened: Listening[] = []
  const shareOfMember = new Map(shares.map(({ member, share }) => [member, share]))
  const members = shares.map(({ member }) => member)
  try {
    await onEach(call.exchange, members, call.endpoint.settings.failureMode, async (member) => {
      const notifications = shareOfMember.get(member) ?? {}
      const own = { ...request, params: { ...request.params, notifications } }
      opened.push(await open(call, member, own))
    })
    return opened
  } catch (error) {
    for (const { stream } of opened) stream.cancel()
    throw error
  }
}

async function open({ exchange }: McpCall, { target, session }: Member, request: JsonRpcRequest): Promise<Listening> {
  const signal = AbortSignal.timeout(ACKNOWLEDGE_MS)
  const late = (): Error => new TargetError(`${target.name}: no acknowledgement within ${ACKNOWLEDGE_MS} ms`)
  const sent = target.send(exchange, request, session)
  try {
    const { messages } = await untilAborted(signal, () => sent, late)
    const { value } = await untilAborted(signal, () => messages[Symbol.asyncIterator]().next(), late)
    const subscription = isNotification(value) ? acknowledgedIn(value) : undefined
    if (subscription !== undefined) return { name: target.name, subscription, stream: messages }
    throw new TargetError(`${target.name}: the server did not acknowledge ${request.method}`)
  } catch (error) {
    sent.then(
      ({ messages }) => messages.cancel(),
      () => {},
    )
    throw error
  }
}

function isNotification(value: JsonRpcMessage | undefined): value is JsonRpcNotification {
  return value !== undefined && !isResponse(value) && !isRequest(value)
}

function eventsOf(call: McpCall, request: JsonRpcRequest, one: Listening): MessageStream {
  return madeStream(shownEvents(call, request, one), () => one.stream.cancel())
}

/** Ends with the stream of the server; one that breaks has no effect on those of other servers. */
async function* shownEvents(
  { exchange, endpoint }: McpCall,
  { id }: JsonRpcRequest,
  { name, subscription, stream }: Listening,
): AsyncGenerator<JsonRpcMessage> {
  try {
    for await (const message of stream) {
      if (isResponse(message)) return
      endpoint.owners.note(message)
      const event = isRequest(message) ? undefined : subscribed(id, subscription, message)
      if (event === undefined) {
        noteDropped(exchange, name)
        continue
      }
      const uri = event.params?.['uri']
      yield typeof uri === 'string'
        ? { ...event, params: { ...event.params, uri: endpoint.naming.showUri(name, uri) } }
        : event
    }
  } catch (error) {
    reportIfBug('mcp subscription', error)
    exchange.errorDetail ??= serverReason(name, error)
  }
}

interface Reported {
  readonly acknowledged: Subscription
  readonly events: MessageStream
  /** Aborted when servers were added or removed: the client subscribes again. */
  readonly changed: AbortSignal
  readonly stop: () => void
}

async function* reported(
  { id }: JsonRpcRequest,
  { acknowledged, events, changed, stop }: Reported,
): AsyncGenerator<JsonRpcMessage> {
  yield acknowledgement(id, acknowledged)
  yield* events
  stop()
  const changes = changed.aborted ? LISTS.map((list) => subscribed(id, acknowledged, listChanged(list))) : []
  for (const change of changes) if (change !== undefined) yield change
  const result = { resultType: 'complete', _meta: { [SUBSCRIPTION_KEY]: id, [SERVER_KEY]: GATEWAY } }
  yield { jsonrpc: '2.0', id, result }
}
