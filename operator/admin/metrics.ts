// Prometheus metrics of the operator, updated by the observer.
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { type BuildInfo, VERSION } from '#api/version.ts'
import type { OperatorObserver } from '../controllers/world.ts'
import type { KubeWrite } from '../kube/transport.ts'

/** 0.5 ms to 5 s. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

export interface OperatorMetrics {
  readonly observer: OperatorObserver
  /** Called for every request that writes to the API server. */
  readonly onWrite: (write: KubeWrite) => void
  readonly text: () => Promise<string>
  readonly contentType: string
}

export interface MetricsOptions {
  readonly hasRuntimeMetrics: boolean
  readonly build: BuildInfo
}

/** Their keys are all objects of a cluster: one series for each would be too many. */
const UNCOUNTED: ReadonlySet<string> = new Set(['status', 'events'])

export function createMetrics({ hasRuntimeMetrics, build }: MetricsOptions): OperatorMetrics {
  const registry = new Registry()
  const registers = [registry]
  if (hasRuntimeMetrics) collectDefaultMetrics({ register: registry })
  const labelNames = ['controller', 'name', 'namespace'] as const
  const runs = new Counter({
    name: 'gw_controller_reconciliations_total',
    help: 'Runs of a controller for one object.',
    labelNames: [...labelNames, 'result'],
    registers,
  })
  const durations = new Histogram({
    name: 'gw_controller_reconcile_duration_seconds',
    help: 'Duration of a run.',
    labelNames,
    buckets: BUCKETS,
    registers,
  })
  const translations = new Histogram({
    name: 'gw_controller_translation_duration_seconds',
    help: 'Duration of the translation of all objects.',
    buckets: BUCKETS,
    registers,
  })
  const gateways = new Gauge({ name: 'gw_controller_gateways', help: 'Gateways that are served.', registers })
  const rejects = new Counter({
    name: 'gw_delivery_rejects_total',
    help: 'Configurations that a proxy rejected.',
    registers,
  })
  const writes = new Counter({
    name: 'gw_controller_writes_total',
    help: 'Objects and statuses written.',
    labelNames: ['what'],
    registers,
  })
  const running = new Gauge({
    name: 'gw_controller_reconciliations_running',
    help: 'Runs in progress.',
    labelNames,
    registers,
  })
  showBuild(build, registers)
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    onWrite: apiWrites(registers),
    observer: {
      run: ({ queue, key, isSuccess, seconds }) => {
        if (UNCOUNTED.has(queue)) return
        const labels = labelsOf(queue, key)
        runs.inc({ ...labels, result: isSuccess ? 'success' : 'error' })
        durations.observe(labels, seconds)
      },
      running: ({ queue, key, isRunning }) => {
        if (!UNCOUNTED.has(queue)) running.inc(labelsOf(queue, key), isRunning ? 1 : -1)
      },
      translated: (seconds, count) => {
        translations.observe(seconds)
        gateways.set(count)
      },
      ...healthOf(registers),
      ...watchesOf(registers),
      rejected: (count) => rejects.inc(count),
      wrote: (what, count) => writes.inc({ what }, count),
      filled: fillOfDeliveries(registers),
    },
  }
}

function fillOfDeliveries(registers: Registry[]): OperatorObserver['filled'] {
  const ratios = new Gauge({
    name: 'gw_controller_delivery_fill_ratio',
    help: 'Part of the largest delivery of a Gateway that is used; with 1 nothing more fits.',
    labelNames: ['name', 'namespace', 'part'],
    registers,
  })
  return (key, fill) => {
    const { name, namespace } = nameLabels(key)
    for (const part of ['config', 'endpoints', 'secrets'] as const) {
      if (fill === undefined) ratios.remove({ name, namespace, part })
      else ratios.set({ name, namespace, part }, fill[part])
    }
  }
}

/** Failures that no object of a user causes. */
function healthOf(registers: Registry[]): Pick<OperatorObserver, 'translationFailed' | 'objectFailed' | 'leading'> {
  const failures = new Counter({
    name: 'gw_controller_translation_failures_total',
    help: 'Translations that failed because of a defect; the last result stays active.',
    registers,
  })
  const defects = new Counter({
    name: 'gw_controller_internal_errors_total',
    help: 'Objects whose translation failed because of a defect of the controller, by kind; they are rejected.',
    labelNames: ['kind'],
    registers,
  })
  const leading = new Gauge({
    name: 'gw_controller_leading',
    help: '1 on the replica that is the leader, 0 on the others.',
    registers,
  })
  return {
    translationFailed: () => failures.inc(),
    objectFailed: (kind) => defects.inc({ kind }),
    leading: (isLeading) => leading.set(isLeading ? 1 : 0),
  }
}

/** Of kinds, not of objects. */
function watchesOf(registers: Registry[]): Pick<OperatorObserver, 'followed'> {
  const labelNames = ['kind', 'namespace']
  const failures = new Counter({
    name: 'gw_controller_watch_failures_total',
    help: 'Lists and watches of a kind that failed.',
    labelNames,
    registers,
  })
  const lost = new Gauge({
    name: 'gw_controller_watch_lost_seconds',
    help: 'Seconds without a watch of a kind at the last attempt; 0 while the watch runs.',
    labelNames,
    registers,
  })
  return {
    followed: ({ kind, namespace }, lostMs) => {
      failures.inc({ kind, namespace }, lostMs === undefined ? 0 : 1)
      lost.set({ kind, namespace }, (lostMs ?? 0) / 1000)
    },
  }
}

/** Of a Gateway; a class has no namespace. */
function labelsOf(queue: string, key: string): { controller: string; namespace: string; name: string } {
  return { controller: queue, ...nameLabels(key) }
}

function nameLabels(key: string): { namespace: string; name: string } {
  const slash = key.indexOf('/')
  return { namespace: key.slice(0, Math.max(slash, 0)), name: key.slice(slash + 1) }
}

function showBuild({ commit, date }: BuildInfo, registers: Registry[]): void {
  const gauge = new Gauge({
    name: 'gw_controller_build_info',
    help: 'Version of this build; always 1.',
    labelNames: ['version', 'git_commit', 'build_date', 'runtime_version', 'platform'],
    registers,
  })
  const platform = `${process.platform}/${process.arch}`
  gauge.set({ version: VERSION, git_commit: commit, build_date: date, runtime_version: process.version, platform }, 1)
}

function apiWrites(registers: Registry[]): OperatorMetrics['onWrite'] {
  const labelNames = ['kind', 'verb']
  const calls = new Counter({
    name: 'gw_controller_api_writes_total',
    help: 'Write requests to the API server, successful or not, by kind and verb.',
    labelNames,
    registers,
  })
  const bodies = new Counter({
    name: 'gw_controller_api_write_bytes_total',
    help: 'Bytes in the bodies of write requests to the API server.',
    labelNames,
    registers,
  })
  return ({ target: kind, verb, bytes }) => {
    calls.inc({ kind, verb })
    bodies.inc({ kind, verb }, bytes)
  }
}
