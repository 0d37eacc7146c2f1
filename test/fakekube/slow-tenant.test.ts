// One tenant whose objects are written slowly, as behind an admission webhook that hangs, does not delay the changes of
// another one: from the change of a route to its delivery and to its status. The whole operator, on virtual time.
import { expect, it } from 'vitest'
import { FakeApi, type FakeRequest } from './api.ts'
import { deliveryOf } from './delivery.ts'
import { type ReplicaSite, startReplica } from './replica.ts'
import { GATEWAYS, ROUTES } from './scenario.ts'
import type { FakeObject } from './store.ts'
import { VirtualTime } from './virtual-time.ts'

/** More than any queue has places. */
const SLOW_GATEWAYS = 40
const SLOW_ROUTES = 300
/** Of each write in the namespace; deadlines of calls are longer. */
const SLOW_MS = 5000
const CHANGES = 10
const DELAY_MS_MAX = 100
const WAIT_MS = 120_000

function put({ store }: FakeApi, resource: string, object: FakeObject): void {
  store.apply(resource, object, 'user')
}

function gateway(namespace: string, name: string, port = 80): FakeObject {
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { name, namespace },
    spec: { gatewayClassName: 'gw', listeners: [{ name: 'http', port, protocol: 'HTTP' }] },
  }
}

interface RouteNames {
  readonly namespace: string
  readonly name: string
  readonly parent: string
}

function route({ namespace, name, parent }: RouteNames, version: number): FakeObject {
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name, namespace },
    spec: { parentRefs: [{ name: parent }], hostnames: [`v${version}.${name}.example.com`], rules: [{}] },
  }
}

const QUICK: RouteNames = { namespace: 'quick', name: 'app', parent: 'web' }

/** All routes and Gateways of the slow tenant change. */
function changeSlow(api: FakeApi, version: number): void {
  const nameOf = (at: number): string => `web-${at % SLOW_GATEWAYS}`
  for (let at = 0; at < SLOW_GATEWAYS; at++) put(api, GATEWAYS, gateway('slow', nameOf(at), 80 + version))
  for (let at = 0; at < SLOW_ROUTES; at++) {
    put(api, ROUTES, route({ namespace: 'slow', name: `app-${at}`, parent: nameOf(at) }, version))
  }
}

/** Whether the status of the route is that of its last version. */
function isReported({ store }: FakeApi): boolean {
  const object = store.get(ROUTES, `${QUICK.namespace}/${QUICK.name}`)
  // Of an HTTPRoute.
  const { parents = [] } = {
    ...(object?.['status'] as { parents?: { conditions: { observedGeneration: number }[] }[] }),
  }
  const { generation } = { ...(object?.metadata as { generation?: number } | undefined) }
  const conditions = parents.flatMap((parent) => parent.conditions)
  return conditions.length > 0 && conditions.every(({ observedGeneration }) => observedGeneration === generation)
}

/** Milliseconds from a change until it is delivered, and until its status is written. */
async function changed(
  { api, time }: ReplicaSite,
  version: number,
): Promise<readonly [delivered: number, reported: number]> {
  const from = time.nowMs
  put(api, ROUTES, route(QUICK, version))
  const hosts = (): string[] =>
    (deliveryOf(api.store, QUICK.namespace, QUICK.parent)?.config.routes ?? []).flatMap(({ hostnames }) => hostnames)
  const wanted = `v${version}.${QUICK.name}.example.com`
  expect(await time.until(() => hosts().includes(wanted), WAIT_MS)).toBe(true)
  const delivered = time.nowMs - from
  expect(await time.until(() => isReported(api), WAIT_MS)).toBe(true)
  return [delivered, time.nowMs - from]
}

it('a tenant with slow writes delays changes of another one by at most 100 ms', { timeout: 120_000 }, async () => {
  const site: ReplicaSite = {
    api: new FakeApi(),
    time: new VirtualTime(),
    seed: '1',
    latencyMs: () => 2,
    wrongWrites: [],
    environment: { GW_DISABLE_LEADER_ELECTION: 'true' },
  }
  const { api, time } = site
  for (const name of ['gw-system', 'slow', 'quick']) {
    put(api, 'namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  }
  changeSlow(api, 0)
  put(api, GATEWAYS, gateway(QUICK.namespace, QUICK.parent))
  put(api, ROUTES, route(QUICK, 0))
  const replica = await startReplica(site, 'alone')
  expect(await time.until(() => replica.operator.isIdle(), WAIT_MS)).toBe(true)
  await time.pass(5000)
  let version = 1
  const measured = async (): Promise<readonly [delivered: number, reported: number]> => {
    let [delivered, reported] = [0, 0]
    for (const end = version + CHANGES; version < end; version++) {
      const times = await changed(site, version)
      delivered = Math.max(delivered, times[0])
      reported = Math.max(reported, times[1])
      await time.pass(300)
    }
    return [delivered, reported]
  }
  const alone = await measured()
  let slowWrites = 0
  api.fault = ({ method, path }: FakeRequest) => {
    if (method === 'GET' || !path.includes('/namespaces/slow/')) return undefined
    slowWrites++
    return { kind: 'slow', ms: SLOW_MS }
  }
  changeSlow(api, 1)
  await time.pass(1000)
  const beside = await measured()
  // Its queues were full all the time.
  expect(slowWrites).toBeGreaterThan(50)
  expect(replica.operator.isIdle()).toBe(false)
  expect(beside[0] - alone[0]).toBeLessThanOrEqual(DELAY_MS_MAX)
  expect(beside[1] - alone[1]).toBeLessThanOrEqual(DELAY_MS_MAX)
  api.fault = () => undefined
  await replica.stop()
})
