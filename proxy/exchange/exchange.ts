// One request and its response on the way through the proxy: the only thing that filters, backends, logs and metrics
// share. What features keep here is declared in slots.ts.
import { EVALUATION_STEPS_MAX } from '#api/cel/engine/frame.ts'
import type { CelVariables } from '#api/cel/expression.ts'
import { HttpResponse, type HttpRequest } from '../message/message.ts'
import type { ConnectionOrigin } from '../socket/connection-origin.ts'
import type { PeerCertificate } from '../socket/peer.ts'
import { type Detail, logOf, shown } from './diagnosis.ts'
import { FAILURES, type FailureCode, type Reason } from './errors.ts'
import type { A2aFacts, BackendType, ExchangePlace, LlmFacts, McpFacts, RateLimitState } from './facts.ts'
import { failureResponse } from './failure-response.ts'
import type { RequestSpan } from './request-span.ts'
import type { RequestTrace } from './request-trace.ts'
import type {
  CardRequest,
  DeadlineKeeper,
  DenyGuard,
  EndpointRecord,
  FlowState,
  HealthRule,
  ParsedBody,
  PickedPlaces,
  RecordedBodies,
  ReplaySource,
  RetryRule,
  UpstreamCallHandle,
  UsedEndpoint,
} from './slots.ts'

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

export class Exchange {
  // --- the connection and the engine that owns it ---

  readonly connection: Connection
  readonly request: HttpRequest
  /** `performance.now()` when the request head was complete. */
  readonly startMs: number
  /** Bytes of body sent to the client. */
  responseBytes = 0
  /** The running upstream call, aborted when the client leaves. */
  upstreamCall: UpstreamCallHandle | undefined = undefined

  // --- the answer, whoever gives it ---

  /** Set by a filter, a backend or a failure. Response filters may replace parts of it. */
  response: HttpResponse | undefined = undefined
  reason: Reason = 'Upstream'
  /** Why the response is a failure of the proxy's own. */
  failure: FailureCode | undefined = undefined
  /** Diagnostic text for the log. */
  errorDetail: string | undefined = undefined
  /** Header fields to be merged into whatever response goes out: replaces fields of the same name. */
  queuedResponseHeaders: string[] | undefined = undefined

  // --- the route: the pipeline and the policies of the route ---

  place: ExchangePlace | undefined = undefined
  /** Where the pipeline stands. */
  flow: FlowState | undefined = undefined
  /** Path of the match that selected the route: replaced by prefix rewrites. */
  matchedPrefix: string | undefined = undefined
  backendName: string | undefined = undefined
  /** `http`, `tcp`, `a2a`, `mcp`, `llm`. */
  backendProtocol: string | undefined = undefined
  backendType: BackendType | undefined = undefined
  /** Absolute `performance.now()` deadline, from the merged timeout policy: every wait for a peer keeps it. */
  deadlineMs: number | undefined = undefined
  /** Keeps it where nobody waits: for bodies. */
  deadline: DeadlineKeeper | undefined = undefined
  /** Set by the policy for requests that may be sent again. */
  retry: RetryRule | undefined = undefined
  /** The request as it can be sent again; undefined: it cannot. */
  replay: ReplaySource<Exchange> | undefined = undefined

  // --- one try: the backend and its endpoint ---

  /** 0: the first try. */
  retryAttempt = 0
  backendRequestTimeoutMs: number | undefined = undefined
  /** A rewrite or policy fixed the upstream Host; automatic host rewrite leaves it alone. */
  hasExplicitHost = false
  /** undefined: by kind of backend. */
  hostRewriteMode: 'Auto' | 'None' | undefined = undefined
  /** What an endpoint picker wants; undefined: none was asked. */
  picked: PickedPlaces | undefined = undefined
  /** `host:port` of the endpoint that was used. */
  endpoint: string | undefined = undefined
  /** Settled by the pipeline when the response is over, or the try. */
  usedEndpoint: UsedEndpoint | undefined = undefined
  /** Health policy of `usedEndpoint`. */
  health: HealthRule | undefined = undefined
  /** The call failed in a way that lets another endpoint take it; see backend/failover.ts. */
  isMovable = false
  /** Endpoints that failed in that way, in this try. */
  failedEndpoints: EndpointRecord[] | undefined = undefined
  /** Who waits for the backend's answer; nobody but the handler touches it. */
  backendDone: ((exchange: Exchange) => void) | undefined = undefined
  /** Status as the backend gave it; 0: there was no answer. Response filters may change that of the response. */
  upstreamStatus = 0
  /** `performance.now()` marks for `proxy.*Duration` and processing metrics. */
  upstreamStartMs: number | undefined = undefined
  upstreamHeadMs: number | undefined = undefined

  // --- observation: trace, span, log, metrics ---

  /** Set while somebody watches this request (`/debug/trace`). */
  trace: RequestTrace<Exchange> | undefined = undefined
  /** Set when the request is sampled (`frontend.tracing`). */
  span: RequestSpan<Exchange> | undefined = undefined
  /** See log/request-id.ts. */
  requestId: string | undefined = undefined
  /** Beginnings of bodies that went by, where an expression reads them. */
  bodies: RecordedBodies | undefined = undefined
  /** All is over but logs, metrics and spans: from now on expressions do not see credentials of the gateway. */
  isOver = false
  /** `performance.now()` of the end of the response; set with `isOver`. */
  endMs: number | undefined = undefined

  // --- features: policies, expressions, kinds of backends ---

  /** CEL `metadata`, set by transformations. */
  metadata: Record<string, unknown> | undefined = undefined
  /** Variables that policies set: `jwt`, `apiKey`, `basicAuth`, `extauthz`, `extproc`. Null-prototype. */
  attributes: Record<string, unknown> | undefined = undefined
  /** Made by cel/variables.ts when the first expression runs. */
  variables: CelVariables | undefined = undefined
  /** What expressions of this request may still cost; see cel/budget.ts. */
  celStepsLeft = EVALUATION_STEPS_MAX
  /** Set while a Deny rule is evaluated, which must not pass a body that it cannot read. */
  denyGuard: DenyGuard | undefined = undefined
  /** The limit closest to its end, for the x-ratelimit headers. */
  rateLimit: RateLimitState | undefined = undefined
  /** What a policy chose on the request and needs on the response, by compiled policy. */
  policyState: Map<object, unknown> | undefined = undefined
  llm: LlmFacts | undefined = undefined
  /** CEL `llmRequest`: the request JSON while an LLM policy evaluates its expressions. */
  llmRequest: unknown = undefined
  /** The request body, handed from the models of a listener to the backend of one. */
  parsedBody: ParsedBody | undefined = undefined
  mcp: McpFacts | undefined = undefined
  /** Sent by a page that may not use this MCP endpoint; see mcp/access.ts. */
  hasForeignOrigin = false
  a2a: A2aFacts | undefined = undefined
  /** Set where an agent's card is asked for. */
  cardRequest: CardRequest | undefined = undefined

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

  /** For another try: of the answer to the one before nothing is left. */
  forgetAnswer(): void {
    this.response = undefined
    this.reason = 'Upstream'
    this.failure = undefined
    this.errorDetail = undefined
    this.upstreamHeadMs = undefined
  }

  /** As `fail`, with a detail the client may see: it is about the client's own message, or in words of the proxy. */
  failVisibly(code: FailureCode, detail: string): HttpResponse {
    return this.fail(code, shown(detail))
  }

  queueResponseHeader(name: string, value: string): void {
    ;(this.queuedResponseHeaders ??= []).push(name, value)
  }
}
