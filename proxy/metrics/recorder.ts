// Counts one finished exchange. Runs for every request: finds the series of a place by object identity and a short
// scan, then adds to plain numbers. Builds strings only for new combinations.
import type { Reason } from '../exchange/reason.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { ExchangePlace, GuardChecks, LlmFacts, McpFacts } from '../exchange/facts.ts'
import type { TransferredBytes } from '../http/byte-meter.ts'
import { millisPerOutputToken } from '../log/fields.ts'
import type { HandshakeResult } from './tcp-observer.ts'
import type { OutboundCall } from '../exchange/outbound.ts'
import type { ConnectTransport } from '../upstream/connect-observer.ts'
import { cutLabel, OVERFLOW_LABEL, type SeriesTable } from './buffer.ts'
import type { Family } from './family.ts'
import type { MetricLabels } from './metric-labels.ts'
import * as families from './families.ts'
import { type LlmSeries, LlmSeriesCache } from './llm-series.ts'
import { ClientSeries } from './client-series.ts'
import { LimitSeries } from './limit-series.ts'

const UNKNOWN = 'unknown'
/**
 * Methods of RFC 9110 and RFC 5789, without WebDAV; others share one label, so that clients cannot create series.
 */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH'])
const OTHER_METHOD = '_OTHER'
/** Combinations of one place that a scan finds; further ones are found by key. */
const SCANNED_MAX = 64
/** Combinations of added labels for each place. */
const VARIANTS_MAX = 1000
/** Places of old configurations are removed when the configuration changes; this limits them in between. */
const PLACES_MAX = 50_000

/** Twice the connections a worker can have open; see `#isFirstOf`. */
const CONNECTION_IDS = 131_072

const DURATION_AT = families.EXCHANGE.offsets[1] ?? 0
const BYTES_AT = families.EXCHANGE.offsets[2] ?? 0
const RESPONSE_PROCESSING_AT = families.PROCESSING.offsets[1] ?? 0
const PER_TOKEN_AT = families.GEN_AI_STREAM.offsets[1] ?? 0
const SENT_AT = families.DOWNSTREAM_BYTES.offsets[1] ?? 0
const FETCH_SECONDS_AT = families.CREDENTIAL_FETCH.offsets[1] ?? 0
const CONNECT_BOUNDS = boundsOf(families.TLS_HANDSHAKE, 0)
const HTTP_BOUNDS = boundsOf(families.EXCHANGE, 1)
const PROCESSING_BOUNDS = boundsOf(families.PROCESSING, 0)
const CALL_BOUNDS = boundsOf(families.UPSTREAM_CALL, 0)
const TOKEN_BOUNDS = boundsOf(families.GEN_AI_TOKENS, 0)
const LLM_BOUNDS = boundsOf(families.GEN_AI_DURATION, 0)
const FIRST_TOKEN_BOUNDS = boundsOf(families.GEN_AI_STREAM, 0)
const PER_TOKEN_BOUNDS = boundsOf(families.GEN_AI_STREAM, 1)

/** The values that separate the counts of two exchanges of one place, and the series of the counts. */
interface Entry {
  readonly backend: string | undefined
  readonly protocol: string | undefined
  readonly method: string
  /** 0: the client closed the connection before there was a response. */
  readonly status: number
  readonly reason: Reason
  readonly slot: number
  readonly processingSlot: number
  readonly callSlot: number
}

interface PlaceSeries {
  readonly entries: Entry[]
  /** Labels of the place, then name and value of the labels that a policy adds. */
  readonly routeLabels: readonly string[]
  /** By the values of added labels; undefined: there are no added labels. */
  variants: Map<string, PlaceSeries> | undefined
  /** undefined: no request to a model yet. */
  llm: LlmSeriesCache | undefined
}

export interface FinishedConnection {
  readonly endMs: number
  readonly metricLabels: MetricLabels | undefined
  readonly receivedBytes: number
}

export class Recorder {
  readonly #table: SeriesTable
  readonly #values: Float64Array
  readonly #byPlace = new Map<ExchangePlace | undefined, PlaceSeries>()
  readonly #connectionIds = new Int32Array(CONNECTION_IDS)
  readonly #clients: ClientSeries
  readonly #limits: LimitSeries
  /** That have ended, of this worker. */
  requests = 0
  #lastPlace: ExchangePlace | undefined = undefined
  #lastSeries: PlaceSeries

  constructor(table: SeriesTable) {
    this.#table = table
    this.#values = table.values
    this.#clients = new ClientSeries(table)
    this.#limits = new LimitSeries(table)
    this.#lastSeries = this.#seriesOf(undefined)
  }

