// Every metric of the operator: names and labels are a contract with dashboards and alerts.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Effect, Exit, Scope } from 'effect'
import { Layer } from 'effect'
import { describe, expect, it } from 'vitest'
import { buildInfo, VERSION } from '#api/version.ts'
import { KubeClient } from '../kube/client.ts'
import { makeWorkQueue } from '../kube/work-queue.ts'
import { until } from '../../test/wait.ts'
import { createMetrics, type OperatorMetrics } from './metrics.ts'

const build = { commit: '0123abc', date: '2026-11-21T00:00:00.000Z' }
const key = 'shop/web'

/** Name, kind, labels; a histogram also has `le`. */
const METRICS = [
  ['gw_controller_reconciliations_total', 'counter', 'controller,name,namespace,result'],
  ['gw_controller_reconcile_duration_seconds', 'histogram', 'controller,name,namespace'],
  ['gw_controller_reconciliations_running', 'gauge', 'controller,name,namespace'],
  ['gw_controller_build_info', 'gauge', 'build_date,git_commit,platform,runtime_version,version'],
  ['gw_controller_translation_duration_seconds', 'histogram', ''],
  ['gw_controller_translation_failures_total', 'counter', ''],
  ['gw_controller_internal_errors_total', 'counter', 'kind'],
  ['gw_controller_leading', 'gauge', ''],
  ['gw_controller_watch_failures_total', 'counter', 'kind,namespace'],
  ['gw_controller_watch_lost_seconds', 'gauge', 'kind,namespace'],
  ['gw_controller_gateways', 'gauge', ''],
  ['gw_controller_writes_total', 'counter', 'what'],
  ['gw_controller_api_writes_total', 'counter', 'kind,verb'],
  ['gw_controller_api_write_bytes_total', 'counter', 'kind,verb'],
  ['gw_delivery_rejects_total', 'counter', ''],
  ['gw_controller_delivery_fill_ratio', 'gauge', 'name,namespace,part'],
] as const

function used(hasRuntimeMetrics = false): OperatorMetrics {
  const metrics = createMetrics({ hasRuntimeMetrics, build })
  const { observer } = metrics
  observer.running({ queue: 'gateway', key, isRunning: true })
  observer.run({ queue: 'gateway', key, isSuccess: true, seconds: 0.01 })
  observer.translated(0.01, 1)
  observer.translationFailed()
  observer.objectFailed('GwPolicy')
  observer.leading(true)
  observer.followed({ kind: 'HTTPRoute', namespace: '' }, 1500)
  observer.rejected(1)
  observer.wrote('status', 1)
  observer.filled(key, { config: 0.5, endpoints: 0.1, secrets: 0 })
  metrics.onWrite({ target: 'ConfigMap', verb: 'PUT', bytes: 10 })
  return metrics
}

/** By name: its kind and its labels. */
function shapes(text: string): Map<string, readonly [kind: string, labels: string]> {
  const kinds = [...text.matchAll(/^# TYPE (\S+) (\w+)$/gm)].map(([, name = '', kind = '']) => [name, kind] as const)
  return new Map(
    kinds.map(([name, kind]) => {
      const line = text.split('\n').find((one) => new RegExp(`^${name}(_bucket)?[{ ]`).test(one)) ?? ''
      const labels = [...line.matchAll(/([a-z_]+)="/g)].map(([, label = '']) => label).filter((one) => one !== 'le')
      return [name, [kind, labels.sort().join(',')]]
    }),
  )
}

describe('metrics of the operator', () => {
  it.each(METRICS)('%s is a %s by %s', async (name, kind, labels) => {
    expect(shapes(await used().text()).get(name)).toEqual([kind, labels])
  })

  it('are exactly these, and all of them are documented', async () => {
    const names = METRICS.map(([name]) => name)
    expect([...shapes(await used().text()).keys()].sort()).toEqual(names.toSorted())
    const docs = readFileSync(join(import.meta.dirname, '../../docs/cluster.md'), 'utf8')
    expect(names.filter((name) => !docs.includes(`\`${name}\``))).toEqual([])
  })

  it('include those of the runtime when enabled', async () => {
    const names = [...shapes(await used(true).text()).keys()]
    expect(names).toEqual(expect.arrayContaining(['process_cpu_seconds_total', 'nodejs_heap_size_used_bytes']))
  })

  it('have buckets from 0.5 ms to 5 s', async () => {
    const text = await used().text()
    const bounds = [...text.matchAll(/reconcile_duration_seconds_bucket\{le="([^"]+)"/g)].map(([, le]) => le)
    expect([bounds[0], bounds.at(-2), bounds.at(-1)]).toEqual(['0.0005', '5', '+Inf'])
  })

  it('report the build', async () => {
    const text = await used().text()
    expect(text).toContain(`version="${VERSION}",git_commit="${build.commit}",build_date="${build.date}"`)
    expect(buildInfo({})).toEqual({ commit: 'unknown', date: 'unknown' })
    expect(buildInfo({ GW_BUILD_COMMIT: 'c', GW_BUILD_DATE: '' })).toEqual({ commit: 'c', date: 'unknown' })
  })

  it('have no series per object of a cluster', async () => {
    const metrics = used()
    for (const queue of ['status', 'events']) {
      metrics.observer.run({ queue, key: 'HTTPRoute shop/cart', isSuccess: true, seconds: 1 })
      metrics.observer.running({ queue, key: 'HTTPRoute shop/cart', isRunning: true })
    }
    expect(await metrics.text()).not.toContain('cart')
  })

  it('count failures of watches, and report for how long each is lost', async () => {
    const { observer, text } = createMetrics({ hasRuntimeMetrics: false, build })
    for (const lostMs of [undefined, 100, 2500]) observer.followed({ kind: 'Gateway', namespace: '' }, lostMs)
    expect(await text()).toContain('gw_controller_watch_failures_total{kind="Gateway",namespace=""} 2')
    expect(await text()).toContain('gw_controller_watch_lost_seconds{kind="Gateway",namespace=""} 2.5')
    observer.followed({ kind: 'Gateway', namespace: '' }, undefined)
    expect(await text()).toContain('gw_controller_watch_failures_total{kind="Gateway",namespace=""} 2')
    expect(await text()).toContain('gw_controller_watch_lost_seconds{kind="Gateway",namespace=""} 0')
  })

  it('count a run while it is in progress, and not when it was interrupted', async () => {
    const metrics = createMetrics({ hasRuntimeMetrics: false, build })
    const scope = Effect.runSync(Scope.make())
    const { run: observe, running: observeRunning } = metrics.observer
    const options = { name: 'gateway', component: 'deployer', concurrency: 1, observe, observeRunning }
    const queue = await Effect.runPromise(
      makeWorkQueue({ ...options, work: () => Effect.never }).pipe(
        Scope.provide(scope),
        Effect.provide(Layer.mock(KubeClient, {})),
      ),
    )
    queue.add(key)
    const shown = async (count: number): Promise<boolean> =>
      (await metrics.text()).includes(
        `gw_controller_reconciliations_running{controller="gateway",namespace="shop",name="web"} ${count}`,
      )
    await until('the run is shown', () => shown(1))
    await Effect.runPromise(Scope.close(scope, Exit.void))
    expect(await shown(0)).toBe(true)
  })
})
