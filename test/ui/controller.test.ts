// The web UI of a controller in a real browser, with the admin server of an operator that runs against an API server in
// this process. Needs Chromium (`apt-get install chromium`).
// @module-tag full
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Effect, Exit, Scope } from 'effect'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Acknowledgement } from '#api/delivery/acknowledgement.ts'
import { LogLevels } from '#operator/admin/log.ts'
import { createMetrics } from '#operator/admin/metrics.ts'
import { startServers } from '#operator/admin/servers.ts'
import { configFor, type TestOperator, testOperator } from '#operator/controllers/operator.testing.ts'
import { FakeKube } from '#test/fakekube/server.ts'
import { CASE_MS, SETUP_MS, startUi, THEMES, type Ui, flaws, NO_FLAWS } from '#test/ui/browser.testing.ts'
import { until } from '#test/wait.ts'

const GATEWAY_API = 'gateway.networking.k8s.io/v1'
const LOOPBACK = { host: '127.0.0.1', port: 0 }

let ui: Ui
let kube: FakeKube
let running: TestOperator
let scope: Scope.Closeable
let admin: string

beforeAll(async () => {
  kube = await FakeKube.withNamespaces('gw-system', 'shop')
  kube.store.create('gateways.gateway.networking.k8s.io', {
    apiVersion: GATEWAY_API,
    kind: 'Gateway',
    metadata: { name: 'web', namespace: 'shop' },
    spec: { gatewayClassName: 'gw', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
  })
  kube.store.create('httproutes.gateway.networking.k8s.io', {
    apiVersion: GATEWAY_API,
    kind: 'HTTPRoute',
    metadata: { name: 'cart', namespace: 'shop' },
    spec: { parentRefs: [{ name: 'web' }], rules: [{ backendRefs: [{ name: 'missing', port: 80 }] }] },
  })
  running = await testOperator({ config: configFor(kube.url) })
  await until('the operator has written', () => running.operator.isReady() && running.operator.isIdle())
  acknowledge({ 'web-a': 7, 'web-b': 5 })
  ui = await startUi()
  scope = Effect.runSync(Scope.make())
  const parts = {
    settings: { health: LOOPBACK, metrics: LOOPBACK, admin: LOOPBACK },
    levels: new LogLevels('info'),
    metrics: createMetrics({ hasRuntimeMetrics: false, build: { commit: 'abc', date: '2026-01-01' } }),
    isReady: () => true,
    pending: () => [],
    snapshot: () => ({}),
    overview: () => running.operator.overview(),
    uiFolder: pathToFileURL(`${join(ui.bundle, 'ui-controller')}/`),
  }
  const ports = await Effect.runPromise(startServers(parts).pipe(Scope.provide(scope)))
  admin = `http://127.0.0.1:${ports.admin}`
}, SETUP_MS)

afterAll(async () => {
  if (scope !== undefined) await Effect.runPromise(Scope.close(scope, Exit.void))
  await ui?.stop()
  await running?.stop()
  await kube?.stop()
})

/** Pods with the generation of the delivery that each has in force. */
function acknowledge(generations: Readonly<Record<string, number>>): void {
  const entries = Object.entries(generations).map(([pod, generation]) => {
    const value: Acknowledgement = { generation, gatewayGeneration: 1, gatewayUid: 'u', revision: `r${generation}` }
    return [pod, JSON.stringify(value)] as const
  })
  const name = 'web-acknowledgements'
  const object = kube.store.get('configmaps', `shop/${name}`)
  if (object === undefined) throw new Error('the operator has not written the ConfigMap of acknowledgements')
  kube.store.update('configmaps', { ...object, data: Object.fromEntries(entries) }, false)
}

it.each(THEMES)(
  'the web UI of a controller has Gateways, proxies that are behind, and conditions that report a problem, %s',
  async (_, options) => {
    const page = await ui.open(options, admin)
    const row = (table: string, text: string) =>
      page.getByRole('region', { name: table, exact: true }).getByRole('row').filter({ hasText: text })
    await row('Gateways', 'shop/web').getByText('gw ui gateway/web -n shop').waitFor()
    await row('Proxies', 'web-a').getByText('current').waitFor()
    expect(await row('Proxies', 'web-b').getByRole('cell').allTextContents()).toEqual([
      'shop/web',
      'web-b',
      '5',
      'behind',
    ])
    const condition = row('Conditions that report a problem', 'HTTPRoute shop/cart')
    expect((await condition.first().getByRole('cell').allTextContents()).slice(1, 3)).toEqual([
      'ResolvedRefs: False',
      'BackendNotFound',
    ])
    await page.getByLabel('Object, pod').fill('web-b')
    await row('Proxies', 'web-a').waitFor({ state: 'detached' })
    expect(await flaws(page)).toEqual(NO_FLAWS)
    expect(ui.problems).toEqual([])
    await page.context().close()
  },
  CASE_MS,
)
