// One request and its response on the way through the proxy: the only thing that filters, backends, logs and metrics
// share.
import type { CardRequest } from './a2a/agent-card.ts'
import { EVALUATION_STEPS_MAX } from '#api/cel/engine/frame.ts'
import type { CelVariables } from '#api/cel/expression.ts'
import type { DenyGuard } from './cel/deny-guard.ts'
import { type Detail, logOf, shown } from './diagnosis.ts'
import type { Reason } from './errors.ts'
import { FAILURES, type FailureCode } from './errors.ts'
import { failureResponse } from './failure-response.ts'
import type { ConnectionOrigin } from './http/connection-origin.ts'
import type { HttpRequest } from './http/message.ts'
import { HttpResponse } from './http/message.ts'
import type { BodyCopies } from './log/body-copies.ts'
import type { BackendType, Flow } from './plan.ts'
import type { CompiledHealth } from './backend/health.ts'
import type { PickedEndpoints } from './backend/picked-endpoints.ts'
import type { EndpointState } from './backend/endpoint-store.ts'
import type { Replay } from './policy/replay.ts'
import type { RequestDeadline } from './policy/request-deadline.ts'
import type { CompiledRetry } from './policy/retry.ts'
import type { RequestSpan } from './otlp/request-span.ts'
import type { ExchangeTrace } from './trace/exchange-trace.ts'
import type { PeerCertificate } from './tls/peer.ts'

/** The client's connection. Filled by the engine; `close` asks it to end after the running response. */
export interface Connection {
  readonly id: number
  readonly sourceAddress: string
  readonly sourcePort: number
  readonly localAddress: string
  readonly localPort: number
  readonly isTls: boolean
  readonly sni: string | undefined
  /** Verified client certificate. */
  readonly peer?: PeerCertificate | undefined
  /** Where the source above is not the socket's: it came with a PROXY header, or through a tunnel. */
  readonly origin?: ConnectionOrigin | undefined
  /** Aborted when the client goes away. Created on first use. */
  readonly signal: AbortSignal
  close(): void
  /**
   * Time is up for this exchange. What is still to come of its response does not come: the client sees a message cut
   * short, and the exchange fails with `code`. False: its answer has not begun.
   */
  cut(exchange: Exchange, code: FailureCode): boolean
}

/** Who answers: names for logs, metrics and CEL. Filled by the pipeline. */
export interface ExchangePlace {
  readonly bind: string
  readonly gatewayNamespace: string
  readonly gatewayName: string
  readonly listener: string
  readonly routeKind: string | undefined
  readonly routeNamespace: string | undefined
  readonly routeName: string | undefined
  readonly routeRule: string | undefined
}

/** Tokens by kind of content. */
export interface LlmTokenKinds {
  inputText: number | undefined
  inputImage: number | undefined
  inputAudio: number | undefined
  outputText: number | undefined
  outputImage: number | undefined
  outputAudio: number | undefined
}

/** What a request asks of the model, as it is sent; only what is set. Names of CEL `llm.params`. */
export interface LlmParams {
  temperature?: number
  top_p?: number
  frequency_penalty?: number
  presence_penalty?: number
  seed?: number
  max_tokens?: number
  encoding_format?: string
  dimensions?: number
}

/** Facts an LLM backend learns; all optional, filled as they become known (CEL `llm.*`, access log, GenAI metrics). */
export interface LlmFacts {
  /** `embeddings` for requests in that format. */
  operation: 'chat' | 'embeddings'
  isStreaming: boolean
  /** OpenTelemetry GenAI provider name: `openai`, `anthropic`, … */
  provider: string
  requestModel: string | undefined
  responseModel: string | undefined
  /** Input tokens including cache reads and writes. */
  inputTokens: number | undefined
  cachedInputTokens: number | undefined
  cacheCreationInputTokens: number | undefined
  outputTokens: number | undefined
  reasoningTokens: number | undefined
  totalTokens: number | undefined
  /** As the provider counts: without cache reads and writes where it leaves them out. */
  providerInputTokens: number | undefined
  providerTotalTokens: number | undefined
  /** By kind of content, where the provider tells. */
  kinds: LlmTokenKinds | undefined
  serviceTier: string | undefined
  params: LlmParams | undefined
  /** Milliseconds from request start to the first content chunk. */
  timeToFirstTokenMs: number | undefined
}

