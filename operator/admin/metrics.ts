// Counters of the operator in the form of Prometheus. Fed by the observer; nothing here decides anything.
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { VERSION } from '#api/version.ts'
import type { OperatorObserver } from '../controllers/world.ts'
import type { KubeWrite } from '../kube/transport.ts'

/** 0.5 ms to 5 s. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

export interface OperatorMetrics {
  readonly observer: OperatorObserver
  /** Told about every call that writes to the API server. */
  readonly onWrite: (write: KubeWrite) => void
  readonly text: () => Promise<string>
  readonly contentType: string
}

export function createMetrics({ hasRuntimeMetrics }: { readonly hasRuntimeMetrics: boolean }): OperatorMetrics {
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
    help: 'How long a run took.',
    labelNames,
    buckets: BUCKETS,
    registers,
  })
  const translations = new Histogram({
    name: 'gw_controller_translation_duration_seconds',
    help: 'How long the translation of all objects took.',
    buckets: BUCKETS,
    registers,
  })
  const gateways = new Gauge({ name: 'gw_controller_gateways', help: 'Gateways that are served.', registers })
  const rejects = new Counter({
    name: 'gw_delivery_rejects_total',
    help: 'Configurations that a proxy refused.',
    registers,
  })
  const writes = new Counter({
    name: 'gw_controller_writes_total',
    help: 'Objects and statuses written.',
    labelNames: ['what'],
    registers,
  })
  const build = new Gauge({
    name: 'gw_controller_build_info',
    help: 'Version of this build; always 1.',
    labelNames: ['version', 'runtime_version', 'platform'],
    registers,
  })
  build.set({ version: VERSION, runtime_version: process.version, platform: `${process.platform}/${process.arch}` }, 1)
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    onWrite: apiWrites(registers),
    observer: {
      run: ({ queue, key, isSuccess, seconds }) => {
        // Statuses are written for every object of a cluster: one series for each would be too many.
        if (queue === 'status') return
        const slash = key.indexOf('/')
        const labels = { controller: queue, namespace: key.slice(0, Math.max(slash, 0)), name: key.slice(slash + 1) }
        runs.inc({ ...labels, result: isSuccess ? 'success' : 'error' })
        durations.observe(labels, seconds)
      },
      translated: (seconds, count) => {
        translations.observe(seconds)
        gateways.set(count)
      },
      rejected: (count) => rejects.inc(count),
      wrote: (what, count) => writes.inc({ what }, count),
    },
  }
}

function apiWrites(registers: Registry[]): OperatorMetrics['onWrite'] {
  const labelNames = ['kind', 'verb']
  const calls = new Counter({
    name: 'gw_controller_api_writes_total',
    help: 'Calls to the API server that write, by kind and verb, whether they succeed or not.',
    labelNames,
    registers,
  })
  const bodies = new Counter({
    name: 'gw_controller_api_write_bytes_total',
    help: 'Bytes of their bodies.',
    labelNames,
    registers,
  })
  return ({ target: kind, verb, bytes }) => {
    calls.inc({ kind, verb })
    bodies.inc({ kind, verb }, bytes)
  }
}
