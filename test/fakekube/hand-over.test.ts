// One replica replaces another within 5 s, at any phase of their reads of the Lease, and no two write at the same time.
// On virtual time, by seeds.
import { expect } from 'vitest'
import { FakeApi } from './api.ts'
import { randomOf } from '../random.ts'
import { holderOf, type Replica, type ReplicaSite, startReplica } from './replica.ts'
import { GATEWAYS, NAMESPACE, stepsOf } from './scenario.ts'
import { VirtualTime } from './virtual-time.ts'
import { firstOf } from '../run/table.ts'

const SEEDS = 12
const HAND_OVER_MS = 5000
const STOPPED_MS = 1500
const WAIT_MS = 30_000

interface Pair {
  readonly site: ReplicaSite
  readonly leader: Replica
  readonly next: Replica
}

/** A leader, a waiting replica, and a cluster that both have read; at any time between two reads of the Lease. */
async function pairOf(seed: number): Promise<Pair> {
  const random = randomOf(seed)
  const latencyMs = (): number => 1 + Math.floor(random() * 20)
  const site = { api: new FakeApi(), time: new VirtualTime(), seed: String(seed), latencyMs, wrongWrites: [] }
  for (const step of stepsOf(seed)) step(site.api.store)
  const leader = await startReplica(site, 'first')
  expect(await site.time.until(() => leader.operator.isIdle(), WAIT_MS)).toBe(true)
  await site.time.pass(random() * 1000)
  const next = await startReplica(site, 'second')
  expect(await site.time.until(() => next.operator.isReady(), WAIT_MS)).toBe(true)
  await site.time.pass(5000 + random() * 2000)
  expect(holderOf(site.api)).toBe('first')
  return { site, leader, next }
}

/** Time until a new Gateway has its configuration. */
async function served({ api, time }: ReplicaSite): Promise<number> {
  const start = time.nowMs
  const listeners = [{ name: 'http', port: 80, protocol: 'HTTP' }]
  const spec = { gatewayClassName: 'gw', listeners }
  const metadata = { name: 'new', namespace: NAMESPACE }
  api.store.apply(GATEWAYS, { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'Gateway', metadata, spec }, 'user')
  await time.until(() => api.store.get('configmaps', `${NAMESPACE}/new-config`) !== undefined, WAIT_MS)
  return time.nowMs - start
}

const SEED_LIST = Array.from({ length: SEEDS }, (_, index): [number] => [index + 1])
/** In `make test`. */
const SEEDS_FEW = 3

firstOf(SEEDS_FEW)(SEED_LIST)(
  'a killed leader is followed, and the follower serves, within 5 s (seed %i)',
  async (seed) => {
    const { site, leader, next } = await pairOf(seed)
    const ended = leader.kill()
    expect(await served(site)).toBeLessThan(HAND_OVER_MS)
    await ended
    expect([holderOf(site.api), site.wrongWrites]).toEqual(['second', []])
    await next.stop()
  },
)

firstOf(SEEDS_FEW)(SEED_LIST)('one that stops is followed within 1.5 s (seed %i)', async (seed) => {
  const { site, leader, next } = await pairOf(seed)
  const ended = leader.stop()
  expect(await served(site)).toBeLessThan(STOPPED_MS)
  await ended
  expect([holderOf(site.api), site.wrongWrites]).toEqual(['second', []])
  await next.stop()
})

firstOf(SEEDS_FEW)(SEED_LIST)('one that is cut off writes nothing when it comes back (seed %i)', async (seed) => {
  const { site, leader, next } = await pairOf(seed)
  leader.cut()
  expect(await served(site)).toBeLessThan(HAND_OVER_MS)
  leader.heal()
  await site.time.until(() => !leader.operator.isLeading(), WAIT_MS)
  expect([holderOf(site.api), leader.operator.isLeading(), site.wrongWrites]).toEqual(['second', false, []])
  await next.stop()
  await leader.stop()
})