/** Facts of an MCP request (CEL `mcp.*`, access log, metrics). */
export interface McpFacts {
  methodName: string | undefined
  sessionId: string | undefined
  kind: 'tool' | 'prompt' | 'resource' | undefined
  target: string | undefined
  /** The server's own name of the item, without prefix; the URI for resources. */
  name: string | undefined
  errorCode: number | undefined
  errorMessage: string | undefined
  /** Messages that servers sent and the client did not get, by target; undefined: none. */
  dropped: Map<string, number> | undefined
}

/** Facts of a call of an agent (access log, spans). */
export interface A2aFacts {
  /** JSON-RPC method; `unknown` when there is none. */
  method: string
  /** `Unknown`: the request is not one JSON object, or larger than the buffer. */
  asks: 'Card' | 'Other' | 'Unknown'
  /** undefined: the answer is no JSON, or larger than the buffer. */
  outcome: 'success' | 'error' | 'unknown' | undefined
  errorCode: number | undefined
  /** `task` or `message`, or what the agent says. */
  resultKind: string | undefined
  taskState: string | undefined
  contextId: string | undefined
}

/** What the x-ratelimit headers say. */
export interface RateLimitState {
  readonly limit: number
  readonly remaining: number
  readonly resetSeconds: number
}

/** The endpoint an exchange is charged to; see backend/health.ts. */
export interface UsedEndpoint {
  readonly state: EndpointState
  end(latencyMs: number, isHealthy: boolean): void
}

/** Ends a call before its response head: `done` follows at once, with that failure. */
export interface UpstreamCallHandle {
  abort(code: FailureCode): void
}

