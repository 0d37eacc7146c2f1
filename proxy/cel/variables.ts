// The variables of expressions for one exchange (data-plane supplement section 2.1). Views with getters: values that
// no expression reads are not copied or converted. Integers are bigints, as in the engine.
import type { CelVariables } from '#api/cel/expression.ts'
import { CelDuration } from '#api/cel/values/duration.ts'
import { HeaderView } from '#api/cel/values/header-view.ts'
import { CEL_FIELDS } from '#api/cel/values/host.ts'
import { QueryString } from '#api/cel/values/query-string.ts'
import { CelTimestamp } from '#api/cel/values/timestamp.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { ExchangePlace } from '../exchange/facts.ts'
import type { HttpRequest, HttpResponse } from '../message/message.ts'
import { microsAt } from '../log/timestamp.ts'
import { DestinationView, SourceView } from './connection-views.ts'
import { readBody, readBodyPrefix } from './deny-guard.ts'
import { LlmView, McpView } from './fact-views.ts'

/** Built at most once for each exchange. */
export function variablesOf(exchange: Exchange): CelVariables {
  return (exchange.variables ??= new ExchangeVariables(exchange))
}

const VARIABLES: ReadonlySet<string> = new Set([
  'request',
  'response',
  'proxy',
  'env',
  'source',
  'destination',
  'backend',
  'llm',
  'llmRequest',
  'mcp',
  'metadata',
  'jwt',
  'apiKey',
  'basicAuth',
  'extauthz',
  'extproc',
  'mcpGuardrails',
])

class ExchangeVariables {
  /** The shape of CelVariables; every other name reads as undefined, which means "no such variable". */
  readonly [name: string]: unknown
  readonly #exchange: Exchange
  readonly #request: RequestView
  #response: ResponseView | undefined

  constructor(exchange: Exchange) {
    this.#exchange = exchange
    this.#request = new RequestView(exchange)
  }

  get [CEL_FIELDS](): ReadonlySet<string> {
    return VARIABLES
  }

  get request(): RequestView {
    return this.#request
  }

