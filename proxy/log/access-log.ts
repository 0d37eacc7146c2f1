// One line for every request when its response is over: fields, order and formats of the data-plane supplement,
// section 6.3. Does not decide where lines go; never prints header values.
import type { Exchange, ExchangePlace, LlmFacts, McpFacts } from '../exchange.ts'
import type { LineBuilder } from './line-builder.ts'
import { createLineBuilder } from './line-builder.ts'
import type { LogFormat } from './logger.ts'
import { microsAt, nowMicros } from './timestamp.ts'

export interface AddedField {
  readonly name: string
  /** undefined: the expression failed or gave nothing; the field is left out. Must not throw. */
  readonly value: (exchange: Exchange) => unknown
}

/** The compiled `frontend.accessLog` policy of a place. Make it with `accessLogRule`. */
export interface AccessLogRule {
  /** Logs only when true. Must not throw. */
  readonly filter: ((exchange: Exchange) => boolean) | undefined
  readonly dropped: ReadonlySet<string> | undefined
  readonly added: readonly AddedField[]
}

export interface RefusedRequest {
  readonly sourceAddress: string
  readonly sourcePort: number
  readonly status: number
  readonly detail: string
}

export interface AccessLog {
  /** `endMs`: `performance.now()` of the end of the response, when the caller knows it. */
  log(exchange: Exchange, rule?: AccessLogRule, endMs?: number): void
  /** A connection whose bytes were passed on: as `log`, without what only requests have. */
  connection(exchange: Exchange, rule?: AccessLogRule, endMs?: number): void
  /** A request the engine refused before there was an exchange. */
  refused(info: RefusedRequest): void
}

/** Removed names and names that are also added are dropped; added fields come last, in their order. */
export function accessLogRule(policy: {
  filter: ((exchange: Exchange) => boolean) | undefined
  remove: readonly string[]
  add: readonly AddedField[]
}): AccessLogRule {
  const dropped = new Set([...policy.remove, ...policy.add.map((field) => field.name)])
  return { filter: policy.filter, dropped: dropped.size === 0 ? undefined : dropped, added: policy.add }
}

export interface AccessLogOptions {
  readonly format: LogFormat
  readonly write: (line: string) => void
  /** Adds `connection.id`: wanted at level debug only. */
  readonly isVerbose?: () => boolean
}

export function createAccessLog(options: AccessLogOptions): AccessLog {
  const { write, isVerbose = never } = options
  const line = createLineBuilder(options.format)
  /** Fields of a place as text. Places live as long as their configuration. */
  const placeFields = new WeakMap<ExchangePlace, string>()

  function addPlaceOnce(place: ExchangePlace | undefined, dropped: ReadonlySet<string> | undefined): void {
    if (place === undefined) return
    if (dropped !== undefined) {
      addPlace(line, place)
      return
    }
    const known = placeFields.get(place)
    if (known !== undefined) {
      line.raw(known)
      return
    }
    const start = line.length
    addPlace(line, place)
    placeFields.set(place, line.since(start))
  }

  return {
    log(exchange, rule, endMs = performance.now()) {
      if (rule?.filter !== undefined && !rule.filter(exchange)) return
      line.begin(microsAt(endMs), rule?.dropped)
      if (isVerbose()) line.number('connection.id', exchange.connection.id)
      addPlaceOnce(exchange.place, rule?.dropped)
      addHttp(line, exchange)
      addOutcome(line, exchange, endMs - exchange.startMs)
      if (rule !== undefined) for (const field of rule.added) line.added(field.name, field.value(exchange))
      write(line.end())
    },
    connection(exchange, rule, endMs = performance.now()) {
      if (rule?.filter !== undefined && !rule.filter(exchange)) return
      line.begin(microsAt(endMs), rule?.dropped)
      if (isVerbose()) line.number('connection.id', exchange.connection.id)
      addPlaceOnce(exchange.place, rule?.dropped)
      addSource(line, exchange)
      line.text('tls.sni', exchange.connection.sni)
      addOutcome(line, exchange, endMs - exchange.startMs)
      if (rule !== undefined) for (const field of rule.added) line.added(field.name, field.value(exchange))
      write(line.end())
    },
    refused(info) {
      line.begin(nowMicros(), undefined)
      line.plain('src.addr', socketAddress(info.sourceAddress, info.sourcePort))
      line.number('http.status', info.status)
      line.quoted('error', info.detail)
      line.plain('reason', 'InvalidRequest')
      write(line.end())
    },
  }
}

