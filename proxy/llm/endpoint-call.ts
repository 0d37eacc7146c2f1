// Sends a prepared call to an endpoint of its provider, and to another one if the first did not get it. Must not read
// the response.
import type { BackendEnvironment, Endpoint } from '../backend/handler.ts'
import { otherEndpoint } from '../backend/failover.ts'
import { useEndpoint } from '../backend/http.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { RequestTrace } from '../exchange/request-trace.ts'
import { forBackend } from '../upstream/resolve-target.ts'
import { type CallOutcome, UpstreamError, type UpstreamResponse } from '../upstream/target.ts'
import type { CompiledProvider, LlmCall } from './call.ts'

/** Upper bound without a timeout policy: models may take long before the first byte. */
const RESPONSE_HEAD_TIMEOUT_MS = 600_000

export interface CallPlace {
  readonly provider: Pick<CompiledProvider, 'profile' | 'picker' | 'health'>
  readonly endpoint: Endpoint
  readonly environment: BackendEnvironment
}

/** Gets one of these calls, once. */
export interface SentOutcome {
  /** What it throws goes to `broken`. */
  answered(upstream: UpstreamResponse): void
  /** `exchange.response` is the failure. */
  failed(): void
  /** By a bug. */
  broken(error: unknown): void
}

export function sendToAny(exchange: Exchange, call: LlmCall, place: CallPlace, outcome: SentOutcome): void {
  new EndpointCall({ exchange, call, place, outcome }).send(place.endpoint)
}

interface EndpointCallOptions {
  readonly exchange: Exchange
  readonly call: LlmCall
  readonly place: CallPlace
  readonly outcome: SentOutcome
}

class EndpointCall implements CallOutcome {
  readonly #exchange: Exchange
  readonly #call: LlmCall
  readonly #place: CallPlace
  readonly #outcome: SentOutcome

  constructor({ exchange, call, place, outcome }: EndpointCallOptions) {
    this.#exchange = exchange
    this.#call = call
    this.#place = place
    this.#outcome = outcome
  }

  send(endpoint: Endpoint): void {
    const exchange = this.#exchange
    const call = this.#call
    const { provider, environment } = this.#place
    useEndpoint(exchange, endpoint, provider.health)
    if (exchange.trace !== undefined) traceCall(exchange, exchange.trace, call, { provider, endpoint })
    const now = performance.now()
    exchange.upstreamStartMs = now
    const ownDeadline = now + (exchange.backendRequestTimeoutMs ?? RESPONSE_HEAD_TIMEOUT_MS)
    environment.client.call(
      endpoint.target,
      {
        method: exchange.request.method,
        pathAndQuery: call.pathAndQuery,
        authority: endpoint.authority,
        headers: call.headers,
        body: call.body,
        signer: exchange.request.signer,
      },
      { deadlineMs: Math.min(ownDeadline, exchange.deadlineMs ?? ownDeadline), signal: undefined, exchange },
      this,
    )
  }

  answered(upstream: UpstreamResponse): void {
    try {
      this.#outcome.answered(upstream)
    } catch (error) {
      this.#break(error)
    }
  }

  failed(error: unknown): void {
    const exchange = this.#exchange
    exchange.upstreamCall = undefined
    try {
      failBy(exchange, error)
      const next = exchange.isMovable ? otherEndpoint(exchange, this.#place.provider.picker) : undefined
      if (next === undefined) this.#outcome.failed()
      else this.send(next)
    } catch (defect) {
      this.#break(defect)
    }
  }

  #break(error: unknown): void {
    this.#exchange.upstreamCall = undefined
    this.#outcome.broken(error)
  }
}

/** @throws any other error than that of a call. */
export function failBy(exchange: Exchange, error: unknown): void {
  if (!(error instanceof UpstreamError)) throw error
  const code = isRouteDeadline(exchange, error) ? 'requestTimeout' : error.code
  exchange.isMovable = error.isMovable
  exchange.fail(code, forBackend(exchange.backendName, code, error.detail))
}

function isRouteDeadline(exchange: Exchange, error: UpstreamError): boolean {
  return (
    error.code === 'upstreamTimeout' && exchange.deadlineMs !== undefined && performance.now() >= exchange.deadlineMs
  )
}

function traceCall(
  exchange: Exchange,
  trace: RequestTrace<Exchange>,
  call: LlmCall,
  { provider, endpoint }: Pick<CallPlace, 'provider' | 'endpoint'>,
): void {
  const { conversion, model, isStreaming, pathAndQuery, headers, body } = call
  const { client, sent, translation } = conversion
  trace.write({
    type: 'llmRequestDetected',
    provider: provider.profile.telemetryName,
    inputFormat: client.name,
    outputFormat: sent.name,
    model,
    streaming: isStreaming,
  })
  if (isStreaming) {
    const translated = translation !== undefined
    trace.write({ type: 'llmStreamingTranslation', from: sent.name, to: client.name, translated })
  }
  const head = { pathAndQuery, headers, host: endpoint.authority }
  trace.backendStart(exchange, { target: endpoint.label, sent: head, body })
}
