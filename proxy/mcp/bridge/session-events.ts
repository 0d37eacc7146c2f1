// `subscriptions/listen` of a server of former versions: its session subscribes to the resources, and its own stream
// has the notifications.
import { recordOf } from '#api/json.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { madeStream } from '../../message/made-stream.ts'
import { ask, type Answer, type Member } from '../fan-out.ts'
import { isRequest, isResponse, type JsonRpcId, type JsonRpcMessage, type JsonRpcRequest } from '../jsonrpc.ts'
import { acknowledgement, announced, subscribed, type Subscription, subscriptionIn } from '../subscription.ts'
import { messagesOf } from '../targets/events.ts'
import type { MessageStream, TargetSession } from '../targets/target.ts'

/** At once, for one client and server. */
const SUBSCRIBING_MAX = 8

export interface OpenSession {
  readonly member: Member & { readonly session: TargetSession }
  /** To `initialize`. */
  readonly answer: Answer
}

/** The messages that a server of 2026-07-28 sends for the request. */
export async function sessionEvents(
  exchange: Exchange,
  { member, answer }: OpenSession,
  request: JsonRpcRequest,
): Promise<MessageStream> {
  const wanted = announced(subscriptionIn(request.params) ?? {}, recordOf(answer.response.result?.['capabilities']))
  const listened = await member.target.listen(exchange, member.session)
  const stream = listened && messagesOf(listened)
  if (stream === undefined) return madeStream(events(request.id, {}, []), () => {})
  const { resourceSubscriptions = [], ...lists } = wanted
  const uris = await subscribeToAll(exchange, member, resourceSubscriptions)
  const subscription = uris.length === 0 ? lists : { ...lists, resourceSubscriptions: uris }
  return madeStream(events(request.id, subscription, stream), () => stream.cancel())
}

/** The resources that the server accepts. */
async function subscribeToAll(exchange: Exchange, member: Member, uris: readonly string[]): Promise<string[]> {
  const accepted: string[] = []
  for (let start = 0; start < uris.length; start += SUBSCRIBING_MAX) {
    const asked = uris.slice(start, start + SUBSCRIBING_MAX).map(async (uri, index) => {
      const id = `gw-subscribe-${start + index}`
      const { response } = await ask(exchange, member, {
        jsonrpc: '2.0',
        id,
        method: 'resources/subscribe',
        params: { uri },
      })
      return response.error === undefined ? [uri] : []
    })
    accepted.push(...(await Promise.all(asked)).flat())
  }
  return accepted
}

async function* events(
  id: JsonRpcId,
  subscription: Subscription,
  stream: AsyncIterable<JsonRpcMessage> | Iterable<JsonRpcMessage>,
): AsyncGenerator<JsonRpcMessage> {
  yield acknowledgement(id, subscription)
  for await (const message of stream) {
    if (isRequest(message) || isResponse(message)) continue
    const event = subscribed(id, subscription, message)
    if (event !== undefined) yield event
  }
}
