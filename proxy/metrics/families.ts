// Every metric a worker counts: names, labels and buckets of the data-plane supplement, section 6.2. Data only; the
// order of families is the contract between workers and main thread (same program, so it cannot differ).
import { bounds, counter, type Family, family, histogram } from './family.ts'
import { GEN_AI_CLIENT, LIMIT_CALLS, LIMIT_STATE } from './internal-families.ts'

const HTTP_SECONDS = bounds([0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 80])
const PROCESSING_SECONDS = bounds([50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 50e-3, 250e-3])
/** 1, 4, 16 … 67108864. */
const TOKENS = bounds(Array.from({ length: 14 }, (_, i) => 4 ** i))
/** 0.01, 0.02 … 81.92. */
const LLM_SECONDS = bounds(Array.from({ length: 14 }, (_, i) => 2 ** i / 100))
const OUTPUT_TOKEN_SECONDS = bounds([0.001, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5])
const FIRST_TOKEN_SECONDS = bounds([
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
])

export const ROUTE_LABELS = ['bind', 'gateway', 'listener', 'route', 'route_rule'] as const
const GEN_AI_LABELS = [
  'gen_ai_operation_name',
  'gen_ai_system',
  'gen_ai_request_model',
  'gen_ai_response_model',
  ...ROUTE_LABELS,
] as const

/** Routes times their statuses, methods and reasons. */
const EXCHANGE_SERIES_MAX = 20_000
/** Clients choose some labels (model and tool names): a smaller limit. */
const CLIENT_NAMED_SERIES_MAX = 2000
const SMALL_SERIES_MAX = 500

export const EXCHANGE = family({
  id: 0,
  labels: ['backend', 'protocol', 'method', 'status', 'reason', ...ROUTE_LABELS],
  seriesMax: EXCHANGE_SERIES_MAX,
  metrics: [
    counter('gw_requests_total', 'HTTP requests whose response has ended'),
    histogram('gw_request_duration_seconds', 'Time from the request head to the end of the response', HTTP_SECONDS),
    counter('gw_response_bytes_total', 'Body bytes sent to clients'),
  ],
})

export const PROCESSING = family({
  id: 1,
  labels: ['backend', ...ROUTE_LABELS],
  seriesMax: EXCHANGE_SERIES_MAX,
  metrics: [
    histogram(
      'gw_request_processing_seconds',
      'Time in the gateway from the request head to the call of the backend',
      PROCESSING_SECONDS,
    ),
    histogram(
      'gw_response_processing_seconds',
      'Time from the response head of the backend to the end of the response',
      PROCESSING_SECONDS,
    ),
  ],
})

export const UPSTREAM_CALL = family({
  id: 2,
  labels: ['kind', 'subtype'],
  seriesMax: SMALL_SERIES_MAX,
  metrics: [
    histogram(
      'gw_upstream_call_duration_seconds',
      'Time from the call of a backend or service to its response head',
      HTTP_SECONDS,
    ),
  ],
})

export const CONNECTION = family({
  id: 3,
  labels: ['bind', 'gateway', 'listener', 'protocol'],
  seriesMax: SMALL_SERIES_MAX,
  metrics: [counter('gw_downstream_connections_total', 'Client connections that carried at least one request')],
})

export const MCP = family({
  id: 4,
  labels: ['method', 'resource_type', 'server', 'resource', ...ROUTE_LABELS],
  seriesMax: CLIENT_NAMED_SERIES_MAX,
  metrics: [counter('gw_mcp_requests_total', 'MCP requests (posted methods)')],
})

export const GEN_AI_TOKENS = family({
  id: 5,
  labels: ['gen_ai_token_type', ...GEN_AI_LABELS],
  seriesMax: CLIENT_NAMED_SERIES_MAX,
  metrics: [histogram('gw_gen_ai_client_token_usage', 'Tokens of one LLM request', TOKENS)],
})

