// Requests of formats whose transport is a WebSocket: the model is in the query or in an event of the client, guards
// check messages, and those of the provider are read for model and usage.
import type { LlmFacts } from '../exchange/facts.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { WebSocketError, WebSocketReader } from '../http/websocket-reader.ts'
import type { HeaderList } from '../message/headers.ts'
import type { HttpResponse } from '../message/message.ts'
import type { BodyObserver } from '../message/incoming-body.ts'
import { Tunnel } from '../socket/tunnel.ts'
import { type CompiledProvider, pathFor } from './call.ts'
import { checkedTunnel, type SocketChecks } from './checked-socket.ts'
import type { Format } from './formats/format.ts'
import { RealtimeGuard } from './guards/realtime.ts'
import { RealtimeAnswers } from './guards/realtime-answers.ts'
import { RealtimeErrors } from './realtime-errors.ts'
import { SessionModel } from './session-model.ts'
import { observeEvent, reportUnobserved } from './stream-observer.ts'

/** Addresses the request to the provider; a response is the failure that the client gets. */
export function addressSocket(
  exchange: Exchange,
  facts: LlmFacts,
  { provider, format }: { readonly provider: CompiledProvider; readonly format: Format },
): HttpResponse | undefined {
  const { request } = exchange
  const { profile, edits } = provider
  if (request.upgrade !== 'websocket') return exchange.failVisibly('llmRequestInvalid', 'a WebSocket is required')
  const query = new URLSearchParams(request.query)
  // Without a model in the query, `session.update` may name one.
  const asked = profile.model ?? query.get('model') ?? ''
  const model = edits.alias(asked)
  const conversion = profile.conversion(format.name, model)
  if (conversion === undefined || conversion.translation !== undefined) {
    const names = `from ${format.name} to provider ${profile.telemetryName}`
    return exchange.failVisibly('llmRequestInvalid', `unsupported conversion: ${names}`)
  }
  if (model !== '') query.set('model', model)
  const sent = pathFor({ path: request.path, query: query.toString() }, provider, conversion, {
    model,
    isStreaming: true,
  })
  const end = sent.indexOf('?')
  request.path = end === -1 ? sent : sent.slice(0, end)
  request.query = end === -1 ? '' : sent.slice(end + 1)
  // Compressed messages could not be read.
  request.headers.remove('sec-websocket-extensions')
  facts.requestModel = model === '' ? undefined : model
  facts.isStreaming = true
  facts.operation = format.operation
  return undefined
}

export interface SocketContext {
  readonly provider: CompiledProvider
  readonly format: Format
  /** Of a message that guards check. */
  readonly messageBytesMax: number
  /** Of events of the provider that wait for guards, and of a message that no guard checks. */
  readonly heldBytesMax: number
}

/** After the provider has switched protocols. */
export function joinSocket(exchange: Exchange, facts: LlmFacts, context: SocketContext): void {
  const { response } = exchange
  const tunnel = response?.body
  if (response === undefined || !(tunnel instanceof Tunnel)) return
  const { format, messageBytesMax } = context
  tunnel.observer = new SocketObserver(exchange, facts, { format, messageBytesMax })
  // The time for the request has ended with the switch, and guards run later.
  exchange.deadline?.settle()
  exchange.deadline = undefined
  exchange.deadlineMs = undefined
  response.body = checkedTunnel(tunnel, socketChecks(exchange, facts, response.headers, context))
}

function socketChecks(
  exchange: Exchange,
  facts: LlmFacts,
  upstreamHeaders: HeaderList,
  { provider, messageBytesMax, heldBytesMax }: SocketContext,
): SocketChecks {
  const { profile, edits, guards } = provider
  const errors = new RealtimeErrors(exchange)
  const model = new SessionModel(facts, (asked) => edits.alias(profile.model ?? asked), errors)
  const request = guards?.request ?? []
  // A WebSocket is a stream: guards of responses need `streaming: Enabled`.
  const response = guards?.checksStreams === true ? guards.response : []
  const isGuarded = request.length > 0 || response.length > 0
  const settings = { guards: response, exchange, upstreamHeaders, heldBytesMax }
  return {
    ofClient: request.length === 0 ? [model] : [model, new RealtimeGuard(exchange, request, errors)],
    ofProvider: response.length === 0 ? undefined : new RealtimeAnswers(settings, errors),
    allowsBinary: request.length === 0,
    messageBytesMax: isGuarded ? messageBytesMax : heldBytesMax,
  }
}

/** Ends the observation, not the connection, at a message that cannot be read. */
class SocketObserver implements BodyObserver {
  readonly #context: { readonly exchange: Exchange; readonly facts: LlmFacts }
  readonly #format: Format
  #reader: WebSocketReader | undefined

  constructor(
    exchange: Exchange,
    facts: LlmFacts,
    { format, messageBytesMax }: { readonly format: Format; readonly messageBytesMax: number },
  ) {
    this.#context = { exchange, facts }
    this.#format = format
    this.#reader = new WebSocketReader(messageBytesMax)
  }

  seen(buffer: Buffer, start: number, end: number): void {
    try {
      for (const data of this.#reader?.push(buffer.subarray(start, end)) ?? []) {
        observeEvent(this.#context, this.#format, data)
      }
    } catch (error) {
      if (!(error instanceof WebSocketError)) throw error
      this.#reader = undefined
      reportUnobserved(this.#context, error.message)
    }
  }

  over(): void {
    this.#reader = undefined
  }
}
