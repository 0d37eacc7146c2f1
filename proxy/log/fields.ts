// The fields of one entry about a request, in the order of the data-plane supplement, section 6.3: the same for the
// access log, its export and spans. Never contains header values.
import { attributeFields } from '#api/cel/values/flattened.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type {
  A2aFacts,
  ExchangePlace,
  LlmCost,
  LlmFacts,
  LlmParams,
  LlmTokenKinds,
  LlmTranscription,
  McpFacts,
} from '../exchange/facts.ts'

/** Receives fields in their order; undefined values are left out. */
export interface FieldSink {
  /** A value with plain characters only (names checked by a schema, numbers as text). */
  plain(name: string, value: string | undefined): void
  /** A value from a peer. */
  text(name: string, value: string | undefined): void
  /** A value of the quoted type. */
  quoted(name: string, value: string | undefined): void
  number(name: string, value: number | undefined): void
  /** An added field of any type; null is left out as well. Never dropped. */
  added(name: string, value: unknown): void
}

export interface AddedField {
  readonly name: string
  /** undefined: the expression failed or has no result; the field is left out. Must not throw. */
  readonly value: (exchange: Exchange) => unknown
}

/** The changes of a policy to the fields. Created by `fieldRule`. */
export interface FieldRule {
  /** Selects the request only if true. Must not throw. */
  readonly filter: ((exchange: Exchange) => boolean) | undefined
  readonly dropped: ReadonlySet<string> | undefined
  readonly added: readonly AddedField[]
}

/** Removed names and names that are also added are dropped; added fields come last, in their order. */
export function fieldRule(policy: {
  filter: ((exchange: Exchange) => boolean) | undefined
  remove: readonly string[]
  add: readonly AddedField[]
}): FieldRule {
  const dropped = new Set([...policy.remove, ...policy.add.map((field) => field.name)])
  return { filter: policy.filter, dropped: dropped.size === 0 ? undefined : dropped, added: policy.add }
}

/** Flattened values become one field for each entry. */
export function addFields(sink: FieldSink, { added }: FieldRule, exchange: Exchange): void {
  for (const { name, value } of added) {
    for (const [field, own] of attributeFields(name, value(exchange))) sink.added(field, own)
  }
}

export function addPlace(line: FieldSink, place: ExchangePlace): void {
  line.plain('gateway', `${place.gatewayNamespace}/${place.gatewayName}`)
  line.plain('listener', place.listener)
  line.plain('route_rule', place.routeRule)
  if (place.routeName !== undefined) line.plain('route', `${place.routeNamespace ?? ''}/${place.routeName}`)
}

export function addHttp(line: FieldSink, exchange: Exchange): void {
  const { request, response } = exchange
  addSource(line, exchange)
  line.text('http.method', request.method)
  line.text('http.host', request.host)
  const query = request.loggedQuery ?? request.query
  line.text('http.path', query === '' ? request.path : `${request.path}?${query}`)
  line.plain('http.version', request.version)
  if (response === undefined) return
  line.number('http.status', response.status)
  if (exchange.isGrpc) line.text('grpc.status', response.grpcStatus)
}

export function addSource(line: FieldSink, { endpoint, connection }: Exchange): void {
  line.text('endpoint', endpoint)
  line.plain('src.addr', socketAddress(connection.sourceAddress, connection.sourcePort))
  if (connection.peer !== undefined) line.text('src.identity', connection.peer.spiffeId ?? connection.peer.subject)
}

export function addOutcome(line: FieldSink, exchange: Exchange, durationMs: number): void {
  if (exchange.span !== undefined) {
    line.plain('trace.id', exchange.span.traceId)
    line.plain('span.id', exchange.span.spanId)
  }
  if (exchange.attributes !== undefined) line.text('jwt.sub', subjectOf(exchange.attributes['jwt']))
  line.plain('protocol', exchange.backendProtocol)
  if (exchange.a2a !== undefined) addA2a(line, exchange.a2a)
  if (exchange.mcp !== undefined) addMcp(line, exchange.mcp)
  if (exchange.picked !== undefined) line.plain('inferencepool.selected_endpoint', exchange.picked.selected)
  if (exchange.llm !== undefined) addLlm(line, exchange.llm, durationMs)
  if (exchange.retryAttempt > 0) line.number('retry.attempt', exchange.retryAttempt)
  line.quoted('error', shortened(exchange.errorDetail))
  if (exchange.reason !== 'Upstream') line.plain('reason', exchange.reason)
  line.plain('duration', `${Math.floor(durationMs)}ms`)
}

/** Characters of a text from a client or a server: a message of an MCP server may have 32 MiB. */
const TEXT_CHARACTERS_MAX = 2048

function shortened(text: string | undefined): string | undefined {
  return text === undefined || text.length <= TEXT_CHARACTERS_MAX ? text : `${text.slice(0, TEXT_CHARACTERS_MAX)}…`
}

/** Claims come from the client's token: `sub` may be any value. */
function subjectOf(claims: unknown): string | undefined {
  if (typeof claims !== 'object' || claims === null || !('sub' in claims)) return undefined
  return typeof claims.sub === 'string' ? claims.sub : undefined
}

function addA2a(line: FieldSink, a2a: A2aFacts): void {
  line.text('a2a.method', shortened(a2a.method))
  line.plain('a2a.response.outcome', a2a.outcome)
  line.number('a2a.response.error_code', a2a.errorCode)
  line.text('a2a.result.kind', shortened(a2a.resultKind))
  line.text('a2a.task.state', shortened(a2a.taskState))
  line.text('a2a.context.id', shortened(a2a.contextId))
}