function never(): boolean {
  return false
}

function addPlace(line: LineBuilder, place: ExchangePlace): void {
  line.plain('gateway', `${place.gatewayNamespace}/${place.gatewayName}`)
  line.plain('listener', place.listener)
  line.plain('route_rule', place.routeRule)
  if (place.routeName !== undefined) line.plain('route', `${place.routeNamespace ?? ''}/${place.routeName}`)
}

function addHttp(line: LineBuilder, exchange: Exchange): void {
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

function addSource(line: LineBuilder, { endpoint, connection }: Exchange): void {
  line.text('endpoint', endpoint)
  line.plain('src.addr', socketAddress(connection.sourceAddress, connection.sourcePort))
  if (connection.peer !== undefined) line.text('src.identity', connection.peer.spiffeId ?? connection.peer.subject)
}

function addOutcome(line: LineBuilder, exchange: Exchange, durationMs: number): void {
  if (exchange.attributes !== undefined) line.text('jwt.sub', subjectOf(exchange.attributes['jwt']))
  line.plain('protocol', exchange.backendProtocol)
  if (exchange.mcp !== undefined) addMcp(line, exchange.mcp)
  if (exchange.llm !== undefined) addLlm(line, exchange.llm, durationMs)
  if (exchange.retryAttempt > 0) line.number('retry.attempt', exchange.retryAttempt)
  line.quoted('error', exchange.errorDetail)
  if (exchange.reason !== 'Upstream') line.plain('reason', exchange.reason)
  line.plain('duration', `${Math.floor(durationMs)}ms`)
}

/** Claims are what the client's token says: `sub` may be anything. */
function subjectOf(claims: unknown): string | undefined {
  if (typeof claims !== 'object' || claims === null || !('sub' in claims)) return undefined
  return typeof claims.sub === 'string' ? claims.sub : undefined
}

function addMcp(line: LineBuilder, mcp: McpFacts): void {
  line.text('mcp.method.name', mcp.methodName)
  line.text('mcp.target', mcp.target)
  line.plain('mcp.resource.type', mcp.kind)
  if (mcp.kind === 'resource') line.text('mcp.resource.uri', mcp.name)
  else if (mcp.kind === 'tool') line.text('gen_ai.tool.name', mcp.name)
  else if (mcp.kind === 'prompt') line.text('gen_ai.prompt.name', mcp.name)
  line.text('mcp.session.id', mcp.sessionId)
  line.number('mcp.error.code', mcp.errorCode)
  line.quoted('mcp.error.message', mcp.errorMessage)
}

function addLlm(line: LineBuilder, llm: LlmFacts, durationMs: number): void {
  line.plain('gen_ai.operation.name', 'chat')
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
}

/** Mean pause between output tokens after the first one; undefined unless it was streamed and has two tokens. */
export function millisPerOutputToken(llm: LlmFacts, durationMs: number): number | undefined {
  const { outputTokens, timeToFirstTokenMs } = llm
  if (outputTokens === undefined || timeToFirstTokenMs === undefined || outputTokens < 2) return undefined
  return Math.max(0, durationMs - timeToFirstTokenMs) / (outputTokens - 1)
}

function seconds(millis: number | undefined): string | undefined {
  return millis === undefined ? undefined : (millis / 1000).toFixed(6)
}

function socketAddress(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
}
