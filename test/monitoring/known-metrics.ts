// The metrics of proxies and the controller with their labels, for tests of queries.
import { MetricsAggregate } from '#proxy/metrics/aggregate.ts'
import { EXPOSED_FAMILIES } from '#proxy/metrics/families.ts'
import { createMetrics } from '#operator/admin/metrics.ts'
import { createLogger } from '#proxy/log/logger.ts'
import { processMetrics } from '#proxy/metrics/process-metrics.ts'
import { MeshMember } from '#proxy/mesh/mesh-member.ts'
import { meshEnvironment } from '#proxy/mesh/settings.ts'
import { CertificateWatch } from '#proxy/tls/certificate-watch.ts'

const own = processMetrics(
  {
    version: '0',
    configGeneration: () => 0,
    configApplied: () => 0,
    configRejected: () => 0,
    workerRestarts: () => 0,
    workerHangs: () => 0,
    workersWanted: 0,
    traceEventsDropped: () => 0,
    fetchedCredentials: () => new Map(),
    workers: () => [],
  },
  new MetricsAggregate(),
)

/** Series names in Prometheus, with the labels of each. */
const LABELS = new Map<string, ReadonlySet<string>>()
for (const family of EXPOSED_FAMILIES) {
  for (const { name, buckets } of family.metrics) {
    const suffixes = buckets === undefined ? [''] : ['_bucket', '_sum', '_count']
    for (const suffix of suffixes) LABELS.set(name + suffix, new Set([...family.labels, 'le']))
  }
}
const silent = createLogger({
  format: 'text',
  filter: { defaultLevel: 'off', modules: new Map() },
  write: () => undefined,
})
const watch = new CertificateWatch(silent.module('certificates'))
watch.close()
const certificates = watch.metrics()
for (const { name } of certificates) LABELS.set(name, new Set(['use', 'owner', 'secret']))
const meshSettings = meshEnvironment((name) => (name === 'CA_ADDRESS' ? 'istiod' : undefined))
const mesh = meshSettings && new MeshMember(meshSettings, { logger: silent.module('mesh'), changed: () => undefined })
const ofMesh = mesh?.metrics() ?? []
for (const { name } of ofMesh) LABELS.set(name, new Set(['result']))
for (const { name } of own) LABELS.set(name, new Set(['thread', 'state', 'tag', 'kind']))

/** Metrics of the controller after it counted something, without those of its runtime. */
async function controllerMetrics(): Promise<string> {
  const build = { commit: 'c', date: 'd' }
  const { observer, onWrite, text } = createMetrics({ hasRuntimeMetrics: false, build })
  observer.run({ queue: 'gateway', key: 'a/b', isSuccess: true, seconds: 1 })
  observer.running({ queue: 'gateway', key: 'a/b', isRunning: true })
  observer.wrote('delivery', 1)
  observer.objectFailed('GwPolicy')
  observer.filled('a/b', { config: 0, endpoints: 0, secrets: 0 })
  observer.followed({ kind: 'Gateway', namespace: '' }, undefined)
  onWrite({ verb: 'create', target: '/api/v1/namespaces/a/configmaps', bytes: 1 })
  return text()
}

const ofController = new Set<string>()
for (const [, name = '', list = ''] of (await controllerMetrics()).matchAll(/^(gw_[a-z_]+)(?:\{(.*)\})? /gm)) {
  const known = LABELS.get(name) ?? new Set<string>()
  LABELS.set(name, new Set([...known, ...[...list.matchAll(/([a-z_]+)="/g)].map(([, label = '']) => label)]))
  ofController.add(name.replace(/_(?:bucket|sum|count)$/, ''))
}

/** Names of metrics, without the suffixes of histograms: those of proxies, and those of the controller. */
export const NAMES = {
  proxy: [...EXPOSED_FAMILIES.flatMap(({ metrics }) => metrics), ...own, ...certificates, ...ofMesh].map(
    ({ name }) => name,
  ),
  controller: [...ofController],
}

/** Metrics that a query names and that do not exist. */
export function unknownMetrics(query: string): string[] {
  return metricsIn(query).filter((name) => !LABELS.has(name))
}

/** Labels that a query names and that none of its metrics has. */
export function unknownLabels(query: string): string[] {
  const known = new Set([...metricsIn(query).flatMap((name) => [...(LABELS.get(name) ?? [])]), 'instance'])
  const grouped = [...query.matchAll(/(?:by|on) \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/, ?/))
  const matched = [...query.matchAll(/([a-z_]+)[!=]~?"/g)].map(([, name = '']) => name)
  return [...grouped, ...matched].filter((name) => !known.has(name))
}

function metricsIn(query: string): string[] {
  return [...query.matchAll(/\b(?:gw|process)_[a-z0-9_]+/g)].map(([name]) => name)
}
