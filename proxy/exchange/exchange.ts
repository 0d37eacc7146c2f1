// One request and its response on the way through the proxy: the only object that filters, backends, logs and metrics
// share. slots.ts declares the data of features.
import { EVALUATION_STEPS_MAX } from '#api/cel/engine/frame.ts'
import type { CelVariables } from '#api/cel/expression.ts'
import { HttpResponse, type HttpRequest } from '../message/message.ts'
import type { ConnectionOrigin } from '../socket/connection-origin.ts'
import type { PeerCertificate } from '../socket/peer.ts'
import { type Detail, logOf, shown } from './diagnosis.ts'
import { FAILURES, type FailureCode } from './errors.ts'
import type { Reason } from './reason.ts'
import type { A2aFacts, BackendType, ExchangePlace, LlmFacts, McpFacts, RateLimitState } from './facts.ts'
import { failureResponse } from './failure-response.ts'
import type { RequestSpan } from './request-span.ts'
import type { RequestTrace } from './request-trace.ts'
import type {
  CardRequest,
  DeadlineKeeper,
  DenyGuard,
  EndpointRecord,
  FailureBody,
  FlowState,
  HealthRule,
  ParsedBody,
  PickedPlaces,
  RecordedBodies,
  ReplaySource,
  RetryRule,
  SentCredential,
  TokenLimit,
  UpstreamCallHandle,
  UsedEndpoint,
} from './slots.ts'

