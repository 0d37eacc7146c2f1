// Metrics of the main thread: build, configuration, workers, runtime. Read at scrape time; nothing is counted here.
import type { ELDHistogram } from 'node:perf_hooks'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import { descriptorLimit, openDescriptors } from './file-descriptors.ts'
import { residentBytes } from './resident-memory.ts'
import type { MetricsAggregate } from './aggregate.ts'
import type { PlainMetric } from './exposed.ts'
import type { GaugeName } from './families.ts'

export interface ProcessFacts {
  readonly version: string
  readonly configGeneration: () => number
  readonly configApplied: () => number
  readonly configRejected: () => number
  readonly workerRestarts: () => number
  readonly workerHangs: () => number
  readonly workersWanted: number
  readonly traceEventsDropped: () => number
  /** Valid ones, by kind. */
  readonly fetchedCredentials: () => ReadonlyMap<string, number>
  /** Metrics memory of each serving worker, with its name. */
  readonly workers: () => readonly { readonly name: string; readonly buffer: SharedArrayBuffer }[]
}

const MAIN_THREAD = 'main'
const NANOS = 1e9

export function processMetrics(facts: ProcessFacts, aggregate: MetricsAggregate): readonly PlainMetric[] {
  const loop = monitorEventLoopDelay({ resolution: 20 })
  loop.enable()
  return [...proxyMetrics(facts, aggregate), ...runtimeMetrics(facts, aggregate, loop)]
}

function proxyMetrics(facts: ProcessFacts, aggregate: MetricsAggregate): PlainMetric[] {
  return [
    {
      name: 'gw_build_info',
      help: 'Version of the proxy',
      type: 'gauge',
      values: () => [{ labels: { tag: facts.version }, value: 1 }],
    },
    counter('gw_config_applied_total', 'Configurations applied', facts.configApplied),
    counter(
      'gw_config_rejected_total',
      'Configurations rejected; the last valid one stays in use',
      facts.configRejected,
    ),
    gauge('gw_config_generation', 'Generation of the current configuration', facts.configGeneration),
    counter('gw_worker_restarts_total', 'Worker threads that died and were replaced', facts.workerRestarts),
    counter('gw_worker_hangs_total', 'Worker threads that hung and were terminated', facts.workerHangs),
    {
      name: 'gw_workers',
      help: 'Worker threads',
      type: 'gauge',
      values: () => [
        { labels: { state: 'wanted' }, value: facts.workersWanted },
        { labels: { state: 'serving' }, value: facts.workers().length },
      ],
    },
    counter(
      'gw_trace_events_dropped_total',
      'Trace events dropped because a watcher read too slowly',
      facts.traceEventsDropped,
    ),
    {
      name: 'gw_credentials_tokens',
      help: 'Fetched credentials for backends that have not ended',
      type: 'gauge',
      values: () => [...facts.fetchedCredentials()].map(([kind, value]) => ({ labels: { kind }, value })),
    },
    counter('gw_metrics_overflows_total', 'Label combinations counted under overflow', () => aggregate.overflows),
  ]
}

const COUNTS_OF_WORKERS: readonly (readonly [name: string, help: string, worker: GaugeName])[] = [
  ['gw_overload_shed_requests_total', 'Requests rejected because the thread was overloaded', 'overloadShed'],
  [
    'gw_expression_budget_exceeded_total',
    'Expressions that failed because a request or a route used up its evaluation steps',
    'celExceeded',
  ],
  ['gw_internal_errors_total', 'Exceptions caused by bugs of the proxy; the log has each cause', 'defects'],
  [
    'gw_descriptor_refused_connections_total',
    'Client connections closed unserved because of a lack of file descriptors',
    'descriptorRefused',
  ],
  [
    'gw_descriptor_closed_connections_total',
    'Idle client connections closed because of a lack of file descriptors',
    'descriptorClosed',
  ],
]

function runtimeMetrics(facts: ProcessFacts, aggregate: MetricsAggregate, loop: ELDHistogram): PlainMetric[] {
  const perWorker = (name: GaugeName): { labels: Record<string, string>; value: number }[] =>
    facts.workers().map((worker) => ({
      labels: { thread: worker.name },
      value: aggregate.gauges(worker.buffer, name),
    }))
  const delay = (name: string, help: string, own: () => number, worker: GaugeName): PlainMetric => ({
    name,
    help,
    type: 'gauge',
    values: () => [{ labels: { thread: MAIN_THREAD }, value: own() / NANOS }, ...perWorker(worker)],
  })
  const ofWorkers = (name: string, help: string, worker: GaugeName): PlainMetric => ({
    name,
    help,
    type: 'gauge',
    values: () => perWorker(worker),
  })
  return [
    delay(
      'gw_event_loop_delay_p50_seconds',
      'Median delay of the event loop',
      () => loop.percentile(50),
      'loopDelayP50Seconds',
    ),
    delay(
      'gw_event_loop_delay_p99_seconds',
      'Delay of the event loop, 99th percentile',
      () => loop.percentile(99),
      'loopDelayP99Seconds',
    ),
    delay('gw_event_loop_delay_max_seconds', 'Longest delay of the event loop', () => loop.max, 'loopDelayMaxSeconds'),
    ofWorkers('gw_event_loop_utilization_ratio', 'Busy share of the last second', 'loopUtilization'),
    {
      name: 'gw_heap_used_bytes',
      help: 'JavaScript heap in use',
      type: 'gauge',
      values: () => [
        { labels: { thread: MAIN_THREAD }, value: getHeapStatistics().used_heap_size },
        ...perWorker('heapUsedBytes'),
      ],
    },
    ofWorkers('gw_heap_total_bytes', 'JavaScript heap that is reserved', 'heapTotalBytes'),
    ofWorkers('gw_upstream_connections_open', 'Connections to backends and services open now', 'upstreamOpen'),
    ofWorkers('gw_upstream_connections_idle', 'Idle connections to backends and services', 'upstreamIdle'),
    ofWorkers('gw_downstream_connections_open', 'Client connections open now', 'openConnections'),
    ofWorkers('gw_requests_active', 'Requests in flight', 'activeRequests'),
    ofWorkers('gw_overload_active', 'Whether the thread rejects new requests: 1 or 0', 'overloadActive'),
    ...COUNTS_OF_WORKERS.map(([name, help, worker]) => ({
      ...ofWorkers(name, help, worker),
      type: 'counter' as const,
    })),
    gauge('process_resident_memory_bytes', 'Resident memory of the process', residentBytes),
    gauge('process_open_fds', 'Open file descriptors', () => openDescriptors() ?? Number.NaN),
    gauge('process_max_fds', 'Maximum number of open file descriptors', () => descriptorLimit() ?? Number.NaN),
    counter('process_cpu_seconds_total', 'CPU time of the process', cpuSeconds),
    gauge('process_start_time_seconds', 'Start time in seconds since the epoch', () => performance.timeOrigin / 1000),
  ]
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

function counter(name: string, help: string, value: () => number): PlainMetric {
  return { name, help, type: 'counter', values: () => [{ value: value() }] }
}

function gauge(name: string, help: string, value: () => number): PlainMetric {
  return { name, help, type: 'gauge', values: () => [{ value: value() }] }
}