  /** A filter may replace the response, so a view belongs to one response. */
  get response(): ResponseView | undefined {
    const { response } = this.#exchange
    if (response === undefined) return undefined
    if (this.#response?.isOf(response) !== true) this.#response = new ResponseView(this.#exchange, response)
    return this.#response
  }

  get proxy(): ProxyView {
    return new ProxyView(this.#exchange)
  }

  get env(): Readonly<Record<string, string>> {
    return ENV
  }

  get source(): SourceView {
    return new SourceView(this.#exchange.connection)
  }

  get destination(): DestinationView {
    return new DestinationView(this.#exchange.connection)
  }

  get backend(): BackendView | undefined {
    return this.#exchange.backendName === undefined ? undefined : new BackendView(this.#exchange)
  }

  get llm(): LlmView | undefined {
    const { llm, startMs, endMs } = this.#exchange
    return llm === undefined ? undefined : new LlmView(llm, endMs === undefined ? undefined : endMs - startMs)
  }

  /** Only while an LLM policy evaluates its expressions. */
  get llmRequest(): unknown {
    return this.#exchange.llmRequest
  }

  get mcp(): McpView | undefined {
    const { mcp } = this.#exchange
    return mcp === undefined ? undefined : new McpView(mcp)
  }

  get metadata(): unknown {
    return this.#exchange.metadata
  }

  get jwt(): unknown {
    return this.#exchange.attributes?.['jwt']
  }

  get apiKey(): unknown {
    return this.#exchange.attributes?.['apiKey']
  }

  get basicAuth(): unknown {
    return this.#exchange.attributes?.['basicAuth']
  }

  get extauthz(): unknown {
    return this.#exchange.attributes?.['extauthz']
  }

  get extproc(): unknown {
    return this.#exchange.attributes?.['extproc']
  }

  get mcpGuardrails(): unknown {
    return this.#exchange.attributes?.['mcpGuardrails']
  }
}

const CONNECTION_VARIABLES: ReadonlySet<string> = new Set(['proxy', 'env', 'source', 'destination', 'backend'])

/** For an exchange that stands for a TCP connection: it has no request. */
export function connectionVariables(exchange: Exchange): CelVariables {
  const all = new ExchangeVariables(exchange)
  return {
    get [CEL_FIELDS]() {
      return CONNECTION_VARIABLES
    },
    get proxy() {
      return all.proxy
    },
    get env() {
      return all.env
    },
    get source() {
      return all.source
    },
    get destination() {
      return all.destination
    },
    get backend() {
      return all.backend
    },
  }
}

const REQUEST: ReadonlySet<string> = new Set([
  'method',
  'uri',
  'host',
  'scheme',
  'path',
  'pathAndQuery',
  'version',
  'headers',
  'body',
  'bodyPrefix',
  'startTime',
  'endTime',
])

/** The current request; on the response side, the request as it was sent. */
class RequestView {
  readonly #exchange: Exchange
  readonly #request: HttpRequest

  constructor(exchange: Exchange) {
    this.#exchange = exchange
    this.#request = exchange.request
  }

  get [CEL_FIELDS](): ReadonlySet<string> {
    return REQUEST
  }

  get method(): string {
    return this.#request.method
  }

  get uri(): QueryString {
    const { scheme, host } = this.#request
    return new QueryString(`${scheme}://${host}${this.#target}`)
  }

  get host(): string {
    return this.#request.host
  }

  get scheme(): string {
    return this.#request.scheme
  }

  get path(): string {
    return this.#request.path
  }

  get pathAndQuery(): QueryString {
    return new QueryString(this.#target)
  }

  get version(): string {
    return this.#request.version
  }

  get headers(): HeaderView {
    return new HeaderView(this.#exchange.isOver ? this.#request.loggedHeaders : this.#request.headers)
  }

  /** Logs, metrics and spans see it without credentials that were read from it or written into it. */
  get #target(): string {
    const { path, pathAndQuery, loggedQuery } = this.#request
    if (!this.#exchange.isOver || loggedQuery === undefined) return pathAndQuery
    return loggedQuery === '' ? path : `${path}?${loggedQuery}`
  }

  /** Only if it was buffered; a body over the limit is absent. Logs see the recorded beginning. */
  get body(): Uint8Array | undefined {
    const { denyGuard } = this.#exchange
    if (denyGuard !== undefined) readBody(denyGuard, this.#request)
    return this.#body
  }

  get #body(): Uint8Array | undefined {
    if (Buffer.isBuffer(this.#request.body)) return this.#request.body
    return this.#exchange.isOver ? this.#exchange.bodies?.request : undefined
  }

  get bodyPrefix(): Uint8Array | undefined {
    const { denyGuard } = this.#exchange
    if (denyGuard !== undefined) readBodyPrefix(denyGuard, this.#request)
    return this.#body ?? this.#exchange.bodies?.request
  }

  get startTime(): CelTimestamp {
    return timestampOf(this.#exchange.startMs)
  }

  /** For logs, metrics and spans. */
  get endTime(): CelTimestamp | undefined {
    const { endMs } = this.#exchange
    return endMs === undefined ? undefined : timestampOf(endMs)
  }
}

function timestampOf(monotonicMs: number): CelTimestamp {
  return CelTimestamp.fromMs(microsAt(monotonicMs) / 1000)
}

const RESPONSE: ReadonlySet<string> = new Set(['code', 'grpcStatus', 'headers', 'body', 'bodyPrefix'])

class ResponseView {
  readonly #exchange: Exchange
  readonly #response: HttpResponse

  constructor(exchange: Exchange, response: HttpResponse) {
    this.#exchange = exchange
    this.#response = response
  }

  get [CEL_FIELDS](): ReadonlySet<string> {
    return RESPONSE
  }

  isOf(response: HttpResponse): boolean {
    return this.#response === response
  }

  get code(): bigint {
    return BigInt(this.#response.status)
  }

  get grpcStatus(): bigint | undefined {
    const text = this.#response.grpcStatus
    return text !== undefined && /^\d{1,3}$/.test(text) ? BigInt(text) : undefined
  }

  get headers(): HeaderView {
    return new HeaderView(this.#exchange.isOver ? this.#response.loggedHeaders : this.#response.headers)
  }

  get body(): Uint8Array | undefined {
    const { body } = this.#response
    if (typeof body === 'string') return Buffer.from(body)
    if (body === undefined) return this.#response.isLocal ? Buffer.alloc(0) : undefined
    if (Buffer.isBuffer(body)) return body
    return this.#exchange.isOver ? this.#exchange.bodies?.response : undefined
  }

  get bodyPrefix(): Uint8Array | undefined {
    return this.body ?? this.#exchange.bodies?.response
  }
}

const PROXY: ReadonlySet<string> = new Set([
  'bind',
  'gateway',
  'listener',
  'route',
  'requestProcessingDuration',
  'upstreamDuration',
  'responseProcessingDuration',
])

class ProxyView {
  readonly #exchange: Exchange
  readonly #place: ExchangePlace | undefined

  constructor(exchange: Exchange) {
    this.#exchange = exchange
    this.#place = exchange.place
  }

  get [CEL_FIELDS](): ReadonlySet<string> {
    return PROXY
  }

  get bind(): string | undefined {
    return this.#place?.bind
  }

  get gateway(): Readonly<Record<string, unknown>> | undefined {
    const place = this.#place
    return place === undefined ? undefined : { namespace: place.gatewayNamespace, name: place.gatewayName }
  }

  get listener(): Readonly<Record<string, unknown>> | undefined {
    return this.#place === undefined ? undefined : { name: this.#place.listener }
  }

  get route(): Readonly<Record<string, unknown>> | undefined {
    const place = this.#place
    if (place?.routeName === undefined) return undefined
    const { routeNamespace: namespace, routeName: name, routeKind: kind, routeRule: rule } = place
    return { namespace, name, kind, ...(rule === undefined ? {} : { rule }) }
  }

  get requestProcessingDuration(): CelDuration | undefined {
    const { upstreamStartMs, startMs } = this.#exchange
    return upstreamStartMs === undefined ? undefined : CelDuration.fromMs(upstreamStartMs - startMs)
  }

  get upstreamDuration(): CelDuration | undefined {
    const { upstreamStartMs, upstreamHeadMs } = this.#exchange
    if (upstreamStartMs === undefined || upstreamHeadMs === undefined) return undefined
    return CelDuration.fromMs(upstreamHeadMs - upstreamStartMs)
  }

  /** For logs, metrics and spans. */
  get responseProcessingDuration(): CelDuration | undefined {
    const { upstreamHeadMs, endMs } = this.#exchange
    return upstreamHeadMs === undefined || endMs === undefined ? undefined : CelDuration.fromMs(endMs - upstreamHeadMs)
  }
}

/** The only parts of the environment that expressions can read. */
const ENV: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ['podName', process.env['POD_NAME']],
    ['namespace', process.env['NAMESPACE']],
    ['gateway', process.env['GATEWAY']],
  ].filter((pair): pair is [string, string] => pair[1] !== undefined),
)

/** The variables of expressions without a request. */
export function environmentVariables(): CelVariables {
  return { env: ENV }
}

const BACKEND: ReadonlySet<string> = new Set(['name', 'type', 'protocol'])

class BackendView {
  readonly #exchange: Exchange

  constructor(exchange: Exchange) {
    this.#exchange = exchange
  }

  get [CEL_FIELDS](): ReadonlySet<string> {
    return BACKEND
  }

  get name(): string | undefined {
    return this.#exchange.backendName
  }

  get type(): string {
    return this.#exchange.backendType ?? 'unknown'
  }

  get protocol(): string | undefined {
    return this.#exchange.backendProtocol
  }
}