export const GEN_AI_DURATION = family({
  id: 6,
  labels: GEN_AI_LABELS,
  seriesMax: CLIENT_NAMED_SERIES_MAX,
  metrics: [histogram('gw_gen_ai_server_request_duration', 'Seconds of one LLM request', LLM_SECONDS)],
})

export const GEN_AI_STREAM = family({
  id: 7,
  labels: GEN_AI_LABELS,
  seriesMax: CLIENT_NAMED_SERIES_MAX,
  metrics: [
    histogram(
      'gw_gen_ai_server_time_to_first_token',
      'Seconds from the request to the first content of a stream',
      FIRST_TOKEN_SECONDS,
    ),
    histogram(
      'gw_gen_ai_server_time_per_output_token',
      'Mean seconds between output tokens after the first',
      OUTPUT_TOKEN_SECONDS,
    ),
  ],
})

export const REFUSED = family({
  id: 8,
  labels: ['status'],
  seriesMax: SMALL_SERIES_MAX,
  metrics: [
    counter(
      'gw_refused_requests_total',
      'Requests rejected before routing: malformed, too large, too slow, or on a connection that is not admitted',
    ),
  ],
})

export const RETRIES = family({
  id: 9,
  labels: EXCHANGE.labels,
  seriesMax: EXCHANGE_SERIES_MAX,
  metrics: [counter('gw_retries_total', 'Retries of requests to backends')],
})

const CONNECT_SECONDS = bounds([0.0005, 0.0015, 0.0043, 0.0126, 0.0368, 0.108, 0.316, 0.924, 2.71, 8])

export const TLS_HANDSHAKE = family({
  id: 10,
  labels: ['bind', 'gateway', 'listener', 'protocol'],
  seriesMax: SMALL_SERIES_MAX,
  metrics: [
    histogram(
      'gw_tls_handshake_duration_seconds',
      'Time from accepting a client to the end of its handshake',
      CONNECT_SECONDS,
    ),
  ],
})

export const TLS_FAILURE = family({
  id: 11,
  labels: [],
  seriesMax: 1,
  metrics: [
    counter(
      'gw_tls_handshake_failures_total',
      'TLS connections that were rejected or closed before the handshake was complete',
    ),
  ],
})

export const DOWNSTREAM_BYTES = family({
  id: 12,
  labels: ['bind', 'gateway', 'listener', 'protocol'],
  seriesMax: SMALL_SERIES_MAX,
  metrics: [
    counter(
      'gw_downstream_received_bytes_total',
      'Bytes received from clients; after decryption if the proxy terminates TLS',
    ),
    counter('gw_downstream_sent_bytes_total', 'Bytes sent to clients; before encryption if the proxy terminates TLS'),
  ],
})

export const OTLP = family({
  id: 13,
  labels: ['signal', 'result'],
  seriesMax: SMALL_SERIES_MAX,
  metrics: [
    counter(
      'gw_otlp_records_total',
      'Spans and log records: exported, rejected or failed at the collector, or dropped because the queue is full',
    ),
  ],
})

export const UPSTREAM_CONNECT = family({
  id: 14,
  labels: ['transport'],
  seriesMax: SMALL_SERIES_MAX,
  metrics: [
    histogram(
      'gw_upstream_connect_duration_seconds',
      'Time from opening a connection to a backend or service until it can be used, with TLS after its handshake',
      CONNECT_SECONDS,
    ),
  ],
})

export const MCP_DROPPED = family({
  id: 15,
  labels: ['server', ...ROUTE_LABELS],
  seriesMax: SMALL_SERIES_MAX,
  metrics: [
    counter(
      'gw_mcp_dropped_messages_total',
      'Messages of MCP servers that clients do not get: about requests of other servers, or denied requests',
    ),
  ],
})

export const CREDENTIAL_FETCH = family({
  id: 16,
  labels: ['kind', 'result'],
  seriesMax: SMALL_SERIES_MAX,
  metrics: [
    counter('gw_credentials_fetches_total', 'Fetches of credentials for backends'),
    histogram('gw_credentials_fetch_duration_seconds', 'Time to fetch a credential for backends', HTTP_SECONDS),
  ],
})