  finished(exchange: Exchange, endMs: number, labels?: MetricLabels): void {
    this.requests++
    const place = exchange.place
    const own = place === this.#lastPlace ? this.#lastSeries : this.#seriesOf(place)
    const series = labels === undefined ? own : variantOf(own, labels.values(exchange))
    const entry = this.#entryOf(series, exchange)
    const values = this.#values
    const durationMs = endMs - exchange.startMs
    add(values, entry.slot, 1)
    observe(values, entry.slot + DURATION_AT, HTTP_BOUNDS, durationMs / 1000)
    add(values, entry.slot + BYTES_AT, exchange.responseBytes)
    if (exchange.retryAttempt > 0) this.#retries(exchange, series)
    const { upstreamStartMs, upstreamHeadMs } = exchange
    if (upstreamStartMs !== undefined) {
      const before = (upstreamStartMs - exchange.startMs) / 1000
      observe(values, entry.processingSlot, PROCESSING_BOUNDS, before)
      if (upstreamHeadMs !== undefined) {
        observe(values, entry.callSlot, CALL_BOUNDS, (upstreamHeadMs - upstreamStartMs) / 1000)
        const after = (endMs - upstreamHeadMs) / 1000
        observe(values, entry.processingSlot + RESPONSE_PROCESSING_AT, PROCESSING_BOUNDS, after)
      }
    }
    if (this.#isFirstOf(exchange.connection.id)) this.#connection(exchange)
    if (exchange.llm !== undefined) {
      this.#llm(exchange.llm, series, durationMs)
      this.#clients.add(exchange, exchange.llm)
    }
    if (exchange.policyState !== undefined) this.#limits.add(exchange)
    if (exchange.mcp !== undefined) this.#mcp(exchange.mcp, exchange, series)
  }

  #retries(exchange: Exchange, series: PlaceSeries): void {
    const slot = this.#table.series(families.RETRIES, exchangeLabels(exchange, series))
    add(this.#values, slot, exchange.retryAttempt)
  }

  refused(status: number): void {
    add(this.#values, this.#table.series(families.REFUSED, [String(status)]), 1)
  }

  handshake({ place, protocol, durationMs }: HandshakeResult): void {
    const slot = this.#table.series(families.TLS_HANDSHAKE, [...placeLabels(place), protocol])
    observe(this.#values, slot, CONNECT_BOUNDS, durationMs / 1000)
  }

  handshakeFailed(): void {
    add(this.#values, this.#table.series(families.TLS_FAILURE, []), 1)
  }

  /** A connection with forwarded bytes: it has a duration, but no request. */
  connectionFinished(exchange: Exchange, { endMs, metricLabels, receivedBytes }: FinishedConnection): void {
    const { place, backendName, reason, connection, responseBytes } = exchange
    const values = this.#values
    const own = this.#seriesOf(place)
    const series = metricLabels === undefined ? own : variantOf(own, metricLabels.values(exchange))
    const labels = [backendName ?? UNKNOWN, 'tcp', UNKNOWN, UNKNOWN, reason, ...series.routeLabels]
    const slot = this.#table.series(families.EXCHANGE, labels)
    observe(values, slot + DURATION_AT, HTTP_BOUNDS, (endMs - exchange.startMs) / 1000)
    add(values, slot + BYTES_AT, responseBytes)
    const downstream = [...placeLabels(place), connection.isTls ? 'tls' : 'tcp']
    add(values, this.#table.series(families.CONNECTION, downstream), 1)
    this.#bytes(downstream, receivedBytes, responseBytes)
  }

  /** Bytes of a connection with requests since the previous call. */
  transferred({ place, isTls, received, sent }: TransferredBytes): void {
    this.#bytes([...placeLabels(place), isTls ? 'https' : 'http'], received, sent)
  }

  #bytes(labels: readonly string[], received: number, sent: number): void {
    const slot = this.#table.series(families.DOWNSTREAM_BYTES, labels)
    add(this.#values, slot, received)
    add(this.#values, slot + SENT_AT, sent)
  }

  /** A connection to a backend or a service of a policy is open. */
  connected(transport: ConnectTransport, durationMs: number): void {
    const slot = this.#table.series(families.UPSTREAM_CONNECT, [transport])
    observe(this.#values, slot, CONNECT_BOUNDS, durationMs / 1000)
  }

  /** Spans (`traces`) or log records that were exported or lost. */
  exported(signal: string, result: string, count: number): void {
    add(this.#values, this.#table.series(families.OTLP, [signal, result]), count)
  }

  credentialFetched(kind: string, result: string, seconds: number): void {
    const slot = this.#table.series(families.CREDENTIAL_FETCH, [kind, result])
    add(this.#values, slot, 1)
    observe(this.#values, slot + FETCH_SECONDS_AT, HTTP_BOUNDS, seconds)
  }

  credentialRefused(kind: string): void {
    add(this.#values, this.#table.series(families.CREDENTIAL_REFUSED, [kind]), 1)
  }

  mcpSession(event: string, server: string): void {
    add(this.#values, this.#table.series(families.MCP_SESSIONS, [event, server]), 1)
  }

  /** Call of an auxiliary service or a mirror. */
  called(call: OutboundCall): void {
    const slot = this.#table.series(families.UPSTREAM_CALL, [call.kind, call.subtype])
    observe(this.#values, slot, CALL_BOUNDS, call.durationMs / 1000)
  }

  /** Places belong to a configuration: removes the old ones. Counts remain. */
  configChanged(): void {
    this.#byPlace.clear()
    this.#lastPlace = undefined
    this.#lastSeries = this.#seriesOf(undefined)
  }

  /**
   * True for the first request of a connection. Ids count up in each worker, so a table of the latest id for each
   * remainder distinguishes open connections; an id that occurs again may count one connection twice.
   */
  #isFirstOf(connectionId: number): boolean {
    const at = connectionId % CONNECTION_IDS
    if (this.#connectionIds[at] === connectionId) return false
    this.#connectionIds[at] = connectionId
    return true
  }

  #connection({ place, connection }: Exchange): void {
    const [bind = UNKNOWN, gateway = UNKNOWN, listener = UNKNOWN] = routeLabels(place)
    const labels = [bind, gateway, listener, connection.isTls ? 'https' : 'http']
    add(this.#values, this.#table.series(families.CONNECTION, labels), 1)
  }

  #seriesOf(place: ExchangePlace | undefined): PlaceSeries {
    let series = this.#byPlace.get(place)
    if (series === undefined) {
      if (this.#byPlace.size >= PLACES_MAX) this.#byPlace.clear()
      series = { entries: [], routeLabels: routeLabels(place), variants: undefined, llm: undefined }
      this.#byPlace.set(place, series)
    }
    this.#lastPlace = place
    this.#lastSeries = series
    return series
  }

  #entryOf(series: PlaceSeries, exchange: Exchange): Entry {
    const status = exchange.response?.status ?? 0
    const { backendName, backendProtocol, reason } = exchange
    const { method } = exchange.request
    for (const entry of series.entries) {
      if (
        entry.status === status &&
        entry.method === method &&
        entry.backend === backendName &&
        entry.reason === reason &&
        entry.protocol === backendProtocol
      ) {
        return entry
      }
    }
    return this.#newEntry(series, exchange, status)
  }

  #newEntry(series: PlaceSeries, exchange: Exchange, status: number): Entry {
    const { backendName: backend, backendProtocol: protocol, reason } = exchange
    const { method } = exchange.request
    const entry: Entry = {
      backend,
      protocol,
      method,
      status,
      reason,
      slot: this.#table.series(families.EXCHANGE, exchangeLabels(exchange, series)),
      processingSlot: this.#table.series(families.PROCESSING, [backend ?? UNKNOWN, ...series.routeLabels]),
      callSlot: this.#table.series(families.UPSTREAM_CALL, ['Primary', callSubtype(protocol)]),
    }
    // Unknown methods are arbitrary text of clients: found by key, never kept.
    if (series.entries.length < SCANNED_MAX && METHODS.has(method)) series.entries.push(entry)
    return entry
  }

  #llm(llm: LlmFacts, series: PlaceSeries, durationMs: number): void {
    const own = (series.llm ??= new LlmSeriesCache(series.routeLabels)).of(llm)
    this.#tokens(own, 'input', llm.inputTokens)
    this.#tokens(own, 'output', llm.outputTokens)
    this.#tokens(own, 'input_cache_read', llm.cachedInputTokens)
    this.#tokens(own, 'input_cache_write', llm.cacheCreationInputTokens)
    this.#cost(own, llm)
    if (llm.transcription !== undefined) this.#transcription(llm.transcription.facts, series)
    if (llm.guards !== undefined) this.#guards(llm.guards)
    const values = this.#values
    observe(values, own.slot(this.#table, families.GEN_AI_DURATION), LLM_BOUNDS, durationMs / 1000)
    if (llm.timeToFirstTokenMs === undefined) return
    const slot = own.slot(this.#table, families.GEN_AI_STREAM)
    observe(values, slot, FIRST_TOKEN_BOUNDS, llm.timeToFirstTokenMs / 1000)
    const perToken = millisPerOutputToken(llm, durationMs)
    if (perToken !== undefined) observe(values, slot + PER_TOKEN_AT, PER_TOKEN_BOUNDS, perToken / 1000)
  }

  /** In series of their model. */
  #transcription(llm: LlmFacts, series: PlaceSeries): void {
    const own = (series.llm ??= new LlmSeriesCache(series.routeLabels)).of(llm)
    this.#tokens(own, 'input', llm.inputTokens)
    this.#tokens(own, 'output', llm.outputTokens)
    this.#cost(own, llm)
  }

  #cost(series: LlmSeries, llm: LlmFacts): void {
    const cost = llm.pricing?.costOf(llm)
    if (cost === undefined) return
    add(this.#values, series.slot(this.#table, families.COST_LOOKUPS, cost.status), 1)
    if (cost.usd === undefined) return
    add(this.#values, series.slot(this.#table, families.GEN_AI_COST), cost.usd.total)
  }

  #guards(checks: readonly GuardChecks[]): void {
    for (const { phase, guard, action, count, matched } of checks) {
      add(this.#values, this.#table.series(families.GUARD_CHECKS, [phase, action]), count)
      for (const name of matched) {
        add(this.#values, this.#table.series(families.GUARD_MATCHES, [phase, guard, name]), 1)
      }
    }
  }

  #tokens(series: LlmSeries, type: string, count: number | undefined): void {
    if (count === undefined) return
    observe(this.#values, series.slot(this.#table, families.GEN_AI_TOKENS, type), TOKEN_BOUNDS, count)
  }

  #mcp(mcp: McpFacts, { request }: Exchange, series: PlaceSeries): void {
    for (const [server, count] of mcp.dropped ?? []) {
      add(this.#values, this.#table.series(families.MCP_DROPPED, [server, ...series.routeLabels]), count)
    }
    for (const [server, count] of mcp.changedTools ?? []) {
      add(this.#values, this.#table.series(families.MCP_CHANGED_TOOLS, [server, ...series.routeLabels]), count)
    }
    if (mcp.guards !== undefined) this.#guards(mcp.guards)
    if (mcp.methodName === undefined || request.method !== 'POST') return
    // Each task has an id of its own.
    const name = mcp.kind === 'task' ? UNKNOWN : (mcp.name ?? UNKNOWN)
    const labels = [mcp.methodName, mcp.kind ?? UNKNOWN, mcp.target ?? UNKNOWN, name]
    add(this.#values, this.#table.series(families.MCP, [...labels, ...series.routeLabels]), 1)
  }
}

function exchangeLabels({ backendName, backendProtocol, request, response, reason }: Exchange, series: PlaceSeries) {
  return [
    backendName ?? UNKNOWN,
    backendProtocol ?? UNKNOWN,
    METHODS.has(request.method) ? request.method : OTHER_METHOD,
    response === undefined ? UNKNOWN : String(response.status),
    reason,
    ...series.routeLabels,
  ]
}

/** Clients choose some values: those beyond the limit share one series. */
function variantOf(series: PlaceSeries, labels: readonly string[]): PlaceSeries {
  const variants = (series.variants ??= new Map())
  const isFull = variants.size >= VARIANTS_MAX
  const cut = labels.map(cutLabel)
  const known = variants.get(cut.join('\u0000'))
  if (known !== undefined) return known
  const chosen = isFull ? cut.map((label, i) => (i % 2 === 0 ? label : OVERFLOW_LABEL)) : cut
  const key = chosen.join('\u0000')
  const variant = variants.get(key) ?? {
    entries: [],
    routeLabels: [...series.routeLabels, ...chosen],
    variants: undefined,
    llm: undefined,
  }
  variants.set(key, variant)
  return variant
}

function add(values: Float64Array, slot: number, amount: number): void {
  values[slot] = (values[slot] ?? 0) + amount
}

/** Buckets are not cumulative here; the exposition adds them up. */
function observe(values: Float64Array, slot: number, bounds: Float64Array, value: number): void {
  let i = 0
  while (i < bounds.length && value > (bounds[i] ?? Infinity)) i++
  add(values, slot + i, 1)
  add(values, slot + bounds.length + 1, value)
}

function routeLabels(place: ExchangePlace | undefined): readonly string[] {
  if (place === undefined) return [UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN]
  const route = place.routeName === undefined ? UNKNOWN : `${place.routeNamespace ?? ''}/${place.routeName}`
  return [
    place.bind,
    `${place.gatewayNamespace}/${place.gatewayName}`,
    place.listener,
    route,
    place.routeRule ?? UNKNOWN,
  ]
}

function placeLabels(place: ExchangePlace | undefined): readonly string[] {
  return routeLabels(place).slice(0, 3)
}

function callSubtype(protocol: string | undefined): string {
  if (protocol === 'llm') return 'Llm'
  return protocol === 'mcp' ? 'Mcp' : 'Http'
}

function boundsOf(family: Family, metric: number): Float64Array {
  const buckets = family.metrics[metric]?.buckets
  if (buckets === undefined) throw new Error('the metric is not a histogram')
  return buckets
}
