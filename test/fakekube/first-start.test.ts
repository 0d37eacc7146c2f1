// The first start of a controller in a cluster that has Gateways and routes, but no GatewayClass: traffic comes before
// statuses. The whole operator, on virtual time.
import { expect, it } from 'vitest'
import { FakeApi } from './api.ts'
import { deliveryOf } from './delivery.ts'
import { type ReplicaSite, startReplica } from './replica.ts'
import { GATEWAYS, ROUTES } from './scenario.ts'
import { VirtualTime } from './virtual-time.ts'

const ROUTE_COUNT = 20
/** Of each write of a ConfigMap: longer than statuses wait for a later configuration. */
const SLOW_MS = 1000

it('writes no status before the first delivery is complete', async () => {
  const site: ReplicaSite = {
    api: new FakeApi(),
    time: new VirtualTime(),
    seed: '1',
    latencyMs: () => 2,
    wrongWrites: [],
    environment: { GW_DISABLE_LEADER_ELECTION: 'true' },
  }
  const { api, time } = site
  for (const name of ['gw-system', 'infra', 'shop']) {
    api.store.apply('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, 'user')
  }
  const apiVersion = 'gateway.networking.k8s.io/v1'
  const listener = { name: 'http', port: 80, protocol: 'HTTP', allowedRoutes: { namespaces: { from: 'All' } } }
  const edge = { name: 'edge', namespace: 'infra' }
  const spec = { gatewayClassName: 'gw', listeners: [listener] }
  api.store.apply(GATEWAYS, { apiVersion, kind: 'Gateway', metadata: edge, spec }, 'user')
  for (let at = 0; at < ROUTE_COUNT; at++) {
    const metadata = { name: `app-${at}`, namespace: 'shop' }
    const ofRoute = { parentRefs: [edge], hostnames: [`app-${at}.example.com`], rules: [{}] }
    api.store.apply(ROUTES, { apiVersion, kind: 'HTTPRoute', metadata, spec: ofRoute }, 'user')
  }
  const before: string[] = []
  let statuses = 0
  api.fault = ({ method, path }) => {
    const isStatus = method === 'PATCH' && path.includes('/httproutes/')
    if (isStatus) statuses++
    if (isStatus && deliveryOf(api.store, edge.namespace, edge.name) === undefined) before.push(path)
    return method !== 'GET' && path.includes('/configmaps') ? { kind: 'slow', ms: SLOW_MS } : undefined
  }
  const replica = await startReplica(site, 'alone')
  expect(await time.until(() => replica.operator.isIdle(), 60_000)).toBe(true)
  expect(statuses).toBe(ROUTE_COUNT)
  expect(before).toEqual([])
  expect(deliveryOf(api.store, edge.namespace, edge.name)?.config.routes).toHaveLength(ROUTE_COUNT)
  await replica.stop()
})
