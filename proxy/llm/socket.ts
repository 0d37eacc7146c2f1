// Requests of formats whose transport is a WebSocket: the model is in the query, messages pass unchanged, and those of
// the provider are read for model and usage.
import type { LlmFacts } from '../exchange/facts.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { WebSocketError, WebSocketReader } from '../http/websocket-reader.ts'
import type { HttpResponse } from '../message/message.ts'
import type { BodyObserver } from '../message/incoming-body.ts'
import { Tunnel } from '../socket/tunnel.ts'
import { type CompiledProvider, pathFor } from './call.ts'
import type { Format } from './formats/format.ts'
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
  const asked = profile.model ?? query.get('model') ?? ''
  if (asked === '') return exchange.failVisibly('llmRequestInvalid', 'missing field: model not specified')
  const model = edits.alias(asked)
  const conversion = profile.conversion(format.name, model)
  if (conversion === undefined || conversion.translation !== undefined) {
    const names = `from ${format.name} to provider ${profile.telemetryName}`
    return exchange.failVisibly('llmRequestInvalid', `unsupported conversion: ${names}`)
  }
  if (hasGuards(provider)) return exchange.failVisibly('llmRequestInvalid', GUARDED)
  query.set('model', model)
  const sent = pathFor({ path: request.path, query: query.toString() }, provider, conversion, {
    model,
    isStreaming: true,
  })
  const end = sent.indexOf('?')
  request.path = end === -1 ? sent : sent.slice(0, end)
  request.query = end === -1 ? '' : sent.slice(end + 1)
  // Compressed messages could not be read.
  request.headers.remove('sec-websocket-extensions')
  facts.requestModel = model
  facts.isStreaming = true
  facts.operation = format.operation
  return undefined
}

const GUARDED = 'promptGuard of this model does not check WebSockets: send its texts as requests'

/** Guards of answers apply to streams only with `streaming: Enabled`, and a WebSocket is a stream. */
function hasGuards({ guards }: CompiledProvider): boolean {
  return guards !== undefined && (guards.request.length > 0 || (guards.checksStreams && guards.response.length > 0))
}

/** After the provider has switched protocols. */
export function observeSocket(exchange: Exchange, facts: LlmFacts, format: Format, messageBytesMax: number): void {
  const tunnel = exchange.response?.body
  if (!(tunnel instanceof Tunnel)) return
  tunnel.observer = new SocketObserver(exchange, facts, { format, messageBytesMax })
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
        observeEvent(this.#context, this.#format, { event: '', data })
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
