// The GatewayClass of a controller that starts in a cluster without it: created while the cluster is read, so that all
// routes are translated once, by the only replica that may write. The whole operator, on virtual time.
import { expect, it } from 'vitest'
import { FakeApi } from './api.ts'
import { deliveryOf } from './delivery.ts'
import { holderOf, type Replica, type ReplicaSite, startReplica } from './replica.ts'
import { GATEWAYS, ROUTES } from './scenario.ts'
import { VirtualTime } from './virtual-time.ts'

const CLASSES = 'gatewayclasses.gateway.networking.k8s.io'
const ROUTES_MS = 3000
const WAIT_MS = 60_000
const API_VERSION = 'gateway.networking.k8s.io/v1'
const EDGE = { name: 'edge', namespace: 'shop' }

/** A cluster whose routes take long to read. */
function siteOf(): ReplicaSite {
  const api = new FakeApi()
  for (const name of ['gw-system', 'shop']) {
    api.store.apply('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, 'user')
  }
  const spec = { gatewayClassName: 'gw', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] }
  api.store.apply(GATEWAYS, { apiVersion: API_VERSION, kind: 'Gateway', metadata: EDGE, spec }, 'user')
  const metadata = { name: 'app', namespace: 'shop' }
  const ofRoute = { parentRefs: [EDGE], hostnames: ['app.example.com'], rules: [{}] }
  api.store.apply(ROUTES, { apiVersion: API_VERSION, kind: 'HTTPRoute', metadata, spec: ofRoute }, 'user')
  api.fault = ({ method, path }) =>
    method === 'GET' && path.endsWith('/httproutes') ? { kind: 'slow', ms: ROUTES_MS } : undefined
  return { api, time: new VirtualTime(), seed: '1', latencyMs: () => 2, wrongWrites: [] }
}

function applyClass({ api }: ReplicaSite, controllerName: string): void {
  api.store.apply(
    CLASSES,
    { apiVersion: API_VERSION, kind: 'GatewayClass', metadata: { name: 'gw' }, spec: { controllerName } },
    'user',
  )
}

function controllerOf({ api }: ReplicaSite): unknown {
  return (api.store.get(CLASSES, '/gw') as { spec?: { controllerName?: string } } | undefined)?.spec?.controllerName
}

async function expectServed({ api, time }: ReplicaSite, replica: Replica): Promise<void> {
  expect(await time.until(() => replica.operator.isIdle(), WAIT_MS)).toBe(true)
  expect(deliveryOf(api.store, EDGE.namespace, EDGE.name)?.config.routes).toHaveLength(1)
}

it('is created before the routes have been read, by the replica with the Lease', async () => {
  const site = siteOf()
  const replica = await startReplica(site, 'alone')
  expect(await site.time.until(() => controllerOf(site) === 'gw.dev/controller', ROUTES_MS / 2)).toBe(true)
  expect([holderOf(site.api), replica.operator.isReady(), replica.operator.isLeading()]).toEqual([
    'alone',
    false,
    false,
  ])
  await expectServed(site, replica)
  expect(site.wrongWrites).toEqual([])
  await replica.stop()
})

it('is created by one of two replicas, and the other one writes nothing', async () => {
  const site = siteOf()
  const replicas = [await startReplica(site, 'one'), await startReplica(site, 'two')]
  expect(await site.time.until(() => controllerOf(site) === 'gw.dev/controller', ROUTES_MS / 2)).toBe(true)
  const leader = replicas.find(({ name }) => name === holderOf(site.api))
  expect(leader).toBeDefined()
  if (leader !== undefined) await expectServed(site, leader)
  expect(site.wrongWrites).toEqual([])
  for (const replica of replicas) await replica.stop()
})

it('is left alone if it exists, and a replica that still reads does not take the Lease', async () => {
  for (const controllerName of ['gw.dev/controller', 'example.com/other']) {
    const site = siteOf()
    applyClass(site, controllerName)
    const replica = await startReplica(site, 'alone')
    await site.time.pass(ROUTES_MS / 2)
    expect([holderOf(site.api), controllerOf(site)]).toEqual([undefined, controllerName])
    expect(await site.time.until(() => replica.operator.isReady(), WAIT_MS)).toBe(true)
    await replica.stop()
  }
})

it('is created by the leader if the first attempt fails', async () => {
  const site = siteOf()
  const { api } = site
  const slow = api.fault
  let attempts = 0
  api.fault = (call) => {
    const isClass = call.method === 'PATCH' && call.path.endsWith('/gatewayclasses/gw')
    if (isClass && attempts++ === 0) return { kind: 'status', status: 403 }
    return slow?.(call)
  }
  const replica = await startReplica(site, 'alone')
  expect(await site.time.until(() => attempts === 1, ROUTES_MS / 2)).toBe(true)
  const isLogged = (): boolean => replica.log.some((line) => line.includes('cannot create the GatewayClass'))
  expect(await site.time.until(isLogged, ROUTES_MS / 2)).toBe(true)
  await expectServed(site, replica)
  expect(controllerOf(site)).toBe('gw.dev/controller')
  await replica.stop()
})
