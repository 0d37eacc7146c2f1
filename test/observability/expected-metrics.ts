// Metrics of the data-plane supplement, section 6.2, as a table: the expected content of a scrape. It is a second copy,
// not derived from the code, so that neither can change alone.

export interface ExpectedMetric {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly labels: readonly string[]
  /** Upper bounds as in a scrape, without +Inf. */
  readonly buckets?: readonly number[]
}

/** R and C of the supplement: the place of a request, and the labels that the policy of this test adds. */
const ROUTE = ['bind', 'gateway', 'listener', 'route', 'route_rule', 'team', 'port']
const REQUEST = ['backend', 'protocol', 'method', 'status', 'reason', ...ROUTE]
const DOWNSTREAM = ['bind', 'gateway', 'listener', 'protocol']
const GEN_AI = ['gen_ai_operation_name', 'gen_ai_system', 'gen_ai_request_model', 'gen_ai_response_model', ...ROUTE]

const HTTP = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 80]
const PROCESSING = [0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25]
const CONNECT = [0.0005, 0.0015, 0.0043, 0.0126, 0.0368, 0.108, 0.316, 0.924, 2.71, 8]
const TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864]
const LLM = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]
const PER_TOKEN = [0.001, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5]
const FIRST_TOKEN = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

const histogram = (buckets: readonly number[], labels: readonly string[]): ExpectedMetric => ({
  type: 'histogram',
  labels,
  buckets,
})
const counter = (labels: readonly string[] = []): ExpectedMetric => ({ type: 'counter', labels })
const gauge = (labels: readonly string[] = []): ExpectedMetric => ({ type: 'gauge', labels })

export const SPECIFIED: Readonly<Record<string, ExpectedMetric>> = {
  gw_build_info: gauge(['tag']),
  gw_requests_total: counter(REQUEST),
  gw_request_duration_seconds: histogram(HTTP, REQUEST),
  gw_response_bytes_total: counter(REQUEST),
  gw_retries_total: counter(REQUEST),
  gw_request_processing_seconds: histogram(PROCESSING, ['backend', ...ROUTE]),
  gw_response_processing_seconds: histogram(PROCESSING, ['backend', ...ROUTE]),
  gw_upstream_call_duration_seconds: histogram(HTTP, ['kind', 'subtype']),
  gw_upstream_connect_duration_seconds: histogram(CONNECT, ['transport']),
  gw_tls_handshake_duration_seconds: histogram(CONNECT, DOWNSTREAM),
  gw_downstream_connections_total: counter(DOWNSTREAM),
  gw_downstream_received_bytes_total: counter(DOWNSTREAM),
  gw_downstream_sent_bytes_total: counter(DOWNSTREAM),
  gw_mcp_requests_total: counter(['method', 'resource_type', 'server', 'resource', ...ROUTE]),
  gw_gen_ai_client_token_usage: histogram(TOKENS, ['gen_ai_token_type', ...GEN_AI]),
  gw_gen_ai_client_cost_usd_total: counter(GEN_AI),
  gw_cost_catalog_lookups_total: counter(['status', ...GEN_AI]),
  gw_gen_ai_server_request_duration: histogram(LLM, GEN_AI),
  gw_gen_ai_server_time_per_output_token: histogram(PER_TOKEN, GEN_AI),
  gw_gen_ai_server_time_to_first_token: histogram(FIRST_TOKEN, GEN_AI),
  gw_guardrail_checks_total: counter(['phase', 'action']),
}

/** Metrics of the supplement that a proxy does not have yet, with the missing feature. */
export const WAITING: Readonly<Record<string, string>> = {}

/** Additional metrics of this proxy about itself. */
export const OWN: Readonly<Record<string, ExpectedMetric>> = {
  gw_refused_requests_total: counter(['status']),
  gw_tls_handshake_failures_total: counter(),
  gw_guardrail_matches_total: counter(['phase', 'guard', 'pattern']),
  gw_mcp_dropped_messages_total: counter(['server', ...ROUTE]),
  gw_mcp_changed_tools_total: counter(['server', ...ROUTE]),
  gw_mcp_server_sessions_total: counter(['event', 'server']),
  gw_otlp_records_total: counter(['signal', 'result']),
  gw_credentials_fetches_total: counter(['kind', 'result']),
  gw_credentials_fetch_duration_seconds: histogram(HTTP, ['kind', 'result']),
  gw_credentials_refused_total: counter(['kind']),
  gw_credentials_tokens: gauge(['kind']),
  gw_config_applied_total: counter(),
  gw_config_rejected_total: counter(),
  gw_config_generation: gauge(),
  gw_certificate_expiration_timestamp_seconds: gauge(['use', 'owner', 'secret']),
  gw_worker_restarts_total: counter(),
  gw_worker_hangs_total: counter(),
  gw_workers: gauge(['state']),
  gw_metrics_overflows_total: counter(),
  gw_trace_events_dropped_total: counter(),
  gw_event_loop_delay_p50_seconds: gauge(['thread']),
  gw_event_loop_delay_p99_seconds: gauge(['thread']),
  gw_event_loop_delay_max_seconds: gauge(['thread']),
  gw_event_loop_utilization_ratio: gauge(['thread']),
  gw_heap_used_bytes: gauge(['thread']),
  gw_heap_total_bytes: gauge(['thread']),
  gw_downstream_connections_open: gauge(['thread']),
  gw_requests_active: gauge(['thread']),
  gw_upstream_connections_open: gauge(['thread']),
  gw_upstream_connections_idle: gauge(['thread']),
  gw_overload_active: gauge(['thread']),
  gw_overload_shed_requests_total: counter(['thread']),
  gw_expression_budget_exceeded_total: counter(['thread']),
  gw_internal_errors_total: counter(['thread']),
  gw_descriptor_refused_connections_total: counter(['thread']),
  gw_descriptor_closed_connections_total: counter(['thread']),
  process_resident_memory_bytes: gauge(),
  process_open_fds: gauge(),
  process_max_fds: gauge(),
  process_cpu_seconds_total: counter(),
  process_start_time_seconds: gauge(),
}