function addMcp(line: FieldSink, mcp: McpFacts): void {
  line.text('mcp.method.name', shortened(mcp.methodName))
  line.text('mcp.target', mcp.target)
  line.plain('mcp.resource.type', mcp.kind)
  if (mcp.kind === 'resource') line.text('mcp.resource.uri', shortened(mcp.name))
  else if (mcp.kind === 'tool') line.text('gen_ai.tool.name', shortened(mcp.name))
  else if (mcp.kind === 'prompt') line.text('gen_ai.prompt.name', shortened(mcp.name))
  line.text('mcp.session.id', mcp.sessionId)
  line.number('mcp.error.code', mcp.errorCode)
  line.quoted('mcp.error.message', shortened(mcp.errorMessage))
  line.quoted('gw.mcp.guardrails', guardText(mcp.guards))
}

function addLlm(line: FieldSink, llm: LlmFacts, durationMs: number): void {
  line.plain('gen_ai.operation.name', llm.operation)
  line.text('gen_ai.provider.name', llm.provider)
  line.text('gen_ai.request.model', llm.requestModel)
  line.text('gen_ai.response.model', llm.responseModel)
  line.number('gen_ai.usage.input_tokens', llm.inputTokens)
  line.number('gen_ai.usage.cache_creation.input_tokens', llm.cacheCreationInputTokens)
  line.number('gen_ai.usage.cache_read.input_tokens', llm.cachedInputTokens)
  line.number('gen_ai.usage.output_tokens', llm.outputTokens)
  line.number('gen_ai.usage.reasoning_tokens', llm.reasoningTokens)
  line.plain('gw.ai.time_to_first_token', seconds(llm.timeToFirstTokenMs))
  line.plain('gw.ai.time_per_output_token', seconds(millisPerOutputToken(llm, durationMs)))
  line.number('gw.ai.usage.cost.total', costOf(llm)?.usd?.total)
  if (llm.kinds !== undefined) addTokenKinds(line, llm.kinds)
  if (llm.transcription !== undefined) addTranscription(line, llm.transcription)
  if (llm.params !== undefined) addParams(line, llm.params)
  line.quoted('gw.ai.dropped_fields', llm.droppedFields)
  line.quoted('gw.ai.failed_providers', llm.failedProviders)
  line.quoted('gw.ai.guards', guardText(llm.guards))
}

/** By kind of tokens, in USD; after `addOutcome`, which has the total. */
export function addCostParts(line: FieldSink, llm: LlmFacts): void {
  const usd = costOf(llm)?.usd
  line.number('gw.ai.usage.cost.input', usd?.input)
  line.number('gw.ai.usage.cost.output', usd?.output)
  line.number('gw.ai.usage.cost.cache_read', usd?.cacheRead)
  line.number('gw.ai.usage.cost.cache_write', usd?.cacheWrite)
  line.number('gw.ai.usage.cost.reasoning', usd?.reasoning)
  line.number('gw.ai.usage.cost.input_audio', usd?.inputAudio)
  line.number('gw.ai.usage.cost.output_audio', usd?.outputAudio)
}

/** With transcriptions. undefined: the call is not priced, or its tokens are unknown. */
export function costOf(llm: LlmFacts): LlmCost | undefined {
  return llm.pricing?.totalOf(llm)
}

/** All results but `Allow`, such as `Request regex Mask (Email)`. */
function guardText(checks: LlmFacts['guards']): string | undefined {
  const results = checks?.filter(({ action }) => action !== 'Allow') ?? []
  if (results.length === 0) return undefined
  return results
    .map(({ phase, guard, action, matched }) => {
      const names = matched.size === 0 ? '' : ` (${[...matched].join(' ')})`
      return `${phase} ${guard} ${action}${names}`
    })
    .join(', ')
}

function addTokenKinds(line: FieldSink, { outputImage, inputAudio, outputAudio }: LlmTokenKinds): void {
  line.number('gen_ai.usage.output_image_tokens', outputImage)
  line.number('gen_ai.usage.input_audio_tokens', inputAudio)
  line.number('gen_ai.usage.output_audio_tokens', outputAudio)
}

function addTranscription(line: FieldSink, { facts, seconds: duration }: LlmTranscription): void {
  line.text('gw.ai.transcription.model', facts.requestModel)
  line.number('gw.ai.transcription.input_tokens', facts.inputTokens)
  line.number('gw.ai.transcription.output_tokens', facts.outputTokens)
  line.number('gw.ai.transcription.seconds', duration)
}

function addParams(line: FieldSink, params: LlmParams): void {
  line.number('gen_ai.request.temperature', params.temperature)
  line.number('gen_ai.embeddings.dimension.count', params.dimensions)
  line.text('gen_ai.request.encoding_formats', params.encoding_format)
  line.number('gen_ai.request.top_p', params.top_p)
  line.number('gen_ai.request.max_tokens', params.max_tokens)
  line.number('gen_ai.request.frequency_penalty', params.frequency_penalty)
  line.number('gen_ai.request.presence_penalty', params.presence_penalty)
  line.number('gen_ai.request.seed', params.seed)
}

/** Mean pause between output tokens after the first; undefined unless the response was streamed and has two tokens. */
export function millisPerOutputToken(llm: LlmFacts, durationMs: number): number | undefined {
  const { outputTokens, timeToFirstTokenMs } = llm
  if (outputTokens === undefined || timeToFirstTokenMs === undefined || outputTokens < 2) return undefined
  return Math.max(0, durationMs - timeToFirstTokenMs) / (outputTokens - 1)
}

function seconds(millis: number | undefined): string | undefined {
  return millis === undefined ? undefined : (millis / 1000).toFixed(6)
}

export function socketAddress(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
}
