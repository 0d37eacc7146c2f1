// The dashboard of config/grafana uses only metrics and labels of a proxy or the controller.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { MetricsAggregate } from '#proxy/metrics/aggregate.ts'
import { FAMILIES } from '#proxy/metrics/families.ts'
import { createMetrics } from '#operator/admin/metrics.ts'
import { createLogger } from '#proxy/log/logger.ts'
import { processMetrics } from '#proxy/metrics/process-metrics.ts'
import { MeshMember } from '#proxy/mesh/mesh-member.ts'
import { meshEnvironment } from '#proxy/mesh/settings.ts'
import { CertificateWatch } from '#proxy/tls/certificate-watch.ts'

interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly targets?: readonly { readonly refId: string; readonly expr: string }[]
}

const FILE = join(import.meta.dirname, '..', 'config', 'grafana', 'gw-proxy.json')
const dashboard = JSON.parse(readFileSync(FILE, 'utf8')) as { panels: Panel[]; templating: { list: unknown[] } }
const expressions = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))

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
const labels = new Map<string, ReadonlySet<string>>()
for (const family of FAMILIES) {
  for (const { name, buckets } of family.metrics) {
    const suffixes = buckets === undefined ? [''] : ['_bucket', '_sum', '_count']
    for (const suffix of suffixes) labels.set(name + suffix, new Set([...family.labels, 'le']))
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
for (const { name } of certificates) labels.set(name, new Set(['use', 'owner', 'secret']))
const meshSettings = meshEnvironment((name) => (name === 'CA_ADDRESS' ? 'istiod' : undefined))
const mesh = meshSettings && new MeshMember(meshSettings, { logger: silent.module('mesh'), changed: () => undefined })
const ofMesh = mesh?.metrics() ?? []
for (const { name } of ofMesh) labels.set(name, new Set(['result']))
for (const { name } of own) labels.set(name, new Set(['thread', 'state', 'tag', 'kind']))

/** Metrics of the controller after it counted something, without those of its runtime. */
async function controllerMetrics(): Promise<string> {
  const build = { commit: 'c', date: 'd' }
  const { observer, onWrite, text } = createMetrics({ hasRuntimeMetrics: false, build })
  observer.run({ queue: 'gateway', key: 'a/b', isSuccess: true, seconds: 1 })
  observer.running({ queue: 'gateway', key: 'a/b', isRunning: true })
  observer.wrote('delivery', 1)
  observer.objectFailed('GwPolicy')
  observer.followed({ kind: 'Gateway', namespace: '' }, undefined)
  onWrite({ verb: 'create', target: '/api/v1/namespaces/a/configmaps', bytes: 1 })
  return text()
}

const ofController = new Set<string>()
for (const [, name = '', list = ''] of (await controllerMetrics()).matchAll(/^(gw_[a-z_]+)(?:\{(.*)\})? /gm)) {
  const known = labels.get(name) ?? new Set<string>()
  labels.set(name, new Set([...known, ...[...list.matchAll(/([a-z_]+)="/g)].map(([, label = '']) => label)]))
  ofController.add(name.replace(/_(?:bucket|sum|count)$/, ''))
}

describe('config/grafana', () => {
  it('uses only existing metrics', () => {
    const asked = [...JSON.stringify([expressions, dashboard.templating]).matchAll(/\b(?:gw|process)_[a-z0-9_]+/g)]
    expect(asked.length).toBeGreaterThan(30)
    expect(asked.map(([name]) => name).filter((name) => !labels.has(name))).toEqual([])
  })

  it('uses only existing labels', () => {
    const wrong = expressions.flatMap((expression) => {
      const known = new Set(
        [...expression.matchAll(/\b(?:gw|process)_[a-z0-9_]+/g)].flatMap(([name]) => [...(labels.get(name) ?? [])]),
      )
      const asked = [...expression.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(', '))
      const matched = [...expression.matchAll(/([a-z_]+)[!=]~?"/g)].map(([, name = '']) => name)
      return [...asked.flatMap((one) => one.split(',')), ...matched].filter((name) => !known.has(name))
    })
    expect(wrong).toEqual([])
  })

  it('shows every metric', () => {
    const text = expressions.join('\n')
    const proxies = [...FAMILIES.flatMap(({ metrics }) => metrics), ...own, ...certificates, ...ofMesh].map(
      ({ name }) => name,
    )
    const names = [...proxies, ...ofController]
    expect(ofController.size).toBeGreaterThan(8)
    expect(names.filter((name) => !text.includes(name))).toEqual([])
  })

  it('has panels that do not overlap', () => {
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, i) => `${x + (i % w)} ${y + Math.floor(i / w)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
  })

  it('has panels with unique numbers, within the width', () => {
    const ids = dashboard.panels.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    for (const { gridPos } of dashboard.panels) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24)
  })
})