export class Exchange {
  readonly connection: Connection
  readonly request: HttpRequest
  /** `performance.now()` when the request head was complete. */
  readonly startMs: number
  place: ExchangePlace | undefined = undefined
  /** Where the pipeline stands; nobody else touches it. */
  flow: Flow | undefined = undefined
  /** Set by a filter, a backend or a failure. Response filters may replace parts of it. */
  response: HttpResponse | undefined = undefined
  reason: Reason = 'Upstream'
  /** Why the response is a failure of the proxy's own. */
  failure: FailureCode | undefined = undefined
  /** Diagnostic text for the log. */
  errorDetail: string | undefined = undefined
  /** `host:port` of the endpoint that was used. */
  endpoint: string | undefined = undefined
  /** The call failed in a way that lets another endpoint take it; see backend/failover.ts. */
  isMovable = false
  /** Endpoints that failed in that way, in this try. */
  failedEndpoints: EndpointState[] | undefined = undefined
  /** Who waits for the backend's answer; nobody but the handler touches it. */
  backendDone: ((exchange: Exchange) => void) | undefined = undefined
  /** Settled by the pipeline when the response is over, or the try. */
  usedEndpoint: UsedEndpoint | undefined = undefined
  /** What an endpoint picker wants; undefined: none was asked. */
  picked: PickedEndpoints | undefined = undefined
  /** Health policy of `usedEndpoint`. */
  health: CompiledHealth | undefined = undefined
  /** Status as the backend gave it; 0: there was no answer. Response filters may change that of the response. */
  upstreamStatus = 0
  /** Set by the policy for requests that may be sent again. */
  retry: CompiledRetry | undefined = undefined
  /** The request as it can be sent again; undefined: it cannot. */
  replay: Replay | undefined = undefined
  /** 0: the first try. */
  retryAttempt = 0
  backendName: string | undefined = undefined
  /** `http`, `tcp`, `a2a`, `mcp`, `llm`. */
  backendProtocol: string | undefined = undefined
  /** `ai`, `mcp`, `static`, `dynamic`, `service`. */
  backendType: BackendType | undefined = undefined
  /** Path of the match that selected the route: replaced by prefix rewrites. */
  matchedPrefix: string | undefined = undefined
  /** A rewrite or policy fixed the upstream Host; automatic host rewrite leaves it alone. */
  hasExplicitHost = false
  /** undefined: by kind of backend. */
  hostRewriteMode: 'Auto' | 'None' | undefined = undefined
  /** Header fields to be merged into whatever response goes out: replaces fields of the same name. */
  queuedResponseHeaders: string[] | undefined = undefined
  /** Absolute `performance.now()` deadline, from the merged timeout policy: every wait for a peer keeps it. */
  deadlineMs: number | undefined = undefined
  /** Keeps it where nobody waits: for bodies. */
  deadline: RequestDeadline | undefined = undefined
  backendRequestTimeoutMs: number | undefined = undefined
  /** CEL `metadata`, set by transformations. */
  metadata: Record<string, unknown> | undefined = undefined
  /** Variables that policies set: `jwt`, `apiKey`, `basicAuth`, `extauthz`, `extproc`. Null-prototype. */
  attributes: Record<string, unknown> | undefined = undefined
  /** Made by proxy/cel/variables.ts when the first expression runs. */
  variables: CelVariables | undefined = undefined
  /** What expressions of this request may still cost; see cel/budget.ts. */
  celStepsLeft = EVALUATION_STEPS_MAX
  /** Set while a Deny rule is evaluated, which must not pass a body that it cannot read; see cel/deny-guard.ts. */
  denyGuard: DenyGuard | undefined = undefined
  /** The limit closest to its end, for the x-ratelimit headers. */
  rateLimit: RateLimitState | undefined = undefined
  /** What a policy chose on the request and needs on the response, by compiled policy. */
  policyState: Map<object, unknown> | undefined = undefined
  llm: LlmFacts | undefined = undefined
  /** CEL `llmRequest`: the request JSON while an LLM policy evaluates its expressions. */
  llmRequest: unknown = undefined
  mcp: McpFacts | undefined = undefined
  /** Sent by a page that may not use this MCP endpoint; see mcp/access.ts. */
  hasForeignOrigin = false
  a2a: A2aFacts | undefined = undefined
  /** Set where an agent's card is asked for. */
  cardRequest: CardRequest | undefined = undefined
  /** Bytes of body sent to the client; counted by the engine. */
  responseBytes = 0
  /** `performance.now()` marks for `proxy.*Duration` and processing metrics. */
  upstreamStartMs: number | undefined = undefined
  upstreamHeadMs: number | undefined = undefined
  /**
   * The running upstream call: the engine that owns the client's connection or stream aborts it when the client leaves.
   */
  upstreamCall: UpstreamCallHandle | undefined = undefined
  /** Set while somebody watches this request (`/debug/trace`). */
  trace: ExchangeTrace | undefined = undefined
  /** Set when the request is sampled (`frontend.tracing`). */
  span: RequestSpan | undefined = undefined
  /** All is over but logs, metrics and spans: from now on expressions do not see credentials of the gateway. */
  isOver = false
  /** `performance.now()` of the end of the response; set with `isOver`. */
  endMs: number | undefined = undefined
  /** Beginnings of bodies that went by, where an expression reads them. */
  bodies: BodyCopies | undefined = undefined
  /** See log/request-id.ts. */
  requestId: string | undefined = undefined

  constructor(connection: Connection, request: HttpRequest, startMs: number) {
    this.connection = connection
    this.request = request
    this.startMs = startMs
  }

  get isGrpc(): boolean {
    const type = this.request.headers.get('content-type')
    return (
      type !== undefined &&
      (type === 'application/grpc' || type.startsWith('application/grpc+') || type.startsWith('application/grpc;'))
    )
  }

  /** Ends the request with a failure of the registry. Of `detail` the client gets what is meant for it. */
  fail(code: FailureCode, detail?: Detail): HttpResponse {
    // What fails from then on fails because time is up.
    if (this.deadline?.hasPassed === true && code !== 'requestTimeout') return this.fail('requestTimeout')
    this.reason = FAILURES[code].reason
    this.failure = code
    this.errorDetail = detail === undefined ? FAILURES[code].text : logOf(detail)
    const response = failureResponse(code, this.isGrpc, typeof detail === 'object' ? detail.client : undefined)
    this.response = response
    return response
  }

  /** The response has begun and will not be finished; its head is what the client got. */
  breakOff(code: FailureCode): void {
    this.reason = FAILURES[code].reason
    this.failure = code
    this.errorDetail = `${FAILURES[code].text}: the response was cut short`
  }

  /** As `fail`, with a detail the client may see: it is about the client's own message, or in words of the proxy. */
  failVisibly(code: FailureCode, detail: string): HttpResponse {
    return this.fail(code, shown(detail))
  }

  queueResponseHeader(name: string, value: string): void {
    ;(this.queuedResponseHeaders ??= []).push(name, value)
  }
}