/** The client's connection. Filled by the engine; `close` closes it after the current response. */
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
  /** Set if the source above is not the address of the socket: it comes from a PROXY header or a tunnel. */
  readonly origin?: ConnectionOrigin | undefined
  /** Aborted when the client closes the connection. Created on first use. */
  readonly signal: AbortSignal
  close(): void
  /**
   * Ends this exchange at its deadline. The rest of its response is not sent: the client sees a truncated message, and
   * the exchange fails with `code`. Returns false if the response has not started.
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
  /** The current upstream call, aborted when the client closes the connection. */
  upstreamCall: UpstreamCallHandle | undefined = undefined

  // --- the response, from any source ---

  /** Set by a filter, a backend or a failure. Response filters may replace parts of it. */
  response: HttpResponse | undefined = undefined
  reason: Reason = 'Upstream'
  /** Why the response is a failure of the proxy itself. */
  failure: FailureCode | undefined = undefined
  /** The form of failures since the route was selected; undefined: text. */
  failureBody: FailureBody | undefined = undefined
  /** Diagnostic text for the log. */
  errorDetail: string | undefined = undefined
  /** Header fields that are merged into every response; they replace fields of the same name. */
  queuedResponseHeaders: string[] | undefined = undefined

  // --- the route: the pipeline and the policies of the route ---

  place: ExchangePlace | undefined = undefined
  /** The current step of the pipeline. */
  flow: FlowState | undefined = undefined
  /** Path of the match that selected the route: replaced by prefix rewrites. */
  matchedPrefix: string | undefined = undefined
  backendName: string | undefined = undefined
  /** `http`, `tcp`, `a2a`, `mcp`, `llm`. */
  backendProtocol: string | undefined = undefined
  backendType: BackendType | undefined = undefined
  /** Absolute `performance.now()` deadline, from the merged timeout policy: it limits every wait for a peer. */
  deadlineMs: number | undefined = undefined
  /** Enforces the deadline where no code waits: for bodies. */
  deadline: DeadlineKeeper | undefined = undefined
  /** Set by the policy for requests that may be retried. */
  retry: RetryRule | undefined = undefined
  /** The request in a form that can be sent again; undefined: it cannot. */
  replay: ReplaySource<Exchange> | undefined = undefined

  // --- one try: the backend and its endpoint ---

  /** 0: the first try. */
  retryAttempt = 0
  backendRequestTimeoutMs: number | undefined = undefined
  /** A rewrite or policy set the upstream Host; automatic host rewrite does not change it. */
  hasExplicitHost = false
  /** undefined: depends on the kind of backend. */
  hostRewriteMode: 'Auto' | 'None' | undefined = undefined
  /** The selection of an endpoint picker; undefined: no picker was called. */
  picked: PickedPlaces | undefined = undefined
  /** `host:port` of the endpoint that was used. */
  endpoint: string | undefined = undefined
  /** Settled by the pipeline at the end of the response or of the try. */
  usedEndpoint: UsedEndpoint | undefined = undefined
  /** Health policy of `usedEndpoint`. */
  health: HealthRule | undefined = undefined
  /** The call failed in a way that allows another endpoint; see backend/failover.ts. */
  isMovable = false
  /** Endpoints that failed in this way during this try. */
  failedEndpoints: EndpointRecord[] | undefined = undefined
  /** undefined: the credential of this try, if it has one, was not fetched. */
  credential: SentCredential | undefined = undefined
  /** A backend refused a credential, and the request is sent again with another one. Once for a request. */
  isCredentialRenewed = false
  /** The receiver of the backend's response; only the handler uses it. */
  backendDone: ((exchange: Exchange) => void) | undefined = undefined
  /** Status that the backend returned; 0: no response. Response filters may change the status of the response. */
  upstreamStatus = 0
  /** `performance.now()` marks for `proxy.*Duration` and processing metrics. */
  upstreamStartMs: number | undefined = undefined
  upstreamHeadMs: number | undefined = undefined

  // --- observation: trace, span, log, metrics ---

  /** Set while a watcher traces this request (`/debug/trace`). */
  trace: RequestTrace<Exchange> | undefined = undefined
  /** Set when the request is sampled (`frontend.tracing`). */
  span: RequestSpan<Exchange> | undefined = undefined
  /** See log/request-id.ts. */
  requestId: string | undefined = undefined
  /** Copies of the start of bodies, if an expression reads them. */
  bodies: RecordedBodies | undefined = undefined
  /** Only logs, metrics and spans remain: from now on, expressions do not see credentials of the gateway. */
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
  /** Remaining budget of this request for expressions; see cel/budget.ts. */
  celStepsLeft = EVALUATION_STEPS_MAX
  /** Set during the evaluation of a Deny rule, which must not allow a body that it cannot read. */
  denyGuard: DenyGuard | undefined = undefined
  /** The limit closest to its end, for the x-ratelimit headers. */
  rateLimit: RateLimitState | undefined = undefined
  /** Values that a policy stored on the request for the response, by compiled policy. */
  policyState: Map<object, unknown> | undefined = undefined
  /** Limits on tokens that were checked before the route's backend was selected. */
  tokenLimits: TokenLimit<Exchange>[] | undefined = undefined
  llm: LlmFacts | undefined = undefined
  /** CEL `llmRequest`: the request JSON while an LLM policy evaluates its expressions. */
  llmRequest: unknown = undefined
  /** The request body, passed from the models of a listener to the backend of a model. */
  parsedBody: ParsedBody | undefined = undefined
  mcp: McpFacts | undefined = undefined
  /** The path of the client, before rewrites, if the request is for an MCP endpoint. */
  mcpPath: string | undefined = undefined
  /** The request comes from a page that may not use this MCP endpoint; see mcp/access.ts. */
  hasForeignOrigin = false
  a2a: A2aFacts | undefined = undefined
  /** Set if the request is for an agent's card. */
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

  /** Ends the request with a failure of the registry. The client gets only the client part of `detail`. */
  fail(code: FailureCode, detail?: Detail): HttpResponse {
    // After the deadline, all later failures are caused by it.
    if (this.deadline?.hasPassed === true && code !== 'requestTimeout') return this.fail('requestTimeout')
    this.reason = FAILURES[code].reason
    this.failure = code
    this.errorDetail = detail === undefined ? FAILURES[code].text : logOf(detail)
    const response = failureResponse(code, {
      isGrpc: this.isGrpc,
      clientDetail: typeof detail === 'object' ? detail.client : undefined,
      bodyOf: (failure) => this.failureBody?.(failure, this.request),
    })
    this.response = response
    return response
  }

  /** The response has started and will not be finished; the client has got its head. */
  breakOff(code: FailureCode): void {
    this.reason = FAILURES[code].reason
    this.failure = code
    this.errorDetail = `${FAILURES[code].text}: the response was cut short`
  }

  /** Before a retry: removes all data of the previous response. */
  forgetAnswer(): void {
    this.response = undefined
    this.reason = 'Upstream'
    this.failure = undefined
    this.errorDetail = undefined
    this.upstreamHeadMs = undefined
  }

  /** Like `fail`, with a detail that the client may see: about the client's own message, or in words of the proxy. */
  failVisibly(code: FailureCode, detail: string): HttpResponse {
    return this.fail(code, shown(detail))
  }

  queueResponseHeader(name: string, value: string): void {
    ;(this.queuedResponseHeaders ??= []).push(name, value)
  }
}