export const CREDENTIAL_REFUSED = family({
  id: 17,
  labels: ['kind'],
  seriesMax: SMALL_SERIES_MAX,
  metrics: [
    counter('gw_credentials_refused_total', 'Fetched credentials that a backend refused and that were dropped'),
  ],
})

export const GEN_AI_COST = family({
  id: 18,
  labels: GEN_AI_LABELS,
  seriesMax: CLIENT_NAMED_SERIES_MAX,
  metrics: [counter('gw_gen_ai_client_cost_usd_total', 'Cost of LLM requests in USD, by the model catalog')],
})

export const COST_LOOKUPS = family({
  id: 19,
  labels: ['status', ...GEN_AI_LABELS],
  seriesMax: CLIENT_NAMED_SERIES_MAX,
  metrics: [
    counter('gw_cost_catalog_lookups_total', 'Look-ups of prices in the model catalog for LLM requests with tokens'),
  ],
})

export const GUARD_CHECKS = family({
  id: 20,
  labels: ['phase', 'action'],
  seriesMax: SMALL_SERIES_MAX,
  metrics: [counter('gw_guardrail_checks_total', 'Checks of prompt guards and of guardrails of MCP')],
})

export const GUARD_MATCHES = family({
  id: 21,
  labels: ['phase', 'guard', 'pattern'],
  seriesMax: SMALL_SERIES_MAX,
  metrics: [
    counter('gw_guardrail_matches_total', 'LLM requests with a match of a pattern or category of a prompt guard'),
  ],
})

export const MCP_CHANGED_TOOLS = family({
  id: 22,
  labels: ['server', ...ROUTE_LABELS],
  seriesMax: SMALL_SERIES_MAX,
  metrics: [
    counter(
      'gw_mcp_changed_tools_total',
      'Definitions of MCP tools that differ from their pin or from the first one, each counted once by a worker',
    ),
  ],
})

export const MCP_SESSIONS = family({
  id: 23,
  labels: ['event', 'server'],
  seriesMax: SMALL_SERIES_MAX,
  metrics: [counter('gw_mcp_server_sessions_total', 'Sessions with MCP servers that were opened again, or expired')],
})

/** In the order of their ids. */
export const FAMILIES: readonly Family[] = [
  EXCHANGE,
  PROCESSING,
  UPSTREAM_CALL,
  CONNECTION,
  MCP,
  GEN_AI_TOKENS,
  GEN_AI_DURATION,
  GEN_AI_STREAM,
  REFUSED,
  RETRIES,
  TLS_HANDSHAKE,
  TLS_FAILURE,
  DOWNSTREAM_BYTES,
  OTLP,
  UPSTREAM_CONNECT,
  MCP_DROPPED,
  CREDENTIAL_FETCH,
  CREDENTIAL_REFUSED,
  GEN_AI_COST,
  COST_LOOKUPS,
  GUARD_CHECKS,
  GUARD_MATCHES,
  MCP_CHANGED_TOOLS,
  MCP_SESSIONS,
  GEN_AI_CLIENT,
  LIMIT_CALLS,
  LIMIT_STATE,
]

export const EXPOSED_FAMILIES: readonly Family[] = FAMILIES.filter(({ isInternal }) => isInternal !== true)

/** Values that a worker updates once a second. */
export const GAUGES = [
  'loopDelayP50Seconds',
  'loopDelayP99Seconds',
  'loopDelayMaxSeconds',
  'loopUtilization',
  'heapUsedBytes',
  'heapTotalBytes',
  'openConnections',
  'activeRequests',
  'overloadActive',
  'overloadShed',
  'celExceeded',
  'defects',
  'descriptorRefused',
  'descriptorClosed',
  'upstreamOpen',
  'upstreamIdle',
] as const
export type GaugeName = (typeof GAUGES)[number]
