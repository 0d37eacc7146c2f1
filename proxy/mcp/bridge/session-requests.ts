// Requests of a server in the session that the gateway opened for one request of a client. The client has no session:
// the id that it sees seals that of the server, so that its response returns through any replica.
import type { JsonSealer } from '../../auth/json-sealer.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { madeStream } from '../../message/made-stream.ts'
import { isRequest, isResponse, type JsonRpcId, type JsonRpcMessage } from '../jsonrpc.ts'
import { scopeOf } from '../legacy/session.ts'
import { principalOf } from '../principal.ts'
import { eventsOf, messagesOf } from '../targets/events.ts'
import type { EventStream, ServerEvent, TargetReply, TargetSession } from '../targets/target.ts'

/** Of one session; the oldest is forgotten, and the server cannot cancel it. */
const REQUESTS_MAX = 256

export class SessionRequests {
  readonly #sealer: JsonSealer
  readonly #exchange: Exchange
  readonly #session: TargetSession
  readonly #shown = new Map<JsonRpcId, string>()

  constructor(sealer: JsonSealer, exchange: Exchange, session: TargetSession) {
    this.#sealer = sealer
    this.#exchange = exchange
    this.#session = session
  }

  /** The reply of the server with the ids for the client. */
  reply(reply: TargetReply): TargetReply {
    if (reply.whole !== undefined) return reply
    const { serverSession, endpoint } = reply
    const events = this.events(reply.events ?? eventsOf(reply.messages))
    return { serverSession, endpoint, events, messages: messagesOf(events) }
  }

  events(events: EventStream): EventStream {
    return madeStream(this.#translated(events), () => events.cancel())
  }

  async *#translated(events: EventStream): AsyncGenerator<ServerEvent> {
    for await (const event of events) {
      yield event.message === undefined ? event : { ...event, message: this.#forClient(event.message) }
    }
  }

  #forClient(message: JsonRpcMessage): JsonRpcMessage {
    if (isRequest(message)) return { ...message, id: this.#shownId(message.id) }
    if (isResponse(message) || message.method !== 'notifications/cancelled') return message
    const { params } = message
    // An id that was not shown stays: the client ignores it.
    const shown = this.#shown.get(params?.['requestId'] as JsonRpcId)
    return shown === undefined ? message : { ...message, params: { ...params, requestId: shown } }
  }

  #shownId(id: JsonRpcId): string {
    const { serverSession: s, endpoint: b } = this.#session
    const owner = { k: scopeOf(this.#exchange), p: principalOf(this.#exchange) }
    const shown = this.#sealer.seal({ ...owner, t: this.#session.target, s, b, i: id })
    this.#shown.set(id, shown)
    const [oldest] = this.#shown.keys()
    if (this.#shown.size > REQUESTS_MAX && oldest !== undefined) this.#shown.delete(oldest)
    return shown
  }
}

export interface AskedRequest {
  /** Where the server waits for the response. */
  readonly session: TargetSession
  /** Of the server. */
  readonly id: JsonRpcId
}

/** undefined: not an id of a request to this client. */
export function askedRequest(sealer: JsonSealer, exchange: Exchange, shown: JsonRpcId): AskedRequest | undefined {
  const sealed = sealer.open(String(shown))
  if (sealed === undefined || sealed === 'UnknownKey') return undefined
  const { k: scope, p: principal, t: target, s, b, i: id } = sealed
  if (scope !== scopeOf(exchange) || principal !== principalOf(exchange) || typeof target !== 'string') return undefined
  const serverSession = typeof s === 'string' ? s : undefined
  const endpoint = typeof b === 'string' ? b : undefined
  // Sealed by this proxy from the id of a request.
  return { session: { target, serverSession, endpoint, isSkipped: false, isModern: false }, id: id as JsonRpcId }
}
