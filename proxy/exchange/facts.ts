// Facts of features about a request and its response, for expressions, logs, metrics and spans. Data only.

/** The backend that answers: names for logs, metrics and CEL. Filled by the pipeline. */
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

/** The kind of backend in the merged configuration. CEL `backend.type`. */
export type BackendType = 'ai' | 'mcp' | 'static' | 'dynamic' | 'service' | 'unknown'

/** Tokens by kind of content. */
export interface LlmTokenKinds {
  inputText: number | undefined
  inputImage: number | undefined
  inputAudio: number | undefined
  outputText: number | undefined
  outputImage: number | undefined
  outputAudio: number | undefined
}

/** Parameters of the request to the model, as sent; only those that are set. Names of CEL `llm.params`. */
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

/** By kind of tokens; absent: the catalog has no price for it. Names of CEL `llm.cost`. */
export interface LlmAmounts {
  readonly input?: number
  readonly output?: number
  readonly cacheRead?: number
  readonly cacheWrite?: number
  readonly reasoning?: number
  readonly inputAudio?: number
  readonly outputAudio?: number
}

/** Whether the model catalog has the price of a call. */
export type CostStatus = 'Exact' | 'Missing' | 'Unpriced' | 'NoCatalog'

/** The cost of a call by the model catalog (data-plane supplement section 3.5). */
export interface LlmCost {
  readonly status: CostStatus
  /** USD; undefined unless `Exact`. */
  readonly usd: (LlmAmounts & { readonly total: number }) | undefined
  /** The rates of the call, in USD per million tokens; undefined unless `Exact`. */
  readonly rates: LlmAmounts | undefined
}

/** The model catalog at the start of a call. */
export interface LlmPricing {
  /** By the facts so far, without transcriptions; undefined: the tokens are unknown. */
  costOf(facts: LlmFacts): LlmCost | undefined
  /** With transcriptions, by the rates of their model. Status and rates are those of the answers, if they have any. */
  totalOf(facts: LlmFacts): LlmCost | undefined
}

/** Names of the label `action` of gw_guardrail_checks_total. */
export type GuardAction = 'Allow' | 'Mask' | 'Reject' | 'FailOpen' | 'FailClosed'

/** The checks of prompt guards of one kind, or of guardrails of MCP, with one result. */
export interface GuardChecks {
  readonly phase: 'Request' | 'Response'
  /** Kind of the guard, such as `regex`; `mcp` for guardrails of MCP. */
  readonly guard: string
  readonly action: GuardAction
  count: number
  /** Names of the patterns or categories that matched; never their text. */
  readonly matched: Set<string>
}

/**
 * The tokens of a call, with one meaning for all providers: cost, limits, metrics, logs and the usage for the client
 * read only these. undefined: not reported so far.
 */
export interface LlmUsage {
  /** With cache reads and writes, and audio. */
  inputTokens: number | undefined
  cachedInputTokens: number | undefined
  cacheCreationInputTokens: number | undefined
  /** With reasoning and audio. */
  outputTokens: number | undefined
  reasoningTokens: number | undefined
  totalTokens: number | undefined
  /** The count of the provider: without cache reads and writes if the provider excludes them. */
  providerInputTokens: number | undefined
  providerTotalTokens: number | undefined
  /** By kind of content, if the provider reports it. */
  kinds: LlmTokenKinds | undefined
}

/** One message of a prompt. Names of CEL `llm.prompt`. */
export interface LlmMessage {
  readonly role: string
  readonly content: string
}

/** Names of CEL `llm.toolCalls`. */
export interface LlmToolCall {
  readonly id: string
  readonly name: string
  /** JSON text. */
  readonly arguments: string
}

/** The texts of an answer; during a stream, those so far. */
export interface LlmAnswer {
  readonly completion: readonly string[]
  readonly toolCalls: readonly LlmToolCall[]
}

/** Facts of an LLM backend; all optional, filled as they become known (CEL `llm.*`, access log, GenAI metrics). */
export interface LlmFacts extends LlmUsage {
  /** `embeddings` for requests in that format. */
  operation: 'chat' | 'embeddings'
  isStreaming: boolean
  /** OpenTelemetry GenAI provider name: `openai`, `anthropic`, … */
  provider: string
  requestModel: string | undefined
  responseModel: string | undefined
  serviceTier: string | undefined
  params: LlmParams | undefined
  /** Paths of the fields of the request that its translation dropped, for the log. */
  droppedFields?: string
  /** The providers that failed before this one, with the outcome of each, for the log. */
  failedProviders?: string | undefined
  /** Milliseconds from request start to the first content chunk. */
  timeToFirstTokenMs: number | undefined
  /** The prompt, counted before the call; absent: the provider has no `tokenize`, or the request has no prompt. */
  promptTokens?: number | undefined
  /** The answer to a request that counts tokens. */
  countTokens?: number | undefined
  /** Absent: no expression reads it. For expressions alone. */
  prompt?: readonly LlmMessage[]
  /** Absent: no expression reads it. For expressions alone. */
  answer?: LlmAnswer
  /** Absent: no guard has checked a text. */
  guards?: GuardChecks[]
  /** Absent: the call is not priced. */
  pricing?: LlmPricing
  /** Absent: the provider has reported neither a transcription nor a model for it. */
  transcription?: LlmTranscription
}

/** Transcriptions of what the user of a Realtime session says: another model makes and bills them. */
export interface LlmTranscription {
  /** Usage and model. */
  readonly facts: LlmFacts
  /** Of models that bill time; undefined: the model bills tokens. */
  seconds: number | undefined
}

/** What happened to a session with an MCP server. */
export type McpSessionEvent = 'reopened' | 'expired'

/** Facts of an MCP request (CEL `mcp.*`, access log, metrics). */
export interface McpFacts {
  methodName: string | undefined
  sessionId: string | undefined
  kind: 'tool' | 'prompt' | 'resource' | 'task' | undefined
  target: string | undefined
  /** The server's own name of the item, without prefix; the URI of a resource, the id of a task. */
  name: string | undefined
  errorCode: number | undefined
  errorMessage: string | undefined
  /** Messages of servers that were not sent to the client, by target; undefined: no messages. */
  dropped: Map<string, number> | undefined
  /** Tools whose definition is not the known one, by target; absent: no tool. */
  changedTools?: Map<string, number>
  /** Set while rules decide about a request of a server to the client; the name is its method. */
  serverRequest?: { readonly target: string; readonly name: string } | undefined
  /** Arguments of the tool call, after guardrails. For expressions alone. */
  toolArguments?: unknown
  /** The result of the tool call for the client. For expressions alone. */
  toolResult?: unknown
  /** Absent: no guardrail has checked a message. */
  guards?: GuardChecks[]
}

/** Facts of a call of an agent (access log, spans). */
export interface A2aFacts {
  /** JSON-RPC method; `unknown` if absent. */
  method: string
  /** `Unknown`: the request is not one JSON object, or is larger than the buffer. */
  asks: 'Card' | 'Other' | 'Unknown'
  /** undefined: the response is not valid JSON, or is larger than the buffer. */
  outcome: 'success' | 'error' | 'unknown' | undefined
  errorCode: number | undefined
  /** `task` or `message`, or the value that the agent returned. */
  resultKind: string | undefined
  taskState: string | undefined
  contextId: string | undefined
}

/** The values of the x-ratelimit headers. */
export interface RateLimitState {
  readonly limit: number
  readonly remaining: number
  readonly resetSeconds: number
}
